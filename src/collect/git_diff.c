/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git is asked how the index differs from the commit, which needs no file. How files differ from
 * the index is looked at here: one whose size and times are those of the index is not read, as git
 * would not read it either.
 */
#include "git_diff.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sha.h"
#include "base/thread.h"

#include "git_index.h"

#define INDEX_BYTES_MAX ((size_t)256 << 20)
#define STAGED_BYTES_MAX ((size_t)64 << 20)
#define STAGED_MAX (1u << 20)
#define PIECE_BYTES (256u << 10)
#define SUBMODULES_MAX 64
#define SCOUTS_MAX 4
#define SCOUT_ENTRIES 64u
#define SCOUT_BYTES_MIN (128u << 10) /* of an index: below, one is enough */
#define SCOUT_STACK_BYTES (128u << 10)

#define MODE_FILE 0100644u
#define MODE_PROGRAM 0100755u
#define MODE_LINK 0120000u
#define MODE_SUBMODULE 0160000u
#define MODE_FOLDER 0040000u

struct version {       /* of a file: in the commit, in the index, or as it is */
	uint32_t mode; /* 0: there is none */
	uint8_t id[WTI_SHA256_BYTES];
};

struct staged { /* a path at which the index differs from the commit */
	struct version commit;
	bool is_in_index;
};

struct looker {
	struct wti_git_diff *diff;
	const struct wti_git_asker *asker;
	const char *top;
	int top_fd;
	size_t id_bytes;
	struct wti_map paths; /* of those that are staged: the number in `staged`, plus one */
	struct staged *staged;
	struct timespec index_time;
	uint8_t *piece;
	bool *is_unchanged; /* by number of the entry, as far as was looked ahead; or NULL */
	size_t number;      /* of the entry that is looked at */
	unsigned submodule_count;
	int trusts_modes;        /* -1: not asked yet */
	char unmerged[PATH_MAX]; /* the last path that was taken for that */
};

/* ---- What differs ---------------------------------------------------------------------------- */

static void add_difference(struct looker *looker, const char *path, size_t path_bytes,
			   const struct version *now)
{
	struct wti_git_diff *diff = looker->diff;
	XXH3_state_t *state = XXH3_createState();
	XXH128_hash_t hash;
	char mode[16];

	diff->count++;
	if (!state) {
		diff->is_whole = false;
		return;
	}
	snprintf(mode, sizeof(mode), "%06o ", now->mode);
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, mode, strlen(mode));
	XXH3_128bits_update(state, now->id, now->mode ? looker->id_bytes : 0);
	XXH3_128bits_update(state, path, path_bytes);
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	diff->hash[0] += hash.high64; /* a sum, as neither order nor what is staged matters */
	diff->hash[1] += hash.low64;
}

/* Where a file system knows no permissions, as the repository says then, they are all the same. */
static bool trusts_modes(struct looker *looker)
{
	static const char *const words[] = {"config", "--type=bool", "core.fileMode", NULL};
	struct wti_buf out;

	if (looker->trusts_modes < 0) {
		wti_buf_init(&out, 1 << 20);
		wti_git_ask(looker->asker, words, &out);
		looker->trusts_modes = strncmp(wti_buf_cstr(&out), "false", 5) != 0;
		wti_buf_release(&out);
	}
	return looker->trusts_modes;
}

static bool is_file(uint32_t mode)
{
	return mode == MODE_FILE || mode == MODE_PROGRAM;
}

static bool is_same(struct looker *looker, const struct version *a, const struct version *b)
{
	if (!a->mode || !b->mode)
		return a->mode == b->mode;
	if (memcmp(a->id, b->id, looker->id_bytes))
		return false;
	return a->mode == b->mode ||
	       (is_file(a->mode) && is_file(b->mode) && !trusts_modes(looker));
}

/* ---- What is staged -------------------------------------------------------------------------- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_id(const char *text, size_t id_bytes, uint8_t *ret_id)
{
	for (size_t i = 0; i < id_bytes; i++) {
		int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		ret_id[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* ":100644 100755 <id> <id> M", and the path behind a zero. Where it ends; NULL: not like that. */
