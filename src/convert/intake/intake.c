/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking in: names and tracks get numbers, correlations are made unique, everything else becomes a
 * record of the sorter. Which correlations belong to operations is kept as bits in pages, as they
 * are counted up by whoever recorded them.
 */
#include "intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "own.h"

#define PAGE_BITS 15u /* 4 KiB */
#define PAGE_WORDS ((1u << PAGE_BITS) / 64)
#define PAGES_MAX ((size_t)16 << 10) /* 64 MiB */
#define SHARED_MAX ((size_t)1 << 20)
#define SHARED_SHIFT 32u /* where the second with the same number differs */

int wti_intake_open(const char *folder, struct wti_intake **ret_intake, struct wt_err *err)
{
	struct wti_intake *intake = calloc(1, sizeof(*intake));
	int r = intake ? wti_sorter_open(folder, 0, &intake->sorter, err)
		       : wti_err(err, WT_E_NOMEM, "out of memory");

	if (r) {
		free(intake);
		return r;
	}
	wti_map_init(&intake->names, WTI_INTAKE_NAMES_MAX);
	wti_map_init(&intake->tracks, WTI_INTAKE_TRACKS_MAX);
	wti_map_init(&intake->pids, WTI_INTAKE_PROCESSES_MAX);
	wti_map_init(&intake->op_pages, PAGES_MAX);
	wti_map_init(&intake->shared, SHARED_MAX);
	*ret_intake = intake;
	return 0;
}

void wti_intake_free(struct wti_intake *intake)
{
	if (!intake)
		return;
	for (size_t i = 0; i < intake->track_count; i++)
		free((char *)intake->track_items[i].track.name);
	for (size_t i = 0; i < intake->page_count; i++)
		free(intake->pages[i]);
	wti_map_release(&intake->names);
	wti_map_release(&intake->tracks);
	wti_map_release(&intake->pids);
	wti_map_release(&intake->op_pages);
	wti_map_release(&intake->shared);
	wti_sorter_free(intake->sorter);
	free(intake->track_items);
	free(intake->processes);
	free(intake->pages);
	free(intake->folder);
	free(intake);
}

/* ---- What is left out ------------------------------------------------------------------------ */

void wti_intake_leave_out(struct wti_intake *intake, const char *why, uint64_t count)
{
	size_t i = 0;

	if (!count)
		return;
	while (i < intake->reason_count && strcmp(intake->reasons[i].why, why))
		i++;
	if (i == WTI_INTAKE_REASONS_MAX)
		return;
	if (i == intake->reason_count)
		intake->reasons[intake->reason_count++] = (struct wti_intake_reason){why, 0};
	intake->reasons[i].count += count;
}

void wti_intake_lose(struct wti_intake *intake, const char *why, uint64_t count)
{
	wti_intake_leave_out(intake, why, count);
	intake->lost += count;
}

size_t wti_intake_reasons(const struct wti_intake *intake,
			  const struct wti_intake_reason **ret_reasons)
{
	*ret_reasons = intake->reasons;
	return intake->reason_count;
}

/* ---- Names, processes, tracks ---------------------------------------------------------------- */

/* Too many different ones share the number of this. */
static uint32_t name_overflow(struct wti_intake *intake)
{
	if (intake->names.failed)
		intake->failed = WT_E_NOMEM;
	wti_intake_leave_out(intake, "names beyond the first million", 1);
	return 0;
}

uint32_t wti_intake_name(struct wti_intake *intake, const char *text, size_t bytes)
{
	size_t before = intake->names.count;
	uint64_t *slot;

	if (!bytes)
		return 0;
	if (bytes > WTI_INTAKE_NAME_BYTES)
		bytes = WTI_INTAKE_NAME_BYTES;
	slot = wti_map_text(&intake->names, text, bytes);
	if (!slot)
		return name_overflow(intake);
	if (intake->names.count > before)
		*slot = intake->names.count;
	return (uint32_t)*slot;
}

struct wt_text wti_intake_name_text(const struct wti_intake *intake, uint32_t name)
{
	const struct wti_map_entry *entry;

