/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which calls change files by name, and how a path is followed. The program may be further by
 * now: a link that it made and removed is known from its own calls, all else from the file system.
 */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "syscall/compat.h"
#include "syscall/handles.h"
#include "syscall/record.h"

#define FOLDERS_MAX (1u << 16)
#define LINKS_MAX (1u << 14)
#define LINKS_BYTES_MAX (8u << 20)
#define HOPS_MAX 40 /* as the kernel */
#define WHOLE_BYTES (3 * PATH_MAX)
#define NONE 0xff

enum how {
	FOLLOW = 1,  /* a link at its end is followed */
	OPENS = 2,   /* only if it may write or make, by the flags behind the path */
	UNNAMES = 4, /* what is at the path is gone afterwards */
	LINKS = 8,   /* makes a link to what stands before the path */
};

/* Positions of paths and of the folders that they begin at. */
static const struct row {
	const char *call;
	uint8_t path, at;
	uint8_t second, second_at;
	uint8_t how;
} rows[] = {
	{"open", 0, NONE, NONE, NONE, FOLLOW | OPENS},
	{"openat", 1, 0, NONE, NONE, FOLLOW | OPENS},
	{"openat2", 1, 0, NONE, NONE, FOLLOW},
	{"creat", 0, NONE, NONE, NONE, FOLLOW},
	{"truncate", 0, NONE, NONE, NONE, FOLLOW},
	{"mkdir", 0, NONE, NONE, NONE, 0},
	{"mkdirat", 1, 0, NONE, NONE, 0},
	{"mknod", 0, NONE, NONE, NONE, 0},
	{"mknodat", 1, 0, NONE, NONE, 0},
	{"unlink", 0, NONE, NONE, NONE, UNNAMES},
	{"unlinkat", 1, 0, NONE, NONE, UNNAMES},
	{"rmdir", 0, NONE, NONE, NONE, UNNAMES},
	{"rename", 0, NONE, 1, NONE, UNNAMES},
	{"renameat", 1, 0, 3, 2, UNNAMES},
	{"renameat2", 1, 0, 3, 2, UNNAMES},
	{"link", 0, NONE, 1, NONE, 0},
	{"linkat", 1, 0, 3, 2, 0},
	{"symlink", 1, NONE, NONE, NONE, LINKS},
	{"symlinkat", 2, 1, NONE, NONE, LINKS},
	{"chmod", 0, NONE, NONE, NONE, FOLLOW},
	{"fchmodat", 1, 0, NONE, NONE, FOLLOW},
	{"chown", 0, NONE, NONE, NONE, FOLLOW},
	{"lchown", 0, NONE, NONE, NONE, 0},
	{"fchownat", 1, 0, NONE, NONE, 0},
};

struct wti_places {
	struct wti_handles handles;
	struct wti_map folders;      /* real path: is no link; 0: look again */
	struct wti_map links;        /* real path of a link that the run made: its target */
	struct wti_arena texts;      /* of links */
	uint8_t rows[WTI_CALLS_MAX]; /* by number: which call, plus one */
};

struct wti_places *wti_places_new(const char *folder)
{
	struct wti_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	wti_map_init(&places->folders, FOLDERS_MAX);
	wti_map_init(&places->links, LINKS_MAX);
	wti_arena_init(&places->texts, LINKS_BYTES_MAX);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int nr = wti_call_number(WTI_ARCH_HERE, rows[i].call);

		if (nr >= 0 && nr < WTI_CALLS_MAX)
			places->rows[nr] = (uint8_t)(i + 1);
	}
	if (!wti_handles_init(&places->handles, folder, NULL))
		return places;
	wti_places_free(places);
	return NULL;
}

void wti_places_free(struct wti_places *places)
{
	if (!places)
		return;
	wti_handles_release(&places->handles);
	wti_map_release(&places->folders);
	wti_map_release(&places->links);
	wti_arena_release(&places->texts);
	free(places);
}

void wti_places_task(struct wti_places *places, const struct wti_raw_task *raw)
{
	if (places)
		wti_handles_task(&places->handles, raw->tid, raw->pid, raw->how, raw->parent);
}

void wti_places_end(struct wti_places *places, const struct wti_raw_end *raw)
{
	if (places && raw->flags & 1)
		wti_handles_end(&places->handles, raw->pid);
}

/* ---- Following a path ------------------------------------------------------------------------ */

/* Where a link at `path` leads to; false if it is none. */
static bool read_link(struct wti_places *places, const char *path, bool is_folder,
		      char target[PATH_MAX])
{
	size_t bytes = strlen(path);
	uint64_t *known = is_folder ? wti_map_text(&places->folders, path, bytes) : NULL;
	const uint64_t *made;
	ssize_t n;

	if (known && *known)
		return false;
	n = readlink(path, target, PATH_MAX - 1);
	if (n > 0) {
		target[n] = 0;
		return true;
	}
	if (known && errno == EINVAL)
		*known = 1;
	made = wti_map_find_text(&places->links, path, bytes);
	if (errno == EINVAL || !made || !*made)
		return false;
	snprintf(target, PATH_MAX, "%s", (const char *)(uintptr_t)*made);
	return true;
}

