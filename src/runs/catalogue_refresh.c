/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the catalogue with the folders. A run is read again when its run.json or its folder has
 * another time or size; its summary is made again only for another run.json, as tags change the
 * folder alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/sha.h"
#include "catalogue_db.h"
#include "kept.h"
#include "runjson.h"
#include "set.h"
#include "tags.h"
#include "trace/run_folder.h"

#define CONFIG_DIGITS 16
#define PROGRAM_BYTES 256

/* By which a change is seen. */
struct stamp {
	int64_t json_ns, json_bytes, folder_ns;
};

struct known {
	int64_t id;
	struct stamp stamp;
	/* Whether its recorder lived: that may be otherwise without a change to any file. */
	bool is_running, is_abandoned;
	bool is_seen;
};

struct refresh {
	const struct wti_front *front;
	struct wti_catalogue *c;
	struct wti_map index; /* folder: place in `known`, plus one */
	struct known *known;
	size_t known_count, known_capacity;
	char **changed; /* folders to be read */
	size_t changed_count, changed_capacity;
	int64_t kept_bytes, kept_read;
	bool is_kept_anew;
};

static void release(struct refresh *f)
{
	wti_map_release(&f->index);
	free(f->known);
	for (size_t i = 0; i < f->changed_count; i++)
		free(f->changed[i]);
	free(f->changed);
}

/* ---- What there is --------------------------------------------------------------------------- */

static int load_known(struct refresh *f, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(f->c,
			       "SELECT id, folder, json_ns, json_bytes, folder_ns, status FROM "
			       "runs WHERE removed_ns < 0",
			       &stmt, err);

	while (!r && (r = wti_db_step(f->c, stmt, err)) > 0) {
		const char *folder = wti_db_text(stmt, 1);
		uint64_t *slot = wti_map_text(&f->index, folder, strlen(folder));

		if (!slot ||
		    wti_grow(&f->known, f->known_count + 1, &f->known_capacity, WTI_NO_CEILING)) {
			r = wti_err(err, WT_E_NOMEM, "out of memory");
			break;
		}
		f->known[f->known_count] = (struct known){
			.id = sqlite3_column_int64(stmt, 0),
			.stamp = {sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
				  sqlite3_column_int64(stmt, 4)},
			.is_running = !strcmp(wti_db_text(stmt, 5), "running"),
			.is_abandoned = !strcmp(wti_db_text(stmt, 5), "abandoned")};
		*slot = ++f->known_count;
		r = 0;
	}
	sqlite3_finalize(stmt);
	return r;
}

