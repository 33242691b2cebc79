/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements that do not lie packed, in logical order. A row whose elements are neighbours is read at
 * once. The elements of other rows come through a cache of short lines: in a transposed matrix each
 * column keeps its line until the rows have used it up, so that the file is read about once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "digest/digest.h"
#include "model/own.h"

#define LINE_BYTES 512u
/* 32 MB: enough for the columns of the widest matrix of a model, and far below what a file has. */
#define LINES_MAX 65536u
#define NO_LINE UINT64_MAX

struct wti_model_gather {
	struct wti_model *model;
	const struct wti_model_tensor *tensor;
	size_t unit;
	uint64_t *index;       /* of the next element */
	const uint8_t *memory; /* the source, if it lies there */
	uint64_t *numbers;     /* of the lines in the cache, in the file */
	uint8_t *lines;
	uint32_t shift; /* from a hash to a place in the cache */
};

/* A power of two that has room for the whole source, if that is small. */
static uint32_t lines_wanted(const struct wti_model *model, uint32_t source)
{
	uint64_t needed = wti_model_source_bytes(model, source) / LINE_BYTES + 1;
	uint32_t count = 2;

	while (count < LINES_MAX && count < needed)
		count *= 2;
	return count;
}

static int make_cache(struct wti_model_gather *gather)
{
	uint32_t count = lines_wanted(gather->model, gather->tensor->source);

	gather->shift = 64u - (uint32_t)__builtin_ctz(count);
	gather->lines = malloc((size_t)count * LINE_BYTES);
	gather->numbers = malloc(count * sizeof(*gather->numbers));
	if (!gather->lines || !gather->numbers)
		return WT_E_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		gather->numbers[i] = NO_LINE;
	return 0;
}

int wti_model_gather_new(struct wti_model *model, const struct wti_model_tensor *tensor,
			 struct wti_model_gather **ret, struct wt_err *err)
{
	struct wti_model_gather *gather = calloc(1, sizeof(*gather));

	if (!gather)
		return wti_err(err, WT_E_NOMEM, "out of memory while '%s' was read", model->path);
	gather->model = model;
	gather->tensor = tensor;
	gather->unit = wti_dtype_bytes(tensor->dtype);
	gather->memory = wti_model_source_memory(model, tensor->source);
	gather->index = calloc(tensor->rank, sizeof(*gather->index));
	if (!gather->index || (!gather->memory && make_cache(gather))) {
		wti_model_gather_free(gather);
		return wti_err(err, WT_E_NOMEM, "out of memory while '%s' was read", model->path);
	}
	*ret = gather;
	return 0;
}

void wti_model_gather_free(struct wti_model_gather *gather)
{
	if (!gather)
		return;
	free(gather->index);
	free(gather->numbers);
	free(gather->lines);
	free(gather);
}

/* The line of that number, from the cache or the file. */
static int line_of(struct wti_model_gather *gather, uint64_t number, const uint8_t **ret,
		   struct wt_err *err)
{
	uint64_t slot = (number * UINT64_C(0x9e3779b97f4a7c15)) >> gather->shift;
	uint8_t *line = gather->lines + slot * LINE_BYTES;
	uint32_t source = gather->tensor->source;
	uint64_t left = wti_model_source_bytes(gather->model, source) - number * LINE_BYTES;

	int r;

	*ret = line;
	if (gather->numbers[slot] == number)
		return 0;
	gather->numbers[slot] = NO_LINE;
	r = wti_model_read(gather->model, source, number * LINE_BYTES, line,
			   left < LINE_BYTES ? (size_t)left : LINE_BYTES, err);
	if (!r)
		gather->numbers[slot] = number;
	return r;
}

static int take_one(struct wti_model_gather *gather, uint64_t offset, uint8_t *out,
		    struct wt_err *err)
{
	for (size_t done = 0; done < gather->unit;) { /* an element may lie in two lines */
		size_t within = (size_t)((offset + done) % LINE_BYTES);
		size_t bytes = gather->unit - done;
		const uint8_t *line;
		int r = line_of(gather, (offset + done) / LINE_BYTES, &line, err);

		if (r)
			return r;
		if (bytes > LINE_BYTES - within)
			bytes = LINE_BYTES - within;
		memcpy(out + done, line + within, bytes);
		done += bytes;
	}
	return 0;
}

/* Elements of one row, from `offset` on. */
static int take_row(struct wti_model_gather *gather, uint64_t offset, int64_t stride, uint8_t *out,
		    uint64_t count, struct wt_err *err)
{
	int64_t step = stride * (int64_t)gather->unit;

	if (stride == 1 && !gather->memory && count * gather->unit >= LINE_BYTES)
		return wti_model_read(gather->model, gather->tensor->source, offset, out,
				      (size_t)count * gather->unit, err);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = (uint64_t)((int64_t)offset + (int64_t)i * step);
		int r = 0;

		if (gather->memory)
			memcpy(out + i * gather->unit, gather->memory + at, gather->unit);
		else
			r = take_one(gather, at, out + i * gather->unit, err);
		if (r)
			return r;
	}
	return 0;
}

/* Where the next element lies. */
static uint64_t place(const struct wti_model_gather *gather)
{
	const struct wti_model_tensor *tensor = gather->tensor;
	int64_t at = 0;

	for (uint32_t i = 0; i < tensor->rank; i++)
		at += (int64_t)gather->index[i] * tensor->strides[i];
	return (uint64_t)((int64_t)tensor->offset + at * (int64_t)gather->unit);
}

static void advance(struct wti_model_gather *gather, uint64_t count)
{
	const struct wti_model_tensor *tensor = gather->tensor;
	uint32_t i = tensor->rank - 1;

	gather->index[i] += count;
	while (i > 0 && gather->index[i] == tensor->shape[i]) {
		gather->index[i--] = 0;
		gather->index[i]++;
	}
}

int wti_model_gather_next(struct wti_model_gather *gather, uint8_t *out, uint64_t count,
			  struct wt_err *err)
{
	const struct wti_model_tensor *tensor = gather->tensor;
	uint32_t last = tensor->rank - 1;

	while (count) {
		uint64_t row = tensor->shape[last] - gather->index[last];
		int r;

		if (row > count)
			row = count;
		r = take_row(gather, place(gather), tensor->strides[last], out, row, err);
		if (r)
			return r;
		advance(gather, row);
		out += row * gather->unit;
		count -= row;
	}
	return 0;
}
