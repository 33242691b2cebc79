/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a tensor out of its pieces, a run of neighbouring elements at a time. */
#include "model/joined.h"

#include <string.h>

#include "base/err.h"
#include "digest/digest.h"

#define PIECES_MAX 8192u /* of one tensor: a shard for each of so many ranks */

struct wti_model_joined {
	uint32_t rank;
	size_t item; /* bytes of an element */
	const uint64_t *shape;
	const struct wti_model_piece *pieces;
	size_t count;
};

static void *copy(struct wti_model *model, const void *data, size_t bytes)
{
	void *room = wti_arena_alloc(&model->arena, bytes ? bytes : 1);

	if (room && bytes)
		memcpy(room, data, bytes);
	return room;
}

/* ---- Whether the pieces cover the tensor ---------------------------------------------------- */

static bool is_inside(const struct wti_model_tensor *tensor, const struct wti_model_piece *piece,
		      uint64_t *ret_count)
{
	*ret_count = 1;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (piece->begin[i] > tensor->shape[i] ||
		    piece->shape[i] > tensor->shape[i] - piece->begin[i])
			return false;
		*ret_count *= piece->shape[i]; /* at most the tensor's own */
	}
	return true;
}

static bool overlap(uint32_t rank, const struct wti_model_piece *a, const struct wti_model_piece *b)
{
	for (uint32_t i = 0; i < rank; i++)
		if (a->begin[i] >= b->begin[i] + b->shape[i] ||
		    b->begin[i] >= a->begin[i] + a->shape[i])
			return false;
	return true;
}

static const char *check_cover(const struct wti_model_tensor *tensor, uint64_t elements,
			       const struct wti_model_piece *pieces, size_t count)
{
	uint64_t covered = 0, volume;

	if (count > PIECES_MAX)
		return "has more pieces than any model";
	for (size_t i = 0; i < count; i++) {
		if (!is_inside(tensor, &pieces[i], &volume))
			return "has a piece that is not inside of it";
		covered += volume;
		for (size_t j = 0; volume && j < i; j++)
			if (overlap(tensor->rank, &pieces[i], &pieces[j]))
				return "has pieces that overlap";
	}
	return covered == elements ? NULL : "has a piece missing";
}

/* ---- Making --------------------------------------------------------------------------------- */

static const struct wti_model_piece *copy_pieces(struct wti_model *model, uint32_t rank,
						 const struct wti_model_piece *pieces, size_t count)
{
	struct wti_model_piece *made = copy(model, pieces, count * sizeof(*pieces));

	for (size_t i = 0; made && i < count; i++) {
		made[i].begin = copy(model, pieces[i].begin, rank * sizeof(*made->begin));
		made[i].shape = copy(model, pieces[i].shape, rank * sizeof(*made->shape));
		made[i].strides = copy(model, pieces[i].strides, rank * sizeof(*made->strides));
		if (!made[i].begin || !made[i].shape || !made[i].strides)
			return NULL;
	}
	return made;
}

static int add(struct wti_model *model, struct wti_model_joined made, uint64_t elements,
	       const char *path, uint32_t *ret_source, struct wt_err *err)
{
	const struct wti_model_joined *joined;

	made.shape = copy(model, made.shape, made.rank * sizeof(*made.shape));
	made.pieces = copy_pieces(model, made.rank, made.pieces, made.count);
	joined = made.shape && made.pieces ? copy(model, &made, sizeof(made)) : NULL;
	if (!joined)
		return wti_err(err, model->arena.status, "out of memory while '%s' was opened",
			       model->path);
	return wti_model_add_virtual(model, joined, elements * made.item, path, ret_source, err);
}

int wti_model_add_joined(struct wti_model *model, const char *name,
			 const struct wti_model_tensor *tensor,
			 const struct wti_model_piece *pieces, size_t count, uint32_t *ret_source,
			 struct wt_err *err)
{
	struct wti_model_joined made = {.rank = tensor->rank,
					.item = wti_dtype_bytes(tensor->dtype),
					.shape = tensor->shape,
					.pieces = pieces,
					.count = count};
	uint64_t elements = 1;
	const char *wrong = NULL;

