/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts are sorted by digits of the time, which takes a few passes whatever the order was; records
 * of the same time are put in order afterwards. Parts that lie in the file are merged by a heap.
 */
#include "sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"

#define MEMORY_BYTES ((size_t)48 << 20)
/* Of a block of that memory: small files need one. */
#define BLOCK_BYTES ((size_t)4 * WTI_SORTED_BYTES_MAX)
#define PARTS_MAX 8192u
/* Of the buffers from which parts are merged, together and each at least. */
#define MERGE_BYTES ((size_t)32 << 20)
#define MERGE_PART_BYTES ((size_t)2 * WTI_SORTED_BYTES_MAX)
#define ADDED_MAX (((uint64_t)1 << 56) - 1)
#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)

struct entry {
	uint64_t time;
	const struct wti_sorted *record;
};

struct part {
	uint64_t at, end; /* of what is still in the file */
	uint8_t *data;    /* what has been read of it */
	size_t begin, bytes;
};

struct wti_sorter {
	char *folder;
	uint8_t **blocks; /* of memory; they stay until the end */
	size_t block_count, block_capacity, blocks_max, block_bytes;
	size_t filling; /* how many are in use: the last of them is being filled */
	size_t block_used;
	size_t used; /* bytes of records in all of them */
	struct entry *entries, *spare;
	size_t count, entry_capacity, spare_capacity;
	uint64_t added;
	int fd;
	uint64_t file_bytes;
	struct part *parts;
	size_t part_count, part_capacity;
	size_t part_bytes; /* of each buffer */
	uint32_t *heap;    /* of parts */
	size_t heap_count;
	size_t next; /* of entries, where all is in memory */
	bool moves;  /* the head of the heap was handed out */
	struct wt_err failure;
};

int wti_sorter_open(const char *folder, size_t memory, struct wti_sorter **ret_sorter,
		    struct wt_err *err)
{
	struct wti_sorter *sorter = calloc(1, sizeof(*sorter));

	if (!sorter)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	sorter->fd = -1;
	memory = memory ? memory : MEMORY_BYTES;
	sorter->block_bytes = memory < BLOCK_BYTES ? memory : BLOCK_BYTES;
	sorter->blocks_max = memory / sorter->block_bytes;
	sorter->folder = strdup(folder);
	if (!sorter->folder) {
		wti_sorter_free(sorter);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	*ret_sorter = sorter;
	return 0;
}

static void free_blocks(struct wti_sorter *sorter)
{
	for (size_t i = 0; i < sorter->block_count; i++)
		free(sorter->blocks[i]);
	free(sorter->blocks);
	sorter->blocks = NULL;
	sorter->block_count = sorter->block_capacity = sorter->filling = 0;
}

void wti_sorter_free(struct wti_sorter *sorter)
{
	if (!sorter)
		return;
	for (size_t i = 0; i < sorter->part_count; i++)
		free(sorter->parts[i].data);
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter->parts);
	free(sorter->heap);
	free(sorter->entries);
	free(sorter->spare);
	free_blocks(sorter);
	free(sorter->folder);
	free(sorter);
}

static int fail(struct wti_sorter *sorter, int code, const char *what)
{
	if (!sorter->failure.code)
		wti_err(&sorter->failure, code, "%s", what);
	return code;
}

int wti_sorter_status(const struct wti_sorter *sorter, struct wt_err *err)
{
	if (sorter->failure.code && err)
		*err = sorter->failure;
	return sorter->failure.code;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare(const struct wti_sorted *a, const struct wti_sorted *b)
{
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->duration != b->duration)
		return a->duration > b->duration ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->added < b->added ? -1 : a->added > b->added;
}

static int by_all(const void *a, const void *b)
{
	return compare(((const struct entry *)a)->record, ((const struct entry *)b)->record);
}

/* One pass, stable. False: all have the same digit. */
static bool sort_digit(const struct entry *from, struct entry *to, size_t count, unsigned shift)
{
	size_t at[DIGITS] = {0};
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		at[from[i].time >> shift & (DIGITS - 1)]++;
	if (at[from[0].time >> shift & (DIGITS - 1)] == count)
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t here = at[i];

		at[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i].time >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

static void sort_same_times(struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t end = i + 1;

		while (end < count && entries[end].time == entries[i].time)
			end++;
		if (end - i > 1)
			qsort(entries + i, end - i, sizeof(*entries), by_all);
		i = end;
	}
}

