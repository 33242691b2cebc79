/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the keys of a line, and what of run.json outlives a run. */
#include "kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/doc_write.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/sha.h"
#include "runjson.h"

#define PIECE_BYTES (1u << 16)

/* How a run was started: what `compare` compares, and no more. */
static const char *const setup_keys[] = {"command", "directory",  "git",    "host", "environment",
					 "seeds",   "executable", "config", NULL};

int64_t wti_kept_bytes(const char *home)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" WTI_KEPT_FILE, home);
	return stat(path, &st) || !S_ISREG(st.st_mode) ? 0 : (int64_t)st.st_size;
}

/* ---- Out ------------------------------------------------------------------------------------- */

static void put_setup(struct wti_json *json, const char *folder)
{
	struct wti_doc *root = NULL;

	wti_json_key(json, "setup");
	wti_json_object(json);
	if (!wti_runjson_read(folder, &root, NULL) && root)
		for (size_t i = 0; setup_keys[i]; i++) {
			const struct wti_doc *value = wti_doc_get(root, setup_keys[i]);

			if (!value)
				continue;
			wti_json_key(json, setup_keys[i]);
			wti_doc_write(json, value);
		}
	wti_json_object_end(json);
	wti_doc_free(root);
}

static bool hash_file(int folder, const char *name, char ret_hex[2 * WTI_SHA256_BYTES + 1],
		      int64_t *ret_bytes)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	uint8_t hash[WTI_SHA256_BYTES], *piece = malloc(PIECE_BYTES);
	struct wti_sha sha;
	struct stat st;
	ssize_t got = -1;

	if (fd >= 0 && piece && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		wti_sha_init(&sha, true);
		*ret_bytes = 0;
		while ((got = read(fd, piece, PIECE_BYTES)) > 0) {
			wti_sha_add(&sha, piece, (size_t)got);
			*ret_bytes += got;
		}
		wti_sha_end(&sha, hash);
		for (size_t i = 0; i < sizeof(hash); i++)
			snprintf(ret_hex + 2 * i, 3, "%02x", hash[i]);
	}
	free(piece);
	if (fd >= 0)
		close(fd);
	return got == 0;
}

/* Of the files in the folder itself: streams, run.json, console. */
static void put_files(struct wti_json *json, const char *folder)
{
	DIR *dir = opendir(folder);
	char hex[2 * WTI_SHA256_BYTES + 1];
	struct dirent *entry;
	int64_t bytes;

	wti_json_key(json, "files");
	wti_json_array(json);
	while (dir && (entry = readdir(dir))) {
		if (!hash_file(dirfd(dir), entry->d_name, hex, &bytes))
			continue;
		wti_json_object(json);
		wti_json_key(json, "file");
		wti_json_text(json, entry->d_name);
		wti_json_key(json, "bytes");
		wti_json_i64(json, bytes);
		wti_json_key(json, "sha256");
		wti_json_text(json, hex);
		wti_json_object_end(json);
	}
	if (dir)
		closedir(dir);
	wti_json_array_end(json);
}

static void put_number(struct wti_json *json, const char *key, int64_t number)
{
	wti_json_key(json, key);
	wti_json_i64(json, number);
}

static void put_run(struct wti_json *json, const struct wti_catalogue_run *run)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	wti_json_member(json, "folder", run->folder);
	wti_json_member(json, "label", run->label);
	wti_json_member(json, "status", run->status);
	wti_json_member(json, "command", run->command);
	wti_json_member(json, "program", run->program);
	wti_json_member(json, "directory", run->directory);
	wti_json_member(json, "commit", run->commit);
	wti_json_member(json, "diff_hash", run->diff_hash);
	wti_json_member(json, "host", run->host);
	wti_json_member(json, "config", run->config);
	wti_json_member(json, "tags", run->tags);
	put_number(json, "start_ns", run->start_ns);
	put_number(json, "duration_ns", run->duration_ns);
	put_number(json, "events", run->events);
	put_number(json, "lost", run->lost);
	put_number(json, "stream_bytes", run->stream_bytes);
	put_number(json, "disk_bytes", run->disk_bytes);
	put_number(json, "exit_status", run->exit_status);
	put_number(json, "removed_ns", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
	put_number(json, "run_count", run->run_count);
	wti_json_key(json, "is_set");
	wti_json_bool(json, run->is_set);
	wti_json_key(json, "is_dirty");
	wti_json_bool(json, run->is_dirty);
	wti_json_key(json, "is_damaged");
	wti_json_bool(json, run->is_damaged);
}

/* A line at once, behind a lock: two that append do not mix. */
static int append(const char *home, const struct wti_buf *line, struct wt_err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, r;

	snprintf(path, sizeof(path), "%s/" WTI_KEPT_FILE, home);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd < 0)
		return wti_err_errno(err, "cannot write", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return wti_err(err, WT_E_IO, "cannot write '%.200s': it is not a file", path);
	}
	flock(fd, LOCK_EX);
	r = wti_write_all(fd, line->data, line->bytes);
	if (!r && fsync(fd) && errno != EINVAL && errno != EROFS)
		r = -errno;
	close(fd);
	return r ? wti_err(err, WT_E_IO, "cannot write '%.200s': %s", path, strerror(-r)) : 0;
}