	for (uint32_t i = 0; i < tensor->rank && !wrong; i++)
		if (__builtin_mul_overflow(elements, tensor->shape[i], &elements) ||
		    elements > INT64_MAX / 16)
			wrong = "has a shape with too many elements";
	if (!wrong)
		wrong = check_cover(tensor, elements, pieces, count);
	if (wrong)
		return wti_err(err, WT_E_FORMAT,
			       "'%s': tensor '%.200s' %s: a file of another save "
			       "is among them, or one is missing",
			       model->path, name, wrong);
	return add(model, made, elements, model->path, ret_source, err);
}

int wti_model_add_part(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		       uint32_t *ret_source, struct wt_err *err)
{
	const uint64_t begin = 0;
	const int64_t stride = 1;
	struct wti_model_piece piece = {&begin, &bytes, &stride, source, offset};
	uint64_t all = wti_model_source_bytes(model, source);

	if (offset > all || bytes > all - offset)
		return wti_model_bad(model, source, all, err,
				     "the file ends here, but %llu bytes are needed from byte %llu "
				     "on: it was cut; copy or download it again",
				     (unsigned long long)bytes, (unsigned long long)offset);
	return add(model, (struct wti_model_joined){1, 1, &bytes, &piece, 1}, bytes,
		   wti_model_source_path(model, source), ret_source, err);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool contains(uint32_t rank, const struct wti_model_piece *piece, const uint64_t *index)
{
	for (uint32_t i = 0; i < rank; i++)
		if (index[i] < piece->begin[i] || index[i] - piece->begin[i] >= piece->shape[i])
			return false;
	return true;
}

static const struct wti_model_piece *find(const struct wti_model_joined *joined,
					  const uint64_t *index, const struct wti_model_piece *last)
{
	if (last && contains(joined->rank, last, index))
		return last;
	for (size_t i = 0; i < joined->count; i++)
		if (contains(joined->rank, &joined->pieces[i], index))
			return &joined->pieces[i];
	return NULL;
}

/* Where the element is, and how many follow it both in the tensor and in the source. */
static uint64_t locate(const struct wti_model_joined *joined, const struct wti_model_piece *piece,
		       const uint64_t *index, uint64_t *ret_offset)
{
	uint64_t run = 1, all = 1, before = 0;
	bool is_whole = true; /* the piece has all of the inner dimensions, packed */
	int64_t place = 0;

	for (uint32_t i = joined->rank; i-- > 0;) {
		uint64_t at = index[i] - piece->begin[i];

		place += (int64_t)at * piece->strides[i];
		is_whole = is_whole && (piece->strides[i] == (int64_t)all || piece->shape[i] == 1);
		if (!is_whole)
			continue;
		before += at * all;
		all *= piece->shape[i];
		run = all - before;
		is_whole = piece->shape[i] == joined->shape[i];
	}
	*ret_offset = (uint64_t)((int64_t)piece->offset + place * (int64_t)joined->item);
	return run;
}

static void to_index(const struct wti_model_joined *joined, uint64_t element, uint64_t *index)
{
	for (uint32_t i = joined->rank; i-- > 0;) {
		index[i] = element % joined->shape[i];
		element /= joined->shape[i];
	}
}

int wti_model_joined_read(struct wti_model *model, const struct wti_model_joined *joined,
			  uint64_t offset, uint8_t *data, size_t bytes, struct wt_err *err)
{
	const struct wti_model_piece *piece = NULL;
	uint64_t index[WTI_MODEL_RANK_MAX];

	while (bytes) {
		uint64_t within = offset % joined->item, place, run;
		int r;

		to_index(joined, offset / joined->item, index);
		piece = find(joined, index, piece);
		if (!piece)
			return wti_err(err, WT_E_FORMAT, "'%s' has a piece missing", model->path);
		run = locate(joined, piece, index, &place) * joined->item - within;
		if (run > bytes)
			run = bytes;
		r = wti_model_read(model, piece->source, place + within, data, (size_t)run, err);
		if (r)
			return r;
		offset += run;
		data += run;
		bytes -= (size_t)run;
	}
	return 0;
}