	if (!name || name > intake->names.count)
		return (struct wt_text){"", 0};
	entry = &intake->names.entries[name - 1];
	return (struct wt_text){entry->text, entry->bytes};
}

uint32_t wti_intake_process(struct wti_intake *intake, const char *key, size_t bytes)
{
	size_t before = intake->pids.count;
	uint64_t *slot = wti_map_text(&intake->pids, key, bytes);

	if (!slot) {
		wti_intake_leave_out(intake, "processes beyond 1024: their events are in the first",
				     1);
		return 0;
	}
	if (intake->pids.count == before)
		return (uint32_t)*slot;
	if (wti_grow_zeroed(&intake->processes, intake->process_count + 1,
			    &intake->process_capacity, WTI_INTAKE_PROCESSES_MAX)) {
		intake->failed = WT_E_NOMEM;
		return 0;
	}
	*slot = intake->process_count++;
	return (uint32_t)*slot;
}

void wti_intake_process_set(struct wti_intake *intake, uint32_t process, uint32_t pid,
			    const char *command, size_t bytes)
{
	struct wti_intake_process *item;

	if (process >= intake->process_count)
		return;
	item = &intake->processes[process];
	item->pid = pid ? pid : item->pid;
	if (!bytes)
		return;
	bytes = bytes < sizeof(item->command) ? bytes : sizeof(item->command) - 1;
	memcpy(item->command, command, bytes);
	item->command[bytes] = '\0';
}

static uint32_t new_track(struct wti_intake *intake, const struct wti_intake_track *track)
{
	struct wti_taken_track *item;

	if (wti_grow_zeroed(&intake->track_items, intake->track_count + 1, &intake->track_capacity,
			    WTI_INTAKE_TRACKS_MAX)) {
		intake->failed = WT_E_NOMEM;
		return 0;
	}
	item = &intake->track_items[intake->track_count++];
	item->process = track->process;
	item->track = (struct wt_track){.id = (uint32_t)intake->track_count,
					.type = track->type,
					.tid = track->tid,
					.device = track->device};
	return item->track.id;
}

uint32_t wti_intake_track(struct wti_intake *intake, const struct wti_intake_track *track)
{
	size_t before = intake->tracks.count;
	size_t bytes = track->key_bytes < 256 ? track->key_bytes : 256;
	char key[8 + 256];
	uint64_t *slot;

	memcpy(key, &track->process, 4);
	memcpy(key + 4, &track->type, 4);
	memcpy(key + 8, track->key, bytes);
	slot = wti_map_text(&intake->tracks, key, 8 + bytes);
	if (!slot) {
		wti_intake_lose(intake, "events of threads and queues beyond 65536", 1);
		return 0;
	}
	if (intake->tracks.count > before)
		*slot = new_track(intake, track);
	return (uint32_t)*slot;
}

void wti_intake_track_name(struct wti_intake *intake, uint32_t track, const char *name,
			   size_t bytes)
{
	struct wt_track *item;
	char *copy;

	if (!track || track > intake->track_count || !bytes)
		return;
	bytes = bytes < 256 ? bytes : 256;
	item = &intake->track_items[track - 1].track;
	copy = strndup(name, bytes);
	if (!copy) {
		intake->failed = WT_E_NOMEM;
		return;
	}
	free((char *)item->name);
	item->name = copy;
	item->name_bytes = strlen(copy);
}

/* ---- Correlations ---------------------------------------------------------------------------- */

static uint64_t *page_of(struct wti_intake *intake, uint64_t correlation)
{
	uint64_t *slot = wti_map_number(&intake->op_pages, correlation >> PAGE_BITS);

	if (slot && *slot)
		return intake->pages[*slot - 1];
	if (!slot ||
	    wti_grow(&intake->pages, intake->page_count + 1, &intake->page_capacity, PAGES_MAX))
		return NULL;
	intake->pages[intake->page_count] = calloc(PAGE_WORDS, sizeof(uint64_t));
	if (!intake->pages[intake->page_count])
		return NULL;
	*slot = ++intake->page_count;
	return intake->pages[*slot - 1];
}