static const char *read_staged(struct looker *looker, const char *at, const char *end)
{
	size_t head = 15 + 2 * (2 * looker->id_bytes + 1) + 1;
	struct staged staged = {0};
	const char *path = at + head + 1, *stop;
	uint64_t *slot;

	if ((size_t)(end - at) <= head + 1 || at[0] != ':')
		return NULL;
	staged.commit.mode = (uint32_t)strtoul(at + 1, NULL, 8);
	stop = memchr(path, 0, (size_t)(end - path));
	if (!stop || at[head] || !read_id(at + 15, looker->id_bytes, staged.commit.id))
		return NULL;
	slot = wti_map_text(&looker->paths, path, (size_t)(stop - path));
	if (!slot)
		return NULL;
	if (!*slot) { /* one that is not merged may come twice */
		*slot = looker->paths.count;
		looker->staged[looker->paths.count - 1] = staged;
	}
	return stop + 1;
}

static size_t count_zeros(const struct wti_buf *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->bytes; i++)
		count += !text->data[i];
	return count;
}

static bool ask_for_staged(struct looker *looker, struct wti_git_asking *ret_asking)
{
	static const char *const words[] = {"diff-index",
					    "--cached",
					    "--raw",
					    "-z",
					    "--no-abbrev",
					    "--no-renames",
					    "--no-ext-diff",
					    "--ignore-submodules=none",
					    "HEAD",
					    "--",
					    NULL};

	return wti_git_ask_begin(looker->asker, words, ret_asking);
}

static bool look_at_staged(struct looker *looker, const struct wti_git_asking *asking)
{
	struct wti_buf out;
	const char *at, *end;
	bool ok;

	wti_buf_init(&out, STAGED_BYTES_MAX);
	ok = wti_git_ask_end(looker->asker, asking, &out);
	at = (const char *)out.data;
	end = at + out.bytes;
	looker->staged = ok ? calloc(count_zeros(&out) + 1, sizeof(*looker->staged)) : NULL;
	ok = ok && looker->staged;
	while (ok && at < end) {
		at = read_staged(looker, at, end);
		ok = at != NULL;
	}
	wti_buf_release(&out);
	return ok;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void begin_blob(const struct looker *looker, struct wti_sha *sha, uint64_t bytes)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "blob %llu", (unsigned long long)bytes);

	wti_sha_init(sha, looker->id_bytes == WTI_SHA256_BYTES);
	wti_sha_add(sha, head, (size_t)n + 1);
}

static bool hash_link(const struct looker *looker, const char *path, struct version *ret_now)
{
	char target[PATH_MAX];
	ssize_t bytes = readlinkat(looker->top_fd, path, target, sizeof(target));
	struct wti_sha sha;

	if (bytes < 0)
		return false;
	begin_blob(looker, &sha, (uint64_t)bytes);
	wti_sha_add(&sha, target, (size_t)bytes);
	wti_sha_end(&sha, ret_now->id);
	return true;
}

/* False: it could not be read, or not in time. */
static bool hash_file(struct looker *looker, const char *path, struct version *ret_now)
{
	char whole[2 * PATH_MAX];
	struct wti_sha sha;
	struct stat info;
	uint64_t at = 0;
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", looker->top, path);
	fd = wti_open_regular(whole, NULL);
	if (fd < 0)
		return false;
	if (fstat(fd, &info))
		info.st_size = 0;
	begin_blob(looker, &sha, (uint64_t)info.st_size);
	while (at < (uint64_t)info.st_size && !wti_git_late(looker->asker)) {
		uint64_t left = (uint64_t)info.st_size - at;
		ssize_t n = wti_pread_all(fd, looker->piece,
					  left < PIECE_BYTES ? (size_t)left : PIECE_BYTES, at);

		if (n <= 0)
			break;
		wti_sha_add(&sha, looker->piece, (size_t)n);
		at += (uint64_t)n;
	}
	close(fd);
	wti_sha_end(&sha, ret_now->id);
	return at == (uint64_t)info.st_size;
}

/* Of a submodule that is checked out, its commit; what is changed in it is not looked at. */
static bool look_at_submodule(struct looker *looker, const struct wti_git_entry *entry,
			      struct version *ret_now)
{
	char folder[2 * PATH_MAX], option[2 * PATH_MAX + 16];
	const char *const words[] = {option, "rev-parse", "--verify", "HEAD", NULL};
	struct wti_buf out;
	bool ok;

	snprintf(folder, sizeof(folder), "%s/%s/.git", looker->top, entry->path);
	if (access(folder, F_OK))
		return true;
	if (looker->submodule_count++ == SUBMODULES_MAX)
		return false;
	snprintf(option, sizeof(option), "--git-dir=%s", folder);
	wti_buf_init(&out, 1 << 20);
	ok = wti_git_ask(looker->asker, words, &out) && out.bytes >= 2 * looker->id_bytes &&
	     read_id(wti_buf_cstr(&out), looker->id_bytes, ret_now->id);
	wti_buf_release(&out);
	return ok;
}