/* Takes the first part off `rest`; its length. */
static size_t next_part(const char *rest, size_t *ret_skip)
{
	size_t skip = strspn(rest, "/");

	*ret_skip = skip;
	return strcspn(rest + skip, "/");
}

/* `whole` is absolute. False: it leads nowhere, or is too long. */
static bool follow(struct wti_places *places, const char *whole, bool is_followed,
		   char out[PATH_MAX])
{
	char rest[WHOLE_BYTES], target[PATH_MAX], again[WHOLE_BYTES];
	size_t used = 0, skip, part, hops = 0;

	if (snprintf(rest, sizeof(rest), "%s", whole) >= (int)sizeof(rest))
		return false;
	out[0] = 0;
	while ((part = next_part(rest, &skip))) {
		const char *name = rest + skip;
		bool is_last = !name[part + strspn(name + part, "/")];
		size_t before = used;

		if (part == 2 && !memcmp(name, "..", 2)) {
			while (used && out[--used] != '/')
				;
			out[used] = 0;
		} else if (part != 1 || *name != '.') {
			if (used + part + 2 > PATH_MAX)
				return false;
			out[used++] = '/';
			memcpy(out + used, name, part);
			out[used += part] = 0;
			if ((!is_last || is_followed) && read_link(places, out, !is_last, target)) {
				if (++hops > HOPS_MAX ||
				    snprintf(again, sizeof(again), "%s/%s", target, name + part) >=
					    (int)sizeof(again))
					return false;
				memcpy(rest, again, strlen(again) + 1);
				used = target[0] == '/' ? 0 : before;
				out[used] = 0;
				continue;
			}
		}
		memmove(rest, name + part, strlen(name + part) + 1);
	}
	if (!used)
		snprintf(out, PATH_MAX, "/");
	return true;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

struct looking {
	struct wti_places *places;
	const struct wti_syscall *call;
	uint32_t pid;
	uint8_t *memory;
	uint32_t bytes;
};

static void say(struct looking *l, uint8_t arg, int32_t fd, const char *path)
{
	size_t length = strlen(path),
	       head = WTI_PIECE_HEAD_BYTES + (arg == WTI_PIECE_OTHER ? 8 : 0);
	uint64_t address = (uint64_t)fd;
	uint8_t *at = l->memory + l->bytes;

	if (l->bytes + head + length > WTI_SYSCALL_MEMORY_MAX)
		return;
	at[0] = (uint8_t)length;
	at[1] = (uint8_t)(length >> 8);
	at[2] = arg;
	at[3] = WTI_PIECE_PLACE;
	if (arg == WTI_PIECE_OTHER)
		memcpy(at + WTI_PIECE_HEAD_BYTES, &address, sizeof(address));
	memcpy(at + head, path, length);
	l->bytes += (uint32_t)(head + length);
}

static bool read_proc(uint32_t pid, const char *what, int32_t fd, char out[PATH_MAX])
{
	char path[64];
	ssize_t n;

	if (fd == AT_FDCWD)
		snprintf(path, sizeof(path), "/proc/%u/%s", pid, what);
	else
		snprintf(path, sizeof(path), "/proc/%u/%s/%d", pid, what, fd);
	n = readlink(path, out, PATH_MAX - 1);
	if (n <= 0)
		return false;
	out[n] = 0;
	return true;
}

/* Before the path: the folder that it begins at. False: not known. */
static bool begin(struct looking *l, int32_t dirfd, char out[PATH_MAX])
{
	const struct wti_handles_of_process *process =
		wti_handles_process(&l->places->handles, l->pid);
	const struct wti_handle *folder = NULL;
	const char *from = NULL;

	if (dirfd == AT_FDCWD) {
		from = process && process->folder ? process->folder->path : NULL;
	} else {
		folder = wti_handles_of(&l->places->handles, l->pid, dirfd);
		from = folder && folder->type == WTI_HANDLE_FILE ? folder->name : NULL;
	}
	if (!from)
		return read_proc(l->pid, dirfd == AT_FDCWD ? "cwd" : "fd", dirfd, out);
	snprintf(out, PATH_MAX, "%s", from);
	return true;
}

/* The place that the path in argument `arg` names; false: nothing is known of it. */
static bool find(struct looking *l, uint8_t arg, int32_t dirfd, bool is_followed,
		 char out[PATH_MAX])
{
	char whole[WHOLE_BYTES], from[PATH_MAX] = "";
	struct wt_text path;

	if (!wti_syscall_text(l->call, arg, &path) || !path.bytes || path.bytes >= PATH_MAX)
		return false;
	if (path.data[0] != '/' && !begin(l, dirfd, from))
		return false;
	snprintf(whole, sizeof(whole), "%s/%.*s", from, (int)path.bytes, path.data);
	return follow(l->places, whole, is_followed, out);
}

/* Says where it is if that is not what anybody would take the path for. */
static void compare(struct looking *l, uint8_t arg, int32_t dirfd, const char *place)
{
	struct wti_buf plain;
	struct wt_text path;

	wti_syscall_text(l->call, arg, &path);
	wti_buf_init(&plain, WHOLE_BYTES);
	if (!wti_handles_path(&l->places->handles, l->pid, dirfd, path, &plain) ||
	    strcmp(wti_buf_cstr(&plain), place) != 0)
		say(l, arg, 0, place);
	wti_buf_release(&plain);
}

static void forget(struct wti_places *places, const char *path)
{
	size_t bytes = strlen(path);

	if (wti_map_find_text(&places->folders, path, bytes))
		*wti_map_text(&places->folders, path, bytes) = 0;
	if (wti_map_find_text(&places->links, path, bytes))
		*wti_map_text(&places->links, path, bytes) = 0;
}

static void remember_link(struct looking *l, const char *path)
{
	uint64_t *slot = wti_map_text(&l->places->links, path, strlen(path));
	struct wt_text target;

	forget(l->places, path);
	if (slot && wti_syscall_text(l->call, 0, &target))
		*slot = (uint64_t)(uintptr_t)wti_arena_text(&l->places->texts, target.data,
							    target.bytes);
}

static bool may_change(const struct wti_syscall *call, const struct row *row)
{
	uint32_t flags = (uint32_t)call->args[row->path + 1];

	return !(row->how & OPENS) || (flags & O_ACCMODE) != O_RDONLY ||
	       flags & (O_CREAT | O_TRUNC);
}

static bool is_followed(const struct wti_syscall *call, const struct row *row)
{
	uint32_t flags = (uint32_t)call->args[row->path + 1];

	return row->how & FOLLOW &&
	       !(row->how & OPENS &&
		 (flags & O_NOFOLLOW || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)));
}