int wti_kept_add(const char *home, const struct wti_catalogue_run *run,
		 const struct wti_run_summary *summary, struct wt_err *err)
{
	struct wti_json json;
	struct wti_buf line;
	char folder[PATH_MAX];
	int r;

	snprintf(folder, sizeof(folder), "%s/%s", home, run->folder);
	wti_buf_init(&line, WTI_KEPT_LINE_MAX);
	wti_json_init(&json, &line, false);
	wti_json_object(&json);
	put_run(&json, run);
	put_setup(&json, folder);
	put_files(&json, folder);
	wti_json_key(&json, "summary");
	wti_summary_write(&json, summary);
	wti_json_object_end(&json);
	wti_buf_byte(&line, '\n');
	r = wti_buf_status(&line);
	r = r ? wti_err(err, r, "what is to be kept of '%.200s' is too large", run->folder)
	      : append(home, &line, err);
	wti_buf_release(&line);
	return r;
}

/* ---- In -------------------------------------------------------------------------------------- */

static const char *text_at(const struct wti_doc *root, const char *key)
{
	const char *text = wti_doc_text(root, key);

	return text ? text : "";
}

static bool is_true(const struct wti_doc *root, const char *key)
{
	const struct wti_doc *value = wti_doc_get(root, key);

	return value && value->type == WTI_DOC_BOOL && value->boolean;
}

static void take_run(const struct wti_doc *root, struct wti_catalogue_run *ret_run)
{
	*ret_run = (struct wti_catalogue_run){
		.folder = text_at(root, "folder"),
		.label = text_at(root, "label"),
		.status = text_at(root, "status"),
		.command = text_at(root, "command"),
		.program = text_at(root, "program"),
		.directory = text_at(root, "directory"),
		.commit = text_at(root, "commit"),
		.diff_hash = text_at(root, "diff_hash"),
		.host = text_at(root, "host"),
		.config = text_at(root, "config"),
		.tags = text_at(root, "tags"),
		.start_ns = wti_doc_count(root, "start_ns"),
		.written_ns = wti_doc_count(root, "removed_ns"),
		.duration_ns = wti_doc_count(root, "duration_ns"),
		.events = wti_doc_count(root, "events"),
		.lost = wti_doc_count(root, "lost"),
		.stream_bytes = wti_doc_count(root, "stream_bytes"),
		.disk_bytes = wti_doc_count(root, "disk_bytes"),
		.exit_status = wti_doc_count(root, "exit_status"),
		.run_count = wti_doc_count(root, "run_count"),
		.removed_ns = wti_doc_count(root, "removed_ns"),
		.is_set = is_true(root, "is_set"),
		.is_dirty = is_true(root, "is_dirty"),
		.is_summarised = true,
		.is_damaged = is_true(root, "is_damaged"),
	};
}

struct reading {
	int (*take)(void *self, const struct wti_kept_run *kept);
	void *self;
};

static int take_line(const struct reading *reading, const char *path, const char *text,
		     size_t bytes, struct wt_err *err)
{
	struct wti_kept_run kept = {.setup = NULL};
	struct wti_doc *root = NULL;
	int r = wti_json_parse(path, text, bytes, &root, NULL);

	if (r)
		return r == WT_E_NOMEM ? wti_err(err, r, "out of memory") : 0;
	take_run(root, &kept.run);
	kept.setup = wti_doc_get(root, "setup");
	if (*kept.run.folder && kept.run.removed_ns >= 0) {
		r = wti_summary_parse(wti_doc_get(root, "summary"), &kept.summary);
		if (!r) {
			kept.summary.is_damaged = kept.run.is_damaged;
			r = reading->take(reading->self, &kept);
			wti_summary_release(&kept.summary);
		} else {
			wti_err(err, r, "out of memory");
		}
	}
	wti_doc_free(root);
	return r;
}

int wti_kept_read(const char *home, int64_t *offset,
		  int (*take)(void *self, const struct wti_kept_run *kept), void *self,
		  struct wt_err *err)
{
	const struct reading reading = {take, self};
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	ssize_t bytes;
	FILE *file;
	int fd, r = 0;

	if (!wti_kept_bytes(home))
		return 0;
	snprintf(path, sizeof(path), "%s/" WTI_KEPT_FILE, home);
	fd = wti_open_regular(path, err);
	if (fd < 0)
		return fd;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	if (fseeko(file, (off_t)*offset, SEEK_SET))
		r = wti_err_errno(err, "cannot read", path);
	while (!r && (bytes = getline(&line, &room, file)) > 0 && line[bytes - 1] == '\n') {
		r = take_line(&reading, path, line, (size_t)bytes - 1, err);
		if (!r)
			*offset += bytes;
	}
	free(line);
	fclose(file);
	return r;
}
