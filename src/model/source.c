/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of a model come from. Files are read with pread(), never mapped: a file that is
 * cut while it is read gives an error, where a mapping would kill the program. That costs a copy:
 * the fast hash of a file in the page cache took 1.6 times as long as over a mapping (4.0 and 6.3
 * GB/s of one core), SHA-256 hardly longer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "model/own.h"

#define SOURCES_MAX 65536u /* the largest sharded models have a few hundred files */

void wti_model_source_free(struct wti_model_source *source)
{
	if (!source)
		return;
	if (source->fd >= 0)
		close(source->fd);
	free(source->path);
	free(source->name);
	free(source->memory);
	free(source);
}

/* Takes `source` over, also on failure. */
static int add(struct wti_model *model, struct wti_model_source *source, uint32_t *ret_source,
	       struct wt_err *err)
{
	int r = source->path ? wti_grow(&model->sources, model->source_count + 1,
					&model->source_capacity, SOURCES_MAX)
			     : WT_E_NOMEM;

	if (r) {
		wti_model_source_free(source);
		return r == WT_E_NOMEM ? wti_err(err, r, "out of memory")
				       : wti_err(err, r, "'%s' consists of more than %u files",
						 model->path, SOURCES_MAX);
	}
	*ret_source = (uint32_t)model->source_count;
	model->sources[model->source_count++] = source;
	return 0;
}

