/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns what: each struct owns its children and its dictionary, arrays also refer to a column.
 */
#include "arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Schemas --------------------------------------------------------------------------------- */

static void schema_release(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i] && schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	free(schema->children);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	free(schema->private_data); /* the name */
	schema->release = NULL;
}

static int schema_init(struct ArrowSchema *ret, const char *format, const char *name)
{
	char *copy = strdup(name);

	*ret = (struct ArrowSchema){0};
	if (!copy)
		return WT_E_NOMEM;
	ret->format = format;
	ret->name = copy;
	ret->flags = ARROW_FLAG_NULLABLE;
	ret->private_data = copy;
	ret->release = schema_release;
	return 0;
}

static int failed_schema(struct ArrowSchema *ret)
{
	if (ret->release)
		ret->release(ret);
	*ret = (struct ArrowSchema){0};
	return WT_E_NOMEM;
}

int wti_arrow_schema(const struct wti_column_slice *slice, struct ArrowSchema *ret)
{
	const struct wti_column *column = slice->column;

	if (schema_init(ret, wti_column_format(column->type)->arrow, column->name))
		return failed_schema(ret);
	if (column->type != WTI_COLUMN_TEXT || slice->codes)
		return 0;
	ret->dictionary = calloc(1, sizeof(*ret->dictionary));
	if (!ret->dictionary || schema_init(ret->dictionary, "u", ""))
		return failed_schema(ret);
	return 0;
}

int wti_arrow_table_schema(const struct wti_column_slice *slices, size_t count,
			   struct ArrowSchema *ret)
{
	if (schema_init(ret, "+s", ""))
		return failed_schema(ret);
	ret->flags = 0;
	ret->children = calloc(count + 1, sizeof(*ret->children));
	if (!ret->children)
		return failed_schema(ret);
	for (size_t i = 0; i < count; i++) {
		ret->children[i] = calloc(1, sizeof(struct ArrowSchema));
		if (!ret->children[i])
			return failed_schema(ret);
		ret->n_children++;
		if (wti_arrow_schema(&slices[i], ret->children[i]))
			return failed_schema(ret);
	}
	return 0;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Behind ArrowArray.private_data. */
struct holder {
	const void *buffers[3];
	struct wti_column *column; /* NULL: of a table, whose children have theirs */
};

static void array_release(struct ArrowArray *array)
{
	struct holder *holder = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++) {
		/* A child that was moved away has no release of its own any more. */
		if (array->children[i] && array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	free(array->children);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	wti_column_unref(holder->column);
	free(holder);
	array->release = NULL;
}

static int array_init(struct ArrowArray *ret, struct wti_column *column)
{
	struct holder *holder = calloc(1, sizeof(*holder));

	*ret = (struct ArrowArray){0};
	if (!holder)
		return WT_E_NOMEM;
	holder->column = column ? wti_column_ref(column) : NULL;
	ret->buffers = holder->buffers;
	ret->private_data = holder;
	ret->release = array_release;
	return 0;
}

static int failed_array(struct ArrowArray *ret)
{
	if (ret->release)
		ret->release(ret);
	*ret = (struct ArrowArray){0};
	return WT_E_NOMEM;
}

/* The different texts of a column. */
static int dictionary_array(struct wti_column *column, struct ArrowArray *ret)
{
	if (array_init(ret, column))
		return WT_E_NOMEM;
	ret->length = (int64_t)column->texts.count;
	ret->n_buffers = 3;
	ret->buffers[1] = column->texts.ends;
	ret->buffers[2] = column->texts.bytes.data ? column->texts.bytes.data : (const void *)"";
	return 0;
}

int wti_arrow_array(const struct wti_column_slice *slice, struct ArrowArray *ret)
{
	struct wti_column *column = slice->column;
	bool whole = slice->rows == column->rows;

	if (array_init(ret, column))
		return failed_array(ret);
	ret->length = (int64_t)slice->rows;
	ret->offset = (int64_t)slice->offset;
	ret->null_count = whole || !column->null_count ? (int64_t)column->null_count : -1;
	ret->n_buffers = 2;
	ret->buffers[0] = column->null_count ? column->valid : NULL;
	ret->buffers[1] = column->data;
	if (column->type != WTI_COLUMN_TEXT || slice->codes)
		return 0;
	ret->dictionary = calloc(1, sizeof(*ret->dictionary));
	if (!ret->dictionary || dictionary_array(column, ret->dictionary))
		return failed_array(ret);
	return 0;
}

static int table_array(const struct wti_column_slice *slices, size_t count, struct ArrowArray *ret)
{
	if (array_init(ret, NULL))
		return failed_array(ret);
	ret->length = count ? (int64_t)slices[0].rows : 0;
	ret->n_buffers = 1;
	ret->children = calloc(count + 1, sizeof(*ret->children));
	if (!ret->children)
		return failed_array(ret);
	for (size_t i = 0; i < count; i++) {
		ret->children[i] = calloc(1, sizeof(struct ArrowArray));
		if (!ret->children[i])
			return failed_array(ret);
		ret->n_children++;
		if (wti_arrow_array(&slices[i], ret->children[i]))
			return failed_array(ret);
	}
	return 0;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* Behind ArrowArrayStream.private_data. */
struct chunk {
	bool is_table;
	bool emitted; /* the chunk has been handed out */
	size_t count;
	struct wti_column_slice slices[];
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	const struct chunk *chunk = stream->private_data;
	int r = chunk->is_table ? wti_arrow_table_schema(chunk->slices, chunk->count, ret)
				: wti_arrow_schema(&chunk->slices[0], ret);

	return r ? ENOMEM : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct chunk *chunk = stream->private_data;
	int r;

	*ret = (struct ArrowArray){0};
	if (chunk->emitted)
		return 0;
	r = chunk->is_table ? table_array(chunk->slices, chunk->count, ret)
			    : wti_arrow_array(&chunk->slices[0], ret);
	chunk->emitted = !r;
	return r ? ENOMEM : 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
	struct chunk *chunk = stream->private_data;

	for (size_t i = 0; i < chunk->count; i++)
		wti_column_unref(chunk->slices[i].column);
	free(chunk);
	stream->release = NULL;
}

int wti_arrow_stream(const struct wti_column_slice *slices, size_t count, bool is_table,
		     struct ArrowArrayStream *ret)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk) + (count + 1) * sizeof(chunk->slices[0]));

	*ret = (struct ArrowArrayStream){0};
	if (!chunk)
		return WT_E_NOMEM;
	chunk->is_table = is_table;
	chunk->count = count;
	for (size_t i = 0; i < count; i++) {
		chunk->slices[i] = slices[i];
		wti_column_ref(slices[i].column);
	}
	*ret = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = stream_release,
		.private_data = chunk,
	};
	return 0;
}