static int sort_entries(struct wti_sorter *sorter)
{
	if (!sorter->count)
		return 0;
	if (wti_grow(&sorter->spare, sorter->entry_capacity, &sorter->spare_capacity,
		     WTI_NO_CEILING))
		return fail(sorter, WT_E_NOMEM, "out of memory for sorting");
	for (size_t i = 0; i < sorter->count; i++)
		sorter->entries[i].time = sorter->entries[i].record->time;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct entry *from = sorter->entries;
		size_t capacity = sorter->entry_capacity;

		if (!sort_digit(from, sorter->spare, sorter->count, shift))
			continue;
		sorter->entries = sorter->spare;
		sorter->entry_capacity = sorter->spare_capacity;
		sorter->spare = from;
		sorter->spare_capacity = capacity;
	}
	sort_same_times(sorter->entries, sorter->count);
	return 0;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static int open_file(struct wti_sorter *sorter)
{
	char path[4096];

	if (sorter->fd >= 0)
		return 0;
	sorter->fd = open(sorter->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (sorter->fd >= 0)
		return 0;
	/* Not every file system has files without a name. */
	if ((size_t)snprintf(path, sizeof(path), "%s/.sort-XXXXXX", sorter->folder) >= sizeof(path))
		return fail(sorter, WT_E_LIMIT, "the path of the output is too long");
	sorter->fd = mkstemp(path);
	if (sorter->fd < 0)
		return wti_err_errno(&sorter->failure, "cannot make a file in", sorter->folder);
	unlink(path);
	return 0;
}

/* In order through the other array, which is free after sorting. */
static int write_entries(struct wti_sorter *sorter)
{
	uint8_t *out = (uint8_t *)sorter->spare;
	size_t room = sorter->spare_capacity * sizeof(*sorter->spare), used = 0;
	int r = 0;

	for (size_t i = 0; i < sorter->count && !r; i++) {
		const struct wti_sorted *record = sorter->entries[i].record;

		if (used + record->bytes > room) {
			r = wti_write_all(sorter->fd, out, used);
			used = 0;
		}
		if (record->bytes > room) {
			r = r ? r : wti_write_all(sorter->fd, record, record->bytes);
			continue;
		}
		memcpy(out + used, record, record->bytes);
		used += record->bytes;
	}
	r = r ? r : wti_write_all(sorter->fd, out, used);
	if (!r)
		return 0;
	errno = -r;
	return wti_err_errno(&sorter->failure, "cannot write to a file in", sorter->folder);
}

static int spill(struct wti_sorter *sorter)
{
	int r = sort_entries(sorter);

	if (!r && !sorter->count)
		return 0;
	r = r ? r : open_file(sorter);
	if (!r && wti_grow_zeroed(&sorter->parts, sorter->part_count + 1, &sorter->part_capacity,
				  PARTS_MAX))
		r = fail(sorter, WT_E_LIMIT, "too many events to be sorted");
	r = r ? r : write_entries(sorter);
	if (r)
		return r;
	sorter->parts[sorter->part_count++] =
		(struct part){.at = sorter->file_bytes, .end = sorter->file_bytes + sorter->used};
	sorter->file_bytes += sorter->used;
	sorter->count = sorter->used = sorter->filling = 0;
	return 0;
}

/* The next block is empty, after what fills all of them is in the file. */
static int next_block(struct wti_sorter *sorter)
{
	int r = sorter->filling == sorter->blocks_max ? spill(sorter) : 0;

	if (!r && sorter->filling == sorter->block_count) {
		r = wti_grow_zeroed(&sorter->blocks, sorter->block_count + 1,
				    &sorter->block_capacity, WTI_NO_CEILING);
		if (!r && !(sorter->blocks[sorter->block_count] = malloc(sorter->block_bytes)))
			r = WT_E_NOMEM;
		if (r)
			return fail(sorter, WT_E_NOMEM, "out of memory for sorting");
		sorter->block_count++;
	}
	sorter->filling += !r;
	sorter->block_used = 0;
	return r;
}

struct wti_sorted *wti_sorter_add(struct wti_sorter *sorter, size_t bytes)
{
	struct wti_sorted *record;

	bytes = (bytes + 7) / 8 * 8;
	if (sorter->failure.code)
		return NULL;
	if (bytes > WTI_SORTED_BYTES_MAX || bytes > sorter->block_bytes) {
		fail(sorter, WT_E_LIMIT, "an event is too large");
		return NULL;
	}
	if ((!sorter->filling || sorter->block_used + bytes > sorter->block_bytes) &&
	    next_block(sorter))
		return NULL;
	if (wti_grow(&sorter->entries, sorter->count + 1, &sorter->entry_capacity,
		     WTI_NO_CEILING)) {
		fail(sorter, WT_E_NOMEM, "out of memory for sorting");
		return NULL;
	}
	record = (struct wti_sorted *)(sorter->blocks[sorter->filling - 1] + sorter->block_used);
	sorter->added++;
	*record = (struct wti_sorted){.added = sorter->added & ADDED_MAX, .bytes = (uint32_t)bytes};
	sorter->entries[sorter->count++] = (struct entry){0, record};
	sorter->block_used += bytes;
	sorter->used += bytes;
	return record;
}

/* ---- Merging --------------------------------------------------------------------------------- */

static const struct wti_sorted *head_of(const struct part *part)
{
	return (const struct wti_sorted *)(part->data + part->begin);
}

/* Reads on until a whole record is there. False: the part is at its end, or failed. */
static bool fill(struct wti_sorter *sorter, struct part *part)
{
	size_t left = part->bytes - part->begin, room;
	ssize_t got;

	if (left >= sizeof(struct wti_sorted) && left >= head_of(part)->bytes)
		return true;
	if (part->at == part->end)
		return false;
	memmove(part->data, part->data + part->begin, left);
	room = sorter->part_bytes - left;
	if (room > part->end - part->at)
		room = (size_t)(part->end - part->at);
	got = wti_pread_all(sorter->fd, part->data + left, room, part->at);
	if (got < 0 || (size_t)got < room) {
		fail(sorter, WT_E_IO, "cannot read back what was sorted");
		return false;
	}
	part->begin = 0;
	part->bytes = left + room;
	part->at += room;
	return true;
}

static bool before(const struct wti_sorter *sorter, uint32_t a, uint32_t b)
{
	return compare(head_of(&sorter->parts[a]), head_of(&sorter->parts[b])) < 0;
}

static void sink(struct wti_sorter *sorter, size_t at)
{
	uint32_t moved = sorter->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= sorter->heap_count)
			break;
		if (child + 1 < sorter->heap_count &&
		    before(sorter, sorter->heap[child + 1], sorter->heap[child]))
			child++;
		if (!before(sorter, sorter->heap[child], moved))
			break;
		sorter->heap[at] = sorter->heap[child];
		at = child;
	}
	sorter->heap[at] = moved;
}