static struct wti_model_source *new_source(const char *path)
{
	struct wti_model_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->fd = -1;
	source->path = strdup(path);
	return source;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static int add_opened(struct wti_model *model, const char *path, const char *name,
		      uint32_t *ret_source, struct wt_err *err)
{
	struct wti_model_source *source = new_source(path);
	struct stat info;

	if (!source)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	source->fd = wti_open_regular(path, err);
	if (source->fd < 0) {
		int r = source->fd;

		wti_model_source_free(source);
		return r;
	}
	if (name) {
		source->name = strdup(name);
		source->is_beside = true;
	}
	if ((name && !source->name) || fstat(source->fd, &info)) {
		wti_model_source_free(source);
		return wti_err_errno(err, "cannot read", path);
	}
	source->bytes = (uint64_t)info.st_size;
	return add(model, source, ret_source, err);
}

int wti_model_add_first(struct wti_model *model, struct wt_err *err)
{
	uint32_t source;

	return add_opened(model, model->path, NULL, &source, err);
}

/* Relative, and no component that is empty, "." or "..". */
static bool stays_inside(const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (!length || (length == 1 && path[0] == '.') ||
		    (length == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += length;
		if (*path == '/' && !*++path)
			return false;
	}
	return true;
}

/* Length of the part of the model's path that is its folder, with the slash. */
static size_t folder_length(const struct wti_model *model)
{
	const char *slash = strrchr(model->path, '/');

	return slash ? (size_t)(slash + 1 - model->path) : 0;
}

static char *path_beside(const struct wti_model *model, const char *name)
{
	size_t folder = model->is_folder ? strlen(model->path) : folder_length(model);
	bool needs_slash = folder && model->path[folder - 1] != '/';
	char *path = malloc(folder + 1 + strlen(name) + 1);

	if (path)
		snprintf(path, folder + 1 + strlen(name) + 1, "%.*s%s%s", (int)folder, model->path,
			 needs_slash ? "/" : "", name);
	return path;
}

int wti_model_add_file(struct wti_model *model, const char *name, uint32_t *ret_source,
		       struct wt_err *err)
{
	char *path;
	int r;

	if (!*name || !stays_inside(name))
		return wti_err(err, WT_E_FORMAT,
			       "'%s' names the file '%s', which is not inside its folder: it is "
			       "not read; get the model from whom you trust",
			       model->path, name);
	for (size_t i = 0; i < model->source_count; i++) {
		if (model->sources[i]->is_beside && !strcmp(model->sources[i]->name, name)) {
			*ret_source = (uint32_t)i;
			return 0;
		}
	}
	path = path_beside(model, name);
	if (!path)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = add_opened(model, path, name, ret_source, err);
	free(path);
	return r;
}

/* ---- Memory --------------------------------------------------------------------------------- */

int wti_model_add_memory(struct wti_model *model, struct wti_buf *bytes, uint32_t *ret_source,
			 struct wt_err *err)
{
	struct wti_model_source *source;

	if (wti_buf_status(bytes))
		return wti_err(err, wti_buf_status(bytes), "cannot keep what '%s' unpacks to: %s",
			       model->path,
			       wti_buf_status(bytes) == WT_E_NOMEM ? "out of memory"
								   : "it is too large");
	if (bytes->bytes > WTI_MODEL_UNPACKED_MAX - model->unpacked_bytes)
		return wti_err(err, WT_E_LIMIT, "'%s' unpacks to more than %llu bytes", model->path,
			       (unsigned long long)WTI_MODEL_UNPACKED_MAX);
	source = new_source(model->path);
	if (!source)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	model->unpacked_bytes += bytes->bytes;
	source->memory = bytes->data;
	source->bytes = bytes->bytes;
	wti_buf_init(bytes, bytes->ceiling);
	if (!source->memory)
		source->memory = calloc(1, 1);
	if (!source->memory) {
		wti_model_source_free(source);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	return add(model, source, ret_source, err);
}

/* ---- Pieces of other sources ---------------------------------------------------------------- */

int wti_model_add_virtual(struct wti_model *model, const struct wti_model_joined *joined,
			  uint64_t bytes, const char *path, uint32_t *ret_source,
			  struct wt_err *err)
{
	struct wti_model_source *source = new_source(path);

	if (!source)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	source->joined = joined;
	source->bytes = bytes;
	return add(model, source, ret_source, err);
}

void wti_model_drop_last_source(struct wti_model *model)
{
	wti_model_source_free(model->sources[--model->source_count]);
}

/* ---- Reading -------------------------------------------------------------------------------- */

uint64_t wti_model_source_bytes(const struct wti_model *model, uint32_t source)
{
	return source < model->source_count ? model->sources[source]->bytes : 0;
}

bool wti_model_source_is_file(const struct wti_model *model, uint32_t source)
{
	return source < model->source_count && model->sources[source]->fd >= 0;
}

const char *wti_model_source_path(const struct wti_model *model, uint32_t source)
{
	return source < model->source_count ? model->sources[source]->path : model->path;
}

const uint8_t *wti_model_source_memory(const struct wti_model *model, uint32_t source)
{
	return source < model->source_count ? model->sources[source]->memory : NULL;
}

int wti_model_bad(const struct wti_model *model, uint32_t source, uint64_t offset,
		  struct wt_err *err, const char *format, ...)
{
	char reason[384];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return wti_err_at(err, WT_E_FORMAT, (int64_t)offset, "'%s': byte %llu: %s",
			  wti_model_source_path(model, source), (unsigned long long)offset, reason);
}

static bool has(const struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes)
{
	uint64_t all = wti_model_source_bytes(model, source);

	return offset <= all && bytes <= all - offset;
}

static int cut(const struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
	       struct wt_err *err)
{
	return wti_model_bad(model, source, wti_model_source_bytes(model, source), err,
			     "the file ends here, but %llu bytes are needed from byte %llu on: it "
			     "was cut; copy or download it again",
			     (unsigned long long)bytes, (unsigned long long)offset);
}

int wti_model_read(struct wti_model *model, uint32_t number, uint64_t offset, void *data,
		   size_t bytes, struct wt_err *err)
{
	const struct wti_model_source *source;
	ssize_t got;

	if (number >= model->source_count)
		return wti_err(err, WT_E_ARG, "'%s' has no file %u", model->path, number);
	source = model->sources[number];
	if (!has(model, number, offset, bytes))
		return cut(model, number, offset, bytes, err);
	if (source->joined)
		return wti_model_joined_read(model, source->joined, offset, data, bytes, err);
	if (source->memory) {
		memcpy(data, source->memory + offset, bytes);
		return 0;
	}
	got = wti_pread_all(source->fd, data, bytes, offset);
	if (got < 0) {
		errno = (int)-got;
		return wti_err_errno(err, "cannot read", source->path);
	}
	if ((size_t)got < bytes)
		return wti_model_bad(model, number, offset + (uint64_t)got, err,
				     "the file became shorter while it was read: wait until it is "
				     "written, and try again");
	return 0;
}

int wti_model_read_buf(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		       struct wti_buf *out, struct wt_err *err)
{
	uint8_t *room;
	int r;

	/* Before memory is asked for: a length in a file may be anything. */
	if (!has(model, source, offset, bytes))
		return cut(model, source, offset, bytes, err);
	room = wti_buf_reserve(out, bytes);
	if (!room)
		return wti_err(err, wti_buf_status(out),
			       "cannot read %llu bytes of '%s' at once: %s",
			       (unsigned long long)bytes, wti_model_source_path(model, source),
			       wti_buf_status(out) == WT_E_NOMEM ? "out of memory"
								 : "that is beyond the limit");
	r = wti_model_read(model, source, offset, room, bytes, err);
	if (!r)
		wti_buf_added(out, bytes);
	return r;
}
