/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TraceSmith's SBT: what its types of events are to us. Some of its sources write a kernel as two
 * events without a duration, launch and complete, that share a correlation: these are one operation
 * here, from the first to the second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/sbt.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "formats.h"

/* Operations whose end is still to come. */
#define OPEN_MAX ((size_t)1 << 20)
/* Times above are since 1970: 2001 in ns. */
#define EPOCH_MIN_NS ((uint64_t)1000000000 * 1000000000)

struct sbt {
	struct wti_intake *intake;
	uint32_t process;
	uint64_t latest;
	struct wti_map open; /* type, device and correlation: index plus one */
	struct wt_sbt_event *begun;
	size_t begun_count, begun_capacity;
};

static uint32_t name_of(const struct sbt *sbt, const struct wt_sbt_event *event)
{
	return wti_intake_name(sbt->intake, event->name.data, event->name.bytes);
}

static uint32_t queue_of(const struct sbt *sbt, const struct wt_sbt_event *event)
{
	char key[48], name[32];
	int bytes = snprintf(key, sizeof(key), "%u/%u", event->device_id, event->stream_id);
	const struct wti_intake_track track = {.process = sbt->process,
					       .type = WT_TRACK_QUEUE,
					       .device = event->device_id,
					       .key = key,
					       .key_bytes = (size_t)bytes};
	uint32_t number = wti_intake_track(sbt->intake, &track);

	bytes = snprintf(name, sizeof(name), "stream %u", event->stream_id);
	wti_intake_track_name(sbt->intake, number, name, (size_t)bytes);
	return number;
}

static uint32_t geometry_of(const struct sbt *sbt, const struct wt_sbt_event *event)
{
	const uint32_t *grid = event->kernel.grid, *block = event->kernel.block;
	char name[128];
	int bytes;

	if (!event->has_kernel_params)
		return 0;
	bytes = snprintf(name, sizeof(name), "%ux%ux%u/%ux%ux%u", grid[0], grid[1], grid[2],
			 block[0], block[1], block[2]);
	return wti_intake_name(sbt->intake, name, (size_t)bytes);
}

/* enum op, or -1. */
static int op_of(uint8_t type)
{
	static const int8_t ops[] = {
		[WT_SBT_UNKNOWN] = -1,
		[WT_SBT_KERNEL_LAUNCH] = WT_OP_KERNEL,
		[WT_SBT_KERNEL_COMPLETE] = WT_OP_KERNEL,
		[WT_SBT_MEMCPY_H2D] = WT_OP_COPY,
		[WT_SBT_MEMCPY_D2H] = WT_OP_COPY,
		[WT_SBT_MEMCPY_D2D] = WT_OP_COPY,
		[WT_SBT_MEMSET_DEVICE] = WT_OP_FILL,
		[WT_SBT_STREAM_SYNC] = WT_OP_SYNC,
		[WT_SBT_DEVICE_SYNC] = WT_OP_SYNC,
		[WT_SBT_EVENT_RECORD] = WT_OP_RECORD,
		[WT_SBT_EVENT_SYNC] = WT_OP_SYNC,
		[WT_SBT_STREAM_CREATE] = -1,
		[WT_SBT_STREAM_DESTROY] = -1,
		[WT_SBT_CONTEXT_CREATE] = -1,
		[WT_SBT_CONTEXT_DESTROY] = -1,
		[WT_SBT_MEM_ALLOC] = WT_OP_ALLOC,
		[WT_SBT_MEM_FREE] = WT_OP_FREE,
		[WT_SBT_MARKER] = -1,
		[WT_SBT_RANGE_START] = -1,
		[WT_SBT_RANGE_END] = -1,
		[WT_SBT_NCCL_START] = WT_OP_COLLECTIVE,
		[WT_SBT_NCCL_COMPLETE] = WT_OP_COLLECTIVE,
	};

	return type < WTI_COUNT(ops) ? ops[type] : -1;
}

static void put_op(const struct sbt *sbt, const struct wt_sbt_event *event)
{
	const struct wti_intake_op item = {.op = (uint32_t)op_of(event->type),
					   .name = name_of(sbt, event),
					   .device = event->device_id,
					   .geometry = geometry_of(sbt, event),
					   .correlation = event->correlation_id,
					   .started = event->timestamp,
					   .ended = event->timestamp + event->duration,
					   .bytes = event->memory.size_bytes,
					   .track = queue_of(sbt, event)};

	wti_intake_op(sbt->intake, &item);
}

/* ---- Operations in two parts ----------------------------------------------------------------- */

static bool begins(const struct wt_sbt_event *event)
{
	return (event->type == WT_SBT_KERNEL_LAUNCH || event->type == WT_SBT_NCCL_START) &&
	       !event->duration && event->correlation_id;
}

static bool ends(const struct wt_sbt_event *event)
{
	return (event->type == WT_SBT_KERNEL_COMPLETE || event->type == WT_SBT_NCCL_COMPLETE) &&
	       !event->duration && event->correlation_id;
}

