/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elements of a tensor in logical row-major order, wherever they lie: read in place if they lie
 * like that; otherwise brought together, a piece at a time, in memory of our own, where they are
 * conjugated and negated as far as torch has put that off. Memory that may go away is copied by
 * guarded.c. Knows nothing of torch or numpy.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROOM_BYTES = 2 * WTI_DIGEST_BLOCK_BYTES, /* brought together at a time */
	SMALL_BYTES = 2048,
	LOOSE_BYTES_MAX = 256 << 20, /* more elements than that that do not lie in order are left */
	SPAN_FACTOR = 8, /* what is spread over more memory than that is picked one by one */
};

/* Where we stand in a tensor. Extents that follow on one another are one. */
struct reader {
	const struct wti_tensor *tensor;
	const char *from;
	uint64_t left; /* bytes */
	uint32_t rank;
	bool is_guarded;
	int64_t sizes[WTI_RANK_MAX];
	int64_t strides[WTI_RANK_MAX]; /* bytes */
	int64_t at[WTI_RANK_MAX];
	char *span; /* a copy of all that the elements are spread over, or NULL */
	char *room;
	size_t room_offset; /* what of the room has been given */
	size_t room_used;
	_Alignas(64) char small[SMALL_BYTES]; /* the room of small tensors */
};

/* ---- Beginning ------------------------------------------------------------------------------- */

static void add_extent(struct reader *reader, int64_t size, int64_t stride)
{
	uint32_t last = reader->rank - 1;

	if (size == 1)
		return;
	if (reader->rank && reader->strides[last] == size * stride) {
		reader->sizes[last] *= size;
		reader->strides[last] = stride;
		return;
	}
	reader->sizes[reader->rank] = size;
	reader->strides[reader->rank] = stride;
	reader->at[reader->rank++] = 0;
}

static bool is_in_order(const struct reader *reader)
{
	return reader->rank == 0 ||
	       (reader->rank == 1 && reader->strides[0] == (int64_t)reader->tensor->item_bytes);
}

/*
 * Elements that are spread over not much more memory than they need are copied with all that lies
 * between them, at one go.
 */
static bool copy_span(struct reader *reader)
{
	const size_t item_bytes = reader->tensor->item_bytes;
	uint64_t below = 0, above = item_bytes;

	for (uint32_t i = 0; i < reader->rank; i++) {
		int64_t reach = (reader->sizes[i] - 1) * reader->strides[i];

		if (reach < 0)
			below += (uint64_t)-reach;
		else
			above += (uint64_t)reach;
	}
	if ((below + above) / SPAN_FACTOR > reader->left + ROOM_BYTES)
		return true;
	reader->span = malloc(below + above);
	if (!reader->span || !wti_guarded_copy(reader->span, reader->from - below, below + above)) {
		free(reader->span);
		return false;
	}
	reader->from = reader->span + below;
	reader->is_guarded = false;
	return true;
}

static void reader_end(struct reader *reader)
{
	free(reader->span);
	if (reader->room != reader->small)
		free(reader->room);
}

static bool reader_begin(struct reader *reader, const struct wti_tensor *tensor)
{
	reader->tensor = tensor;
	reader->from = tensor->data;
	reader->left = tensor->count * tensor->item_bytes;
	reader->is_guarded = tensor->is_guarded;
	reader->rank = 0;
	reader->span = NULL;
	reader->room = reader->small;
	reader->room_offset = reader->room_used = 0;
	for (uint32_t i = 0; i < tensor->rank; i++)
		add_extent(reader, tensor->sizes[i],
			   tensor->strides[i] * (int64_t)tensor->stride_unit);
	if (!is_in_order(reader)) {
		if (reader->left > LOOSE_BYTES_MAX || (reader->is_guarded && !copy_span(reader)))
			return false;
	}
	if (reader->left > SMALL_BYTES)
		reader->room = malloc(reader->left < ROOM_BYTES ? reader->left : ROOM_BYTES);
	if (!reader->room)
		reader_end(reader);
	return reader->room != NULL;
}

/* ---- Bringing together ----------------------------------------------------------------------- */

#define COPY_ITEMS(type)                                                                           \
	for (int64_t i = 0; i < count; i++)                                                        \
	memcpy(to + (size_t)i * sizeof(type), from + i * stride, sizeof(type))

static void copy_row(char *to, const char *from, int64_t count, int64_t stride, size_t item_bytes)
{
	if (stride == (int64_t)item_bytes)
		memcpy(to, from, (size_t)count * item_bytes);
	else if (item_bytes == 1)
		COPY_ITEMS(uint8_t);
	else if (item_bytes == 2)
		COPY_ITEMS(uint16_t);
	else if (item_bytes == 4)
		COPY_ITEMS(uint32_t);
	else if (item_bytes == 8)
		COPY_ITEMS(uint64_t);
	else
		for (int64_t i = 0; i < count; i++)
			memcpy(to + (size_t)i * item_bytes, from + i * stride, item_bytes);
}