static uint64_t bit_of(uint64_t correlation)
{
	return (uint64_t)1 << (correlation % 64);
}

static size_t word_of(uint64_t correlation)
{
	return correlation / 64 % PAGE_WORDS;
}

bool wti_intake_is_op(const struct wti_intake *intake, uint64_t correlation)
{
	uint64_t page = wti_map_get(&intake->op_pages, correlation >> PAGE_BITS);

	return page && intake->pages[page - 1][word_of(correlation)] & bit_of(correlation);
}

void wti_intake_expect(struct wti_intake *intake, uint64_t correlation)
{
	uint64_t *page = correlation ? page_of(intake, correlation) : NULL;

	if (page)
		page[word_of(correlation)] |= bit_of(correlation);
}

uint64_t wti_intake_op_count(const struct wti_intake *intake, uint64_t correlation)
{
	return wti_intake_is_op(intake, correlation) ? 1 + wti_map_get(&intake->shared, correlation)
						     : 0;
}

uint64_t wti_intake_unique(uint64_t correlation, uint64_t k)
{
	return correlation ^ (k << SHARED_SHIFT);
}

/* Kernels of a graph have the number of the call that launched it. */
static uint64_t make_unique(struct wti_intake *intake, uint64_t correlation)
{
	uint64_t *more;

	if (!correlation)
		return 0;
	if (!wti_intake_is_op(intake, correlation)) {
		wti_intake_expect(intake, correlation);
		if (!wti_intake_is_op(intake, correlation))
			wti_intake_leave_out(intake, "launches: their numbers are too far apart",
					     1);
		return correlation;
	}
	more = wti_map_number(&intake->shared, correlation);
	if (!more) {
		wti_intake_leave_out(intake, "launches of operations that share a number", 1);
		return 0;
	}
	return wti_intake_unique(correlation, ++*more);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static bool is_known(struct wti_intake *intake, uint32_t track, uint64_t time)
{
	if (!track)
		return false; /* counted where it was asked for */
	if (time > WTI_INTAKE_TIME_MAX) {
		wti_intake_lose(intake, "events whose time is out of range", 1);
		return false;
	}
	intake->track_items[track - 1].used = true;
	return true;
}

static void add_span(struct wti_intake *intake, const struct wti_intake_span *span,
		     enum wti_intake_record type)
{
	struct wti_taken_span *record;

	/* The end of a begin is not known yet, and no smaller. */
	if (!is_known(intake, span->track, span->end > span->begin ? span->end : span->begin))
		return;
	record = (struct wti_taken_span *)wti_sorter_add(intake->sorter, sizeof(*record));
	if (!record)
		return;
	record->head.time = span->begin;
	/* One whose end is not known is around all that begins with it. */
	record->head.duration = type == WTI_TAKEN_BEGIN   ? UINT64_MAX
				: span->end > span->begin ? span->end - span->begin
							  : 0;
	/* Begins and ends apart are in the order of the file, where they are at one time. */
	if (type != WTI_TAKEN_BEGIN)
		record->head.rank = span->rank;
	record->head.type = type;
	record->track = span->track;
	record->name = span->name;
	record->flags = span->flags;
	record->correlation = span->correlation;
}

void wti_intake_span(struct wti_intake *intake, const struct wti_intake_span *span)
{
	add_span(intake, span, WTI_TAKEN_SPAN);
}

void wti_intake_begin(struct wti_intake *intake, const struct wti_intake_span *span)
{
	add_span(intake, span, WTI_TAKEN_BEGIN);
}

void wti_intake_end(struct wti_intake *intake, uint32_t track, uint64_t time)
{
	struct wti_taken_span *record;

	if (!is_known(intake, track, time))
		return;
	record = (struct wti_taken_span *)wti_sorter_add(intake->sorter, sizeof(*record));
	if (!record)
		return;
	record->head.time = time;
	record->head.duration = UINT64_MAX;
	record->head.type = WTI_TAKEN_END;
	record->track = track;
}

void wti_intake_flow(struct wti_intake *intake, uint32_t track, uint64_t time, uint32_t edge,
		     uint64_t id, enum wti_flow_part part)
{
	struct wti_taken_flow *record;

	if (!is_known(intake, track, time))
		return;
	record = (struct wti_taken_flow *)wti_sorter_add(intake->sorter, sizeof(*record));
	if (!record)
		return;
	record->head.time = time;
	record->head.rank = WTI_RANK_INSIDE;
	record->head.type = WTI_TAKEN_FLOW;
	record->track = track;
	record->edge = (uint16_t)edge;
	record->part = (uint16_t)part;
	record->id = id;
}

static size_t inline_count(const struct wt_kind *kind, size_t value_count)
{
	size_t count = 0;

	for (size_t i = 0; i < value_count; i++)
		count += wt_type_is_inline(kind->fields[i].type);
	return count;
}

void wti_intake_event(struct wti_intake *intake, uint16_t kind, uint32_t track, uint64_t time,
		      const uint64_t *values, size_t value_count, const struct wt_text *texts)
{
	size_t texts_count = inline_count(wt_kind_builtin(kind), value_count);
	size_t bytes = sizeof(struct wti_taken_event) + 8 * (value_count + texts_count);
	struct wti_taken_event *record;
	uint64_t *lengths;
	char *at;

	if (!is_known(intake, track, time))
		return;
	for (size_t i = 0; i < texts_count; i++)
		bytes += texts[i].bytes;
	record = (struct wti_taken_event *)wti_sorter_add(intake->sorter, bytes);
	if (!record)
		return;
	record->head.time = time;
	record->head.rank = WTI_RANK_INSIDE;
	record->head.type = WTI_TAKEN_EVENT;
	record->head.kind = kind;
	record->track = track;
	record->value_count = (uint16_t)value_count;
	record->text_count = (uint16_t)texts_count;
	memcpy(record->values, values, 8 * value_count);
	lengths = record->values + value_count;
	at = (char *)(lengths + texts_count);
	for (size_t i = 0; i < texts_count; i++) {
		lengths[i] = texts[i].bytes;
		if (texts[i].bytes)
			memcpy(at, texts[i].data, texts[i].bytes);
		at += texts[i].bytes;
	}
}

/* The run begins where the first operation does. */
static void note_start(struct wti_intake *intake, const struct wti_intake_op *op)
{
	uint32_t process = op->track ? intake->track_items[op->track - 1].process : 0;
	struct wti_intake_process *item =
		process < intake->process_count ? &intake->processes[process] : NULL;

	if (item && op->started && (!item->earliest || op->started < item->earliest))
		item->earliest = op->started;
}

uint64_t wti_intake_op(struct wti_intake *intake, const struct wti_intake_op *op)
{
	bool known = is_known(intake, op->track, op->started);
	uint64_t correlation = known ? make_unique(intake, op->correlation) : 0;
	const uint64_t values[] = {
		[WT_DEVICE_OP_FIELD_OP] = op->op,
		[WT_DEVICE_OP_FIELD_NAME] = op->name,
		[WT_DEVICE_OP_FIELD_DEVICE] = op->device,
		[WT_DEVICE_OP_FIELD_QUEUE] = 0, /* the track itself */
		[WT_DEVICE_OP_FIELD_GEOMETRY] = op->geometry,
		[WT_DEVICE_OP_FIELD_CORRELATION] = correlation,
		[WT_DEVICE_OP_FIELD_QUEUED] = op->queued,
		[WT_DEVICE_OP_FIELD_SUBMITTED] = op->submitted,
		[WT_DEVICE_OP_FIELD_STARTED] = op->started,
		[WT_DEVICE_OP_FIELD_ENDED] = op->ended,
		[WT_DEVICE_OP_FIELD_BYTES] = op->bytes,
	};

	if (!known)
		return 0;
	note_start(intake, op);
	wti_intake_event(intake, WT_KIND_DEVICE_OP, op->track, op->time ? op->time : op->ended,
			 values, sizeof(values) / sizeof(*values), NULL);
	return correlation;
}