static int64_t ns_of(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* False: it is no folder of a run or a set. */
static bool stamp_of(int home, const char *folder, struct stamp *ret_stamp)
{
	char path[NAME_MAX + 32];
	struct stat st;

	if (fstatat(home, folder, &st, 0) || !S_ISDIR(st.st_mode))
		return false;
	ret_stamp->folder_ns = ns_of(st.st_mtim);
	snprintf(path, sizeof(path), "%s/" WTI_RUN_JSON, folder);
	if (fstatat(home, path, &st, 0)) {
		snprintf(path, sizeof(path), "%s/" WTI_SET_JSON, folder);
		if (fstatat(home, path, &st, 0))
			return false;
	}
	ret_stamp->json_ns = ns_of(st.st_mtim);
	ret_stamp->json_bytes = (int64_t)st.st_size;
	return true;
}

static bool has_turned(const struct refresh *f, const struct known *known, const char *folder)
{
	char path[PATH_MAX];

	return (known->is_running || known->is_abandoned) &&
	       snprintf(path, sizeof(path), "%s/%s", f->c->home, folder) < (int)sizeof(path) &&
	       wti_run_is_recording(path) != known->is_running;
}

static int look_at(struct refresh *f, int home, const char *folder, struct wt_err *err)
{
	const uint64_t *slot = wti_map_find_text(&f->index, folder, strlen(folder));
	struct known *known = slot ? &f->known[*slot - 1] : NULL;
	struct stamp stamp;

	if (!stamp_of(home, folder, &stamp))
		return 0;
	if (known)
		known->is_seen = true;
	if (known && !memcmp(&known->stamp, &stamp, sizeof(stamp)) && !has_turned(f, known, folder))
		return 0;
	if (wti_grow(&f->changed, f->changed_count + 1, &f->changed_capacity, WTI_RUNS_MAX))
		return f->changed_count >= WTI_RUNS_MAX ? 0
							: wti_err(err, WT_E_NOMEM, "out of memory");
	f->changed[f->changed_count] = strdup(folder);
	return f->changed[f->changed_count++] ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

static int look_around(struct refresh *f, struct wt_err *err)
{
	DIR *dir = opendir(f->c->home);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return errno == ENOENT ? 0 : wti_err_errno(err, "cannot open", f->c->home);
	while (!r && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = look_at(f, dirfd(dir), entry->d_name, err);
	closedir(dir);
	return r;
}

/* ---- A run.json as a row --------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Programs that only start another one, which their first argument names. */
static bool is_starter(const char *name)
{
	static const char *const starters[] = {"python", "torchrun", "accelerate", "sh", "bash",
					       "env",    "node",     "perl",       NULL};

	for (size_t i = 0; starters[i]; i++)
		if (!strncmp(name, starters[i], strlen(starters[i])) &&
		    !name[strlen(starters[i]) + strspn(name + strlen(starters[i]), "0123456789.")])
			return true;
	return false;
}

/* "train.py" of "/usr/bin/python3 -u train.py --lr 0.1", "pytest" of "python -m pytest". */
static void program_of(const struct wti_doc *root, char ret_program[PROGRAM_BYTES])
{
	const struct wti_doc *command = wti_doc_get(root, "command");
	const struct wti_doc *word = command ? command->first : NULL;
	const char *name = word && word->type == WTI_DOC_STRING ? base_of(word->string.data) : "";
	const char *found = name;

	for (word = word ? word->next : NULL; word && is_starter(name); word = word->next) {
		const char *text = word->type == WTI_DOC_STRING ? word->string.data : "-";

		if (!strcmp(text, "-c"))
			break;
		if (!strcmp(text, "-m")) {
			found = word->next && word->next->type == WTI_DOC_STRING
					? word->next->string.data
					: name;
			break;
		}
		if (*text != '-') {
			found = base_of(text);
			break;
		}
	}
	snprintf(ret_program, PROGRAM_BYTES, "%s", found);
}

static void hash_text(struct wti_sha *sha, const char *text)
{
	wti_sha_add(sha, text, strlen(text) + 1);
}

/* Of the values of a table or a list, with their keys. */
static void hash_values(struct wti_sha *sha, const struct wti_doc *list)
{
	char number[64];

	for (const struct wti_doc *it = list ? list->first : NULL; it; it = it->next) {
		hash_text(sha, it->key ? it->key : "");
		if (it->type == WTI_DOC_STRING)
			hash_text(sha, it->string.data);
		else if (it->type == WTI_DOC_FLOAT)
			snprintf(number, sizeof(number), "%.17g", it->number);
		else
			snprintf(number, sizeof(number), "%lld",
				 it->type == WTI_DOC_INT ? (long long)it->integer : 0);
		if (it->type != WTI_DOC_STRING)
			hash_text(sha, number);
	}
	hash_text(sha, "");
}

/* Equal for runs that were started in the same way, whatever the commit. */
static void config_of(const struct wti_doc *root, char ret_hex[CONFIG_DIGITS + 1])
{
	uint8_t hash[WTI_SHA256_BYTES];
	struct wti_sha sha;

	wti_sha_init(&sha, true);
	hash_values(&sha, wti_doc_get(root, "command"));
	hash_values(&sha, wti_doc_get(root, "environment"));
	hash_values(&sha, wti_doc_get(root, "seeds"));
	hash_values(&sha, wti_doc_get(root, "executable"));
	wti_sha_end(&sha, hash);
	for (size_t i = 0; i < CONFIG_DIGITS / 2; i++)
		snprintf(ret_hex + 2 * i, 3, "%02x", hash[i]);
}

static const char *text_at(const struct wti_doc *table, const char *key)
{
	const char *text = wti_doc_text(table, key);

	return text ? text : "";
}

static bool is_true(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	return value && value->type == WTI_DOC_BOOL && value->boolean;
}

static void fill_from_run(struct wti_catalogue_run *row, const struct wti_run *run,
			  const char *tags)
{
	struct wti_run_size size = wti_run_size(run->path);

	*row = (struct wti_catalogue_run){
		.folder = run->name,
		.label = run->label ? run->label : "",
		.status = run->status,
		.command = run->command,
		.directory = run->directory ? run->directory : "",
		.tags = tags,
		.start_ns = run->start_ns,
		.written_ns = run->written_ns,
		.duration_ns = run->duration_ns,
		.events = run->events,
		.lost = run->lost,
		.stream_bytes = (int64_t)size.stream_bytes,
		.disk_bytes = (int64_t)size.disk_bytes,
		.exit_status = -1,
		.run_count = run->is_set ? (int64_t)run->run_count : -1,
		.removed_ns = -1,
		.is_set = run->is_set,
	};
}

static void fill_from_json(struct wti_catalogue_run *row, const struct wti_doc *root)
{
	const struct wti_doc *git = wti_doc_get(root, "git");

	row->commit = text_at(git, "commit");
	row->is_dirty = is_true(git, "dirty");
	row->diff_hash = text_at(git, "diff_hash");
	row->host = text_at(wti_doc_get(root, "host"), "name");
	row->exit_status = wti_doc_count(root, "exit_status");
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int is_other_json(struct wti_catalogue *c, const char *folder, const struct stamp *stamp,
			 bool *ret_other, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c,
			       "SELECT 1 FROM runs WHERE folder = ? AND removed_ns < 0 AND "
			       "json_ns = ? AND json_bytes = ?",
			       &stmt, err);

	if (r)
		return r;
	wti_db_bind_text(stmt, 1, folder);
	sqlite3_bind_int64(stmt, 2, stamp->json_ns);
	sqlite3_bind_int64(stmt, 3, stamp->json_bytes);
	r = wti_db_step(c, stmt, err);
	*ret_other = r == 0;
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

static int put_run(struct wti_catalogue *c, const struct wti_run *run, const struct stamp *stamp,
		   int64_t *ret_id, struct wt_err *err)
{
	struct wti_catalogue_row row = {.json_ns = stamp->json_ns,
					.json_bytes = stamp->json_bytes,
					.folder_ns = stamp->folder_ns};
	char program[PROGRAM_BYTES] = "", config[CONFIG_DIGITS + 1] = "";
	struct wti_doc *root = NULL;
	struct wti_buf tags;
	bool is_other;
	int r;

	wti_buf_init(&tags, 1u << 16);
	wti_tags_read(run->path, &tags, NULL);
	fill_from_run(&row.run, run, wti_buf_cstr(&tags));
	if (!run->is_set)
		wti_runjson_read(run->path, &root, NULL);
	if (root) {
		fill_from_json(&row.run, root);
		program_of(root, program);
		config_of(root, config);
	}
	row.run.program = program;
	row.run.config = config;
	r = is_other_json(c, run->name, stamp, &is_other, err);
	r = r ? r : wti_catalogue_put(c, &row, is_other, ret_id, err);
	wti_doc_free(root);
	wti_buf_release(&tags);
	return r;
}

int wti_catalogue_read_folder(const struct wti_front *front, struct wti_catalogue *c,
			      const char *folder, int64_t *ret_id, struct wt_err *err)
{
	int home = open(c->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stamp stamp;
	struct wti_run run;
	char *path;
	int r;

	*ret_id = -1;
	/* Before it is read: what changes meanwhile is read again the next time. */
	r = home >= 0 && stamp_of(home, folder, &stamp);
	if (home >= 0)
		close(home);
	if (!r)
		return 0;
	if (asprintf(&path, "%s/%s", c->home, folder) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_run_find_path(path, &run, err);
	free(path);
	if (r)
		return r == WT_E_NOMEM ? r : 0;
	if (run.has_json)
		r = put_run(c, &run, &stamp, ret_id, err);
	wti_run_release(&run);
	return r;
}

/* A run of the file of what is kept. */
static int take_kept(void *opaque, const struct wti_kept_run *kept)
{
	struct refresh *f = opaque;
	const struct wti_catalogue_row row = {.run = kept->run};
	int64_t id;
	int r = wti_catalogue_put(f->c, &row, false, &id, NULL);

	return r ? r : wti_catalogue_put_summary(f->c, id, &kept->summary, NULL);
}

static int get_meta(struct wti_catalogue *c, const char *key, int64_t *ret_value,
		    struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "SELECT value FROM meta WHERE key = ?", &stmt, err);

	if (!r)
		wti_db_bind_text(stmt, 1, key);
	r = r ? r : wti_db_step(c, stmt, err);
	*ret_value = r > 0 ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

static int set_meta(struct wti_catalogue *c, const char *key, int64_t value, struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int r = wti_db_prepare(c, "INSERT OR REPLACE INTO meta VALUES(?, ?)", &stmt, err);

	if (r)
		return r;
	wti_db_bind_text(stmt, 1, key);
	sqlite3_bind_int64(stmt, 2, value);
	r = wti_db_execute(c, stmt, err);
	sqlite3_finalize(stmt);
	return r;
}

static int drop_kept(struct wti_catalogue *c, struct wt_err *err)
{
	return wti_db_run(
		c,
		"DELETE FROM metrics WHERE run IN (SELECT id FROM runs WHERE removed_ns >= 0);"
		"DELETE FROM findings WHERE run IN (SELECT id FROM runs WHERE removed_ns >= 0);"
		"DELETE FROM tests WHERE run IN (SELECT id FROM runs WHERE removed_ns >= 0);"
		"DELETE FROM runs WHERE removed_ns >= 0",
		err);
}

static int read_kept(struct refresh *f, struct wt_err *err)
{
	int r = get_meta(f->c, "kept_bytes", &f->kept_read, err);

	/* Shorter than before: somebody has replaced it. */
	if (!r && f->kept_read > f->kept_bytes) {
		r = drop_kept(f->c, err);
		f->kept_read = 0;
	}
	r = r ? r : wti_kept_read(f->c->home, &f->kept_read, take_kept, f, err);
	return r ? r : set_meta(f->c, "kept_bytes", f->kept_read, err);
}

/* Gone by now: another process may have recorded into the folder since we looked. */
static bool is_gone(const struct refresh *f, const char *folder)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s", f->c->home, folder) >= (int)sizeof(path) ||
	       stat(path, &st);
}

static int write_changes(struct refresh *f, struct wt_err *err)
{
	int r = 0;
	int64_t id;

	for (size_t i = 0; i < f->changed_count && !r; i++) {
		r = wti_catalogue_read_folder(f->front, f->c, f->changed[i], &id, err);
		if (f->changed_count > 1)
			wti_front_progress(f->front, (double)i / (double)f->changed_count);
	}
	for (size_t i = 0; i < f->index.count && !r; i++) {
		const struct known *known = &f->known[f->index.entries[i].value - 1];

		if (!known->is_seen && is_gone(f, f->index.entries[i].text))
			r = wti_catalogue_drop(f->c, known->id, err);
	}
	return r ? r : read_kept(f, err);
}

static bool has_changes(const struct refresh *f)
{
	bool any = f->changed_count || f->kept_bytes != f->kept_read;

	for (size_t i = 0; i < f->known_count && !any; i++)
		any = !f->known[i].is_seen;
	return any;
}

int wti_catalogue_refresh(const struct wti_front *front, struct wti_catalogue *c,
			  struct wt_err *err)
{
	struct refresh f = {.front = front, .c = c, .kept_bytes = wti_kept_bytes(c->home)};
	int r;

	wti_map_init(&f.index, WTI_RUNS_MAX);
	r = load_known(&f, err);
	r = r ? r : get_meta(c, "kept_bytes", &f.kept_read, err);
	r = r ? r : look_around(&f, err);
	if (!r && has_changes(&f)) {
		r = wti_db_begin(c, err);
		r = r ? r : wti_db_end(c, write_changes(&f, err), err);
		if (f.changed_count > 1)
			wti_front_progress(front, WTI_PROGRESS_OVER);
	}
	release(&f);
	return r ? r : wti_catalogue_load(c, err);
}