static int start_merge(struct wti_sorter *sorter)
{
	sorter->part_bytes = MERGE_BYTES / sorter->part_count;
	if (sorter->part_bytes < MERGE_PART_BYTES)
		sorter->part_bytes = MERGE_PART_BYTES;
	sorter->heap = calloc(sorter->part_count, sizeof(*sorter->heap));
	if (!sorter->heap)
		return fail(sorter, WT_E_NOMEM, "out of memory for sorting");
	for (size_t i = 0; i < sorter->part_count; i++) {
		sorter->parts[i].data = malloc(sorter->part_bytes);
		if (!sorter->parts[i].data)
			return fail(sorter, WT_E_NOMEM, "out of memory for sorting");
		if (fill(sorter, &sorter->parts[i]))
			sorter->heap[sorter->heap_count++] = (uint32_t)i;
	}
	for (size_t i = sorter->heap_count; i-- > 0;)
		sink(sorter, i);
	return sorter->failure.code;
}

int wti_sorter_finish(struct wti_sorter *sorter, struct wt_err *err)
{
	int r = sorter->failure.code;

	if (!r && !sorter->part_count) {
		r = sort_entries(sorter);
	} else if (!r) {
		r = spill(sorter);
		free_blocks(sorter);
		free(sorter->entries);
		free(sorter->spare);
		sorter->entries = sorter->spare = NULL;
		sorter->count = sorter->entry_capacity = sorter->spare_capacity = 0;
		r = r ? r : start_merge(sorter);
	}
	if (r && err)
		*err = sorter->failure;
	return r;
}

static const struct wti_sorted *next_of_parts(struct wti_sorter *sorter)
{
	struct part *part;

	if (sorter->moves && sorter->heap_count) {
		part = &sorter->parts[sorter->heap[0]];
		part->begin += head_of(part)->bytes;
		if (!fill(sorter, part))
			sorter->heap[0] = sorter->heap[--sorter->heap_count];
		if (sorter->heap_count)
			sink(sorter, 0);
	}
	sorter->moves = true;
	if (!sorter->heap_count || sorter->failure.code)
		return NULL;
	return head_of(&sorter->parts[sorter->heap[0]]);
}

const struct wti_sorted *wti_sorter_next(struct wti_sorter *sorter)
{
	if (sorter->part_count)
		return next_of_parts(sorter);
	return sorter->next < sorter->count ? sorter->entries[sorter->next++].record : NULL;
}