/* Like an odometer: an extent that is through makes the one before it go on. */
static void carry(struct reader *reader)
{
	for (uint32_t i = reader->rank; i-- > 0 && reader->at[i] == reader->sizes[i];) {
		reader->from -= reader->strides[i] * reader->sizes[i];
		reader->at[i] = 0;
		if (i == 0)
			return;
		reader->at[i - 1]++;
		reader->from += reader->strides[i - 1];
	}
}

static bool gather(struct reader *reader, char *to, size_t bytes)
{
	const size_t item_bytes = reader->tensor->item_bytes;
	const uint32_t last = reader->rank - 1;
	size_t left = bytes / item_bytes;

	if (reader->rank == 0) {
		if (reader->is_guarded)
			return wti_guarded_copy(to, reader->from, bytes);
		memcpy(to, reader->from, bytes);
		return true;
	}
	while (left) {
		size_t row = (size_t)(reader->sizes[last] - reader->at[last]);
		size_t n = row < left ? row : left;

		if (!n) /* extents and count that do not belong together */
			return false;
		if (!reader->is_guarded)
			copy_row(to, reader->from, (int64_t)n, reader->strides[last], item_bytes);
		else if (!wti_guarded_gather(to, reader->from, n, reader->strides[last],
					     item_bytes))
			return false;
		to += n * item_bytes;
		left -= n;
		reader->at[last] += (int64_t)n;
		reader->from += (int64_t)n * reader->strides[last];
		carry(reader);
	}
	return true;
}

/* Signs of reals, as torch would have them if it had not put it off. */
static void resolve(const struct wti_tensor *tensor, char *bytes, size_t count)
{
	bool is_complex = wti_dtype_real(tensor->dtype) != tensor->dtype;
	size_t size = is_complex ? tensor->item_bytes / 2 : tensor->item_bytes;

	for (size_t i = 0; i < count / size; i++) {
		bool is_imaginary = is_complex && i % 2;

		if (tensor->is_negative != (is_imaginary && tensor->is_conjugate))
			bytes[i * size + size - 1] = (char)(bytes[i * size + size - 1] ^ 0x80);
	}
}

static const void *give(void *self, size_t bytes)
{
	struct reader *reader = self;
	char *at;

	if (reader->room_offset == reader->room_used) {
		size_t n = reader->left < ROOM_BYTES ? (size_t)reader->left : ROOM_BYTES;

		if (n < bytes || !gather(reader, reader->room, n))
			return NULL;
		if (reader->tensor->is_conjugate || reader->tensor->is_negative)
			resolve(reader->tensor, reader->room, n);
		reader->left -= n;
		reader->room_offset = 0;
		reader->room_used = n;
	}
	at = reader->room + reader->room_offset;
	reader->room_offset += bytes;
	return reader->room_offset <= reader->room_used ? at : NULL;
}

/* ---- Digests --------------------------------------------------------------------------------- */

bool wti_tensor_is_direct(const struct wti_tensor *tensor)
{
	return tensor->is_packed && !tensor->is_guarded && !tensor->is_conjugate &&
	       !tensor->is_negative;
}

/* What another thread has exchanged meanwhile was read in vain. */
static bool holds(const struct wti_tensor *tensor)
{
	return !tensor->is_guarded || !tensor->impl || wti_layout_holds(tensor);
}

static bool digest_from(const struct wti_tensor *tensor, bool is_hash_alone, struct wt_digest *ret)
{
	struct reader reader;
	const struct wti_digest_source source = {give, &reader, tensor->dtype, tensor->count,
						 is_hash_alone};
	bool done;

	if (!reader_begin(&reader, tensor))
		return false;
	done = wti_digest_from(&source, ret);
	reader_end(&reader);
	return done && holds(tensor);
}

bool wti_tensor_digest(const struct wti_tensor *tensor, struct wt_digest *ret)
{
	if (tensor->count && !tensor->data)
		return false;
	if (!wti_tensor_is_direct(tensor) && tensor->count)
		return digest_from(tensor, false, ret);
	wti_digest(tensor->data, tensor->dtype, tensor->count, ret);
	return true;
}

bool wti_tensor_hash(const struct wti_tensor *tensor, uint64_t *ret_hash)
{
	struct wt_digest digest;

	if (tensor->count && !tensor->data)
		return false;
	if (!wti_tensor_is_direct(tensor) && tensor->count) {
		if (!digest_from(tensor, true, &digest))
			return false;
		*ret_hash = digest.hash;
	} else {
		*ret_hash = wti_digest_hash(tensor->data, tensor->count * tensor->item_bytes);
	}
	return true;
}

bool wti_tensor_bytes(const struct wti_tensor *tensor, wti_take_bytes *take, void *self)
{
	struct reader reader;
	bool done = true;

	if (!tensor->data)
		return tensor->count == 0;
	if (wti_tensor_is_direct(tensor))
		return take(self, tensor->data, tensor->count * tensor->item_bytes);
	if (!reader_begin(&reader, tensor))
		return false;
	while (done && reader.left) {
		size_t n = reader.left < ROOM_BYTES ? (size_t)reader.left : ROOM_BYTES;
		const void *bytes = give(&reader, n);

		done = bytes && take(self, bytes, n);
	}
	reader_end(&reader);
	return done && holds(tensor);
}