static bool is_time(uint32_t seconds, uint32_t ns, const struct timespec *now)
{
	/* Not everybody who writes an index has nanoseconds. */
	return seconds == (uint32_t)now->tv_sec && (!ns || ns == (uint32_t)now->tv_nsec);
}

/* A file that was written in the same moment as the index, or later, may look the same by chance.
 */
static bool is_too_young(const struct looker *looker, const struct wti_git_entry *entry)
{
	uint32_t index_s = (uint32_t)looker->index_time.tv_sec;

	if (entry->mtime != index_s || !entry->mtime_ns)
		return entry->mtime >= index_s;
	return entry->mtime_ns >= (uint32_t)looker->index_time.tv_nsec;
}

static bool looks_the_same(const struct looker *looker, const struct wti_git_entry *entry,
			   const struct stat *info, uint32_t mode)
{
	return mode == entry->mode && (uint32_t)info->st_size == entry->size &&
	       is_time(entry->mtime, entry->mtime_ns, &info->st_mtim) &&
	       (!entry->ctime || is_time(entry->ctime, entry->ctime_ns, &info->st_ctim)) &&
	       !is_too_young(looker, entry);
}

static uint32_t mode_of(const struct stat *info)
{
	if (S_ISREG(info->st_mode))
		return info->st_mode & 0100 ? MODE_PROGRAM : MODE_FILE;
	return S_ISLNK(info->st_mode) ? MODE_LINK : 0;
}

static bool may_look_the_same(const struct wti_git_entry *entry)
{
	return !entry->stage && !entry->is_intended && entry->mode != MODE_SUBMODULE;
}

struct scout { /* looks at every so many files */
	const struct looker *looker;
	const struct wti_buf *data;
	unsigned number, count;
	pthread_t thread;
	bool is_thread;
};

static void *scout(void *opaque)
{
	const struct scout *scout = opaque;
	const struct looker *looker = scout->looker;
	struct wti_git_index index;
	struct wti_git_entry entry;
	struct stat info;

	if (!wti_git_index_open(&index, scout->data->data, scout->data->bytes, looker->id_bytes))
		index.left = 0;
	for (size_t i = 0; index.left && wti_git_index_next(&index, &entry) > 0; i++) {
		if (i / SCOUT_ENTRIES % scout->count != scout->number)
			continue;
		if (i % SCOUT_ENTRIES == 0 && wti_git_late(looker->asker))
			break;
		looker->is_unchanged[i] =
			may_look_the_same(&entry) && !entry.is_untouched &&
			!fstatat(looker->top_fd, entry.path, &info, AT_SYMLINK_NOFOLLOW) &&
			looks_the_same(looker, &entry, &info, mode_of(&info));
	}
	wti_git_index_release(&index);
	return NULL;
}

/*
 * Most files are as the index has them. To see that takes most of the time, and so it is done by
 * several threads, and while git looks for what is staged.
 */
static void look_ahead(struct looker *looker, const struct wti_buf *data)
{
	struct scout scouts[SCOUTS_MAX];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = data->bytes < SCOUT_BYTES_MIN || cpus < 2 ? 1
			 : cpus < SCOUTS_MAX                       ? (unsigned)cpus
								   : SCOUTS_MAX;

	looker->is_unchanged = calloc(data->bytes / WTI_GIT_ENTRY_BYTES_MIN + 1, sizeof(bool));
	if (!looker->is_unchanged)
		return;
	for (unsigned i = count; i-- > 0;) {
		scouts[i] = (struct scout){looker, data, i, count, 0, false};
		scouts[i].is_thread = i && !wti_thread_start(&scouts[i].thread, SCOUT_STACK_BYTES,
							     scout, &scouts[i]);
		if (!scouts[i].is_thread)
			scout(&scouts[i]);
	}
	for (unsigned i = 1; i < count; i++)
		if (scouts[i].is_thread)
			pthread_join(scouts[i].thread, NULL);
}

/* The file as it is. False: it could not be found out. */
static bool look_at_file(struct looker *looker, const struct wti_git_entry *entry,
			 struct version *ret_now)
{
	struct stat info;