static uint64_t *open_slot(struct sbt *sbt, const struct wt_sbt_event *event)
{
	struct {
		uint64_t correlation;
		uint32_t device, collective;
	} key = {event->correlation_id, event->device_id,
		 event->type == WT_SBT_NCCL_START || event->type == WT_SBT_NCCL_COMPLETE};

	return wti_map_text(&sbt->open, (const char *)&key, sizeof(key));
}

/* The other part may come first: files are not in order. */
static void take_part(struct sbt *sbt, const struct wt_sbt_event *event)
{
	uint64_t *slot = open_slot(sbt, event);
	struct wt_sbt_event *other = slot && *slot ? &sbt->begun[*slot - 1] : NULL;
	struct wt_sbt_event whole;

	if (other && begins(other) != begins(event)) {
		whole = begins(event) ? *event : *other;
		whole.duration = (begins(event) ? other : event)->timestamp - whole.timestamp;
		if ((int64_t)whole.duration < 0)
			whole.duration = 0;
		put_op(sbt, &whole);
		*other = (struct wt_sbt_event){0};
		*slot = 0;
		return;
	}
	if (!slot || wti_grow(&sbt->begun, sbt->begun_count + 1, &sbt->begun_capacity, OPEN_MAX)) {
		put_op(sbt, event);
		return;
	}
	sbt->begun[sbt->begun_count++] = *event;
	*slot = sbt->begun_count;
}

/* Those whose other part never came have no duration. */
static void take_rest(struct sbt *sbt)
{
	for (size_t i = 0; i < sbt->begun_count; i++)
		if (sbt->begun[i].type)
			put_op(sbt, &sbt->begun[i]);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void take_other(const struct sbt *sbt, const struct wt_sbt_event *event)
{
	const uint64_t values[] = {name_of(sbt, event), 0, event->correlation_id};
	const struct wti_intake_span span = {.track = queue_of(sbt, event),
					     .name = name_of(sbt, event),
					     .flags = WT_SPAN_ANNOTATION,
					     .rank = WTI_RANK_ANNOTATION,
					     .begin = event->timestamp,
					     .end = event->timestamp};

	if (event->type == WT_SBT_RANGE_START)
		wti_intake_begin(sbt->intake, &span);
	else if (event->type == WT_SBT_RANGE_END)
		wti_intake_end(sbt->intake, span.track, event->timestamp);
	else
		wti_intake_event(sbt->intake, WT_KIND_MARK, span.track, event->timestamp, values, 3,
				 NULL);
}

static void take(struct sbt *sbt, const struct wt_sbt_event *event)
{
	uint64_t end;

	if (__builtin_add_overflow(event->timestamp, event->duration, &end) ||
	    end > WTI_INTAKE_TIME_MAX) {
		wti_intake_lose(sbt->intake, "events whose time is out of range", 1);
		return;
	}
	sbt->latest = end > sbt->latest ? end : sbt->latest;
	if (begins(event) || ends(event))
		take_part(sbt, event);
	else if (op_of(event->type) >= 0)
		put_op(sbt, event);
	else
		take_other(sbt, event);
}

static void take_all(struct sbt *sbt, struct wt_sbt_reader *reader, struct wti_import_file *file)
{
	const struct wt_sbt_about *about = wt_sbt_reader_about(reader);
	struct wt_sbt_event event;

	wti_intake_process_set(sbt->intake, sbt->process, about->pid, about->application.data,
			       about->application.bytes);
	while (wt_sbt_read(reader, &event)) {
		take(sbt, &event);
		file->records++;
	}
	take_rest(sbt);
	file->damage = *wt_sbt_reader_damage(reader);
	if (file->damage.code && file->records < about->event_count)
		wti_intake_lose(
			sbt->intake, "events that could not be read",
			about->event_count == UINT64_MAX ? 1 : about->event_count - file->records);
	wti_intake_leave_out(sbt->intake, "call stacks", wt_sbt_reader_stacks(reader));
	file->bytes = wt_sbt_reader_bytes(reader);
	file->realtime = sbt->latest >= EPOCH_MIN_NS;
}

static int read_sbt(const char *path, struct wti_intake *intake, struct wti_import_file *ret_file,
		    struct wt_err *err)
{
	struct sbt sbt = {.intake = intake};
	struct wt_sbt_reader *reader;
	int r = wt_sbt_reader_open(path, &reader, err);

	if (r)
		return r;
	sbt.process = wti_intake_process(intake, "", 0);
	wti_map_init(&sbt.open, OPEN_MAX);
	take_all(&sbt, reader, ret_file);
	wti_map_release(&sbt.open);
	free(sbt.begun);
	wt_sbt_reader_free(reader);
	return 0;
}

const struct wti_import_format wti_import_sbt = {"sbt", read_sbt};
