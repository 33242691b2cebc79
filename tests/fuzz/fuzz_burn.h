/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burn's files from memory. What opens has all of its elements, and what can be written is written
 * twice with the same bytes: from the input, and from what was written then.
 */
#ifndef WTT_FUZZ_BURN_H
#define WTT_FUZZ_BURN_H

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "model/format.h"

#define BURN_BYTES_MAX ((size_t)1 << 24)

static inline int burn_count(void *cookie, const void *data, size_t bytes)
{
	(void)data;
	*(uint64_t *)cookie += bytes;
	return 0;
}

static inline struct wti_model *burn_open(const struct wti_model_format *format,
					  const uint8_t *data, size_t bytes)
{
	struct wti_model_probe probe = {.path = "input",
					.bytes = bytes,
					.head = data,
					.head_bytes = bytes < 4096 ? bytes : 4096};
	struct wti_model *model = NULL;
	struct wt_err err = {0};
	struct wti_buf copy;
	uint32_t source;
	int r = format->is_one(&probe) ? wti_model_new("input", false, &model, &err) : -1;

	if (r)
		return NULL;
	wti_buf_init(&copy, BURN_BYTES_MAX);
	wti_buf_append(&copy, data, bytes);
	r = wti_model_add_memory(model, &copy, &source, &err);
	wti_buf_release(&copy);
	if (!r)
		r = format->read(model, &err);
	if (!r)
		return model;
	PROMISE(err.code == r && err.message[0]);
	wti_model_free(model);
	return NULL;
}

/* The model as `format`; empty if it cannot be. */
static inline void burn_write(struct wti_model *model, const struct wti_model_format *format,
			      struct wti_buf *out)
{
	struct wt_err err = {0};
	int fd = memfd_create("model", 0);
	int r = fd < 0 ? -1 : format->write(model, fd, &err);
	off_t bytes = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	uint8_t *room = NULL;

	wti_buf_init(out, BURN_BYTES_MAX);
	if (!r && bytes > 0)
		room = wti_buf_reserve(out, (size_t)bytes);
	if (room && wti_pread_all(fd, room, (size_t)bytes, 0) == bytes)
		wti_buf_added(out, (size_t)bytes);
	close(fd);
}

static inline void burn_write_twice(struct wti_model *model, const struct wti_model_format *format)
{
	struct wti_buf first, second;
	struct wti_model *again;

	burn_write(model, format, &first);
	again = first.bytes ? burn_open(format, first.data, first.bytes) : NULL;
	PROMISE(!first.bytes || again);
	if (again) {
		burn_write(again, format, &second);
		PROMISE(again->tensor_count == model->tensor_count);
		PROMISE(second.bytes == first.bytes);
		PROMISE(!memcmp(second.data, first.data, first.bytes));
		wti_buf_release(&second);
	}
	wti_model_free(again);
	wti_buf_release(&first);
}

static inline int burn_try(const struct wti_model_format *format, const uint8_t *data, size_t bytes)
{
	struct wti_model *model = burn_open(format, data, bytes);

	for (size_t i = 0; model && i < model->tensor_count; i++) {
		uint64_t counted = 0;

		PROMISE(!wti_model_walk(model, &model->tensors[i], burn_count, &counted, NULL));
		PROMISE(counted == model->tensors[i].bytes);
	}
	if (model && format->write)
		burn_write_twice(model, format);
	wti_model_free(model);
	return 0;
}

#endif