	*ret_now = (struct version){.mode = entry->mode};
	memcpy(ret_now->id, entry->id, looker->id_bytes);
	if (entry->is_untouched)
		return true;
	if (entry->mode == MODE_SUBMODULE)
		return look_at_submodule(looker, entry, ret_now);
	if (looker->is_unchanged && looker->is_unchanged[looker->number])
		return true;
	if (fstatat(looker->top_fd, entry->path, &info, AT_SYMLINK_NOFOLLOW)) {
		ret_now->mode = 0;
		return errno == ENOENT || errno == ENOTDIR;
	}
	if (may_look_the_same(entry) && looks_the_same(looker, entry, &info, mode_of(&info)))
		return true;
	ret_now->mode = mode_of(&info);
	if (ret_now->mode == MODE_LINK)
		return hash_link(looker, entry->path, ret_now);
	return !ret_now->mode || hash_file(looker, entry->path, ret_now);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool is_seen_unmerged(struct looker *looker, const struct wti_git_entry *entry)
{
	bool is_seen = entry->stage && !strncmp(looker->unmerged, entry->path, PATH_MAX - 1);

	if (entry->stage)
		snprintf(looker->unmerged, sizeof(looker->unmerged), "%s", entry->path);
	return is_seen;
}

static void look_at_entry(struct looker *looker, const struct wti_git_entry *entry)
{
	const uint64_t *slot = wti_map_find_text(&looker->paths, entry->path, entry->path_bytes);
	struct staged *staged = slot ? &looker->staged[*slot - 1] : NULL;
	struct version before = {.mode = entry->mode}, now;

	if (staged)
		staged->is_in_index = true;
	if (entry->mode == MODE_FOLDER || is_seen_unmerged(looker, entry))
		return;
	memcpy(before.id, entry->id, looker->id_bytes);
	if (staged)
		before = staged->commit;
	else if (entry->is_intended)
		before.mode = 0;
	if (!look_at_file(looker, entry, &now))
		looker->diff->is_whole = false;
	else if (entry->stage || !is_same(looker, &before, &now))
		add_difference(looker, entry->path, entry->path_bytes, &now);
}

static bool look_at_all(struct looker *looker, struct wti_git_index *index)
{
	struct wti_git_entry entry;
	int r = 1;

	for (unsigned i = 0; r > 0; i++) {
		if (i % 64 == 0 && wti_git_late(looker->asker))
			return false;
		r = wti_git_index_next(index, &entry);
		looker->number = i;
		if (r > 0)
			look_at_entry(looker, &entry);
	}
	return !r;
}

/* In the commit, and not in the index any more. */
static void add_removed(struct looker *looker)
{
	static const struct version none;

	for (size_t i = 0; i < looker->paths.count; i++) {
		const struct wti_map_entry *path = &looker->paths.entries[i];
		const struct staged *staged = &looker->staged[i];

		if (!staged->is_in_index && staged->commit.mode)
			add_difference(looker, path->text, path->bytes, &none);
	}
}

static bool look(struct looker *looker, const char *index_path)
{
	struct wti_git_asking asking;
	struct wti_git_index index;
	struct wti_buf data;
	struct stat info;
	bool ok;

	wti_buf_init(&data, INDEX_BYTES_MAX);
	ok = !stat(index_path, &info) && !wti_file_read(index_path, INDEX_BYTES_MAX, &data, NULL);
	looker->index_time = info.st_mtim;
	if (!ok) {
		wti_buf_release(&data);
		return false;
	}
	ok = wti_git_index_open(&index, data.data, data.bytes, looker->id_bytes) &&
	     ask_for_staged(looker, &asking);
	if (ok) {
		look_ahead(looker, &data);
		ok = look_at_staged(looker, &asking) && look_at_all(looker, &index);
	}
	if (ok)
		add_removed(looker);
	wti_git_index_release(&index);
	wti_buf_release(&data);
	return ok;
}

void wti_git_diff_look(struct wti_git_diff *diff, const struct wti_git_asker *asker,
		       const char *top, const char *index, size_t id_bytes)
{
	struct looker looker = {.diff = diff,
				.asker = asker,
				.top = top,
				.id_bytes = id_bytes,
				.trusts_modes = -1,
				.top_fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC),
				.piece = malloc(PIECE_BYTES)};

	*diff = (struct wti_git_diff){.is_whole = true};
	wti_map_init(&looker.paths, STAGED_MAX);
	if (looker.top_fd < 0 || !looker.piece || !look(&looker, index))
		diff->is_whole = false;
	if (looker.top_fd >= 0)
		close(looker.top_fd);
	wti_map_release(&looker.paths);
	free(looker.is_unchanged);
	free(looker.staged);
	free(looker.piece);
}