static int32_t folder_of(const struct wti_syscall *call, uint8_t at)
{
	return at == NONE ? AT_FDCWD : (int32_t)call->args[at];
}

static void look(struct looking *l, const struct row *row)
{
	int32_t dirfd = folder_of(l->call, row->at);
	char place[PATH_MAX];

	if (!may_change(l->call, row))
		return;
	if (find(l, row->path, dirfd, is_followed(l->call, row), place)) {
		compare(l, row->path, dirfd, place);
		if (row->how & UNNAMES)
			forget(l->places, place);
		if (row->how & LINKS)
			remember_link(l, place);
	}
	if (row->second == NONE)
		return;
	dirfd = folder_of(l->call, row->second_at);
	if (find(l, row->second, dirfd, false, place)) {
		compare(l, row->second, dirfd, place);
		forget(l->places, place);
	}
}

/* What came from somebody else is asked of /proc, if it is still there. */
static void look_at_received(struct looking *l)
{
	const char *name = wti_call_name(WTI_ARCH_HERE, l->call->nr);
	int32_t fds[WTI_SYSCALL_PLACES_MAX];
	char target[PATH_MAX];
	size_t count = 0;

	if (!strcmp(name, "recvmsg"))
		count = wti_syscall_received(l->call, fds, WTI_SYSCALL_PLACES_MAX);
	else if (!strcmp(name, "pidfd_getfd"))
		fds[count++] = (int32_t)l->call->result;
	for (size_t i = 0; i < count; i++)
		if (read_proc(l->pid, "fd", fds[i], target))
			say(l, WTI_PIECE_OTHER, fds[i], target);
}

uint32_t wti_places_call(struct wti_places *places, uint32_t pid, const struct wti_raw_call *raw,
			 uint8_t *memory, uint32_t bytes)
{
	struct wti_syscall call;
	struct looking l = {.places = places, .call = &call, .pid = pid, .memory = memory};
	const struct row *row;
	bool changes;

	l.bytes = bytes;
	call.arch = raw->arch;
	call.nr = raw->nr;
	if (places && raw->arch == WT_ARCH_I386)
		call.nr = (uint32_t)wti_compat_number(raw->nr);
	else if (raw->arch != WTI_ARCH_HERE)
		return bytes;
	if (!places || call.nr >= WTI_CALLS_MAX)
		return bytes;
	changes = wti_handles_changes(&places->handles, WTI_ARCH_HERE, call.nr);
	row = places->rows[call.nr] ? &rows[places->rows[call.nr] - 1] : NULL;
	if (!changes && !row)
		return bytes;
	call.nr = raw->nr;
	memcpy(call.args, raw->args, sizeof(call.args));
	call.result = raw->result;
	call.flags = raw->flags;
	wti_syscall_split(&call, (struct wt_text){(const char *)memory, bytes});
	wti_compat_translate(&call);
	if (row && raw->result >= 0 && !(raw->flags & WT_SYSCALL_UNFINISHED))
		look(&l, row);
	if (changes && raw->result >= 0)
		look_at_received(&l);
	if (changes)
		wti_handles_call(&places->handles, pid, raw->raw.track, &call, NULL);
	return l.bytes;
}
