/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBT 0.1: a header of 72 bytes (its text says 64), then sections that begin with their type and
 * have no length: metadata, texts, devices, events. Numbers are LEB128. The texts stand behind the
 * events, so a file whose writer was killed has neither them nor the number of events: such a file
 * is read up to its end, without names.
 *
 * The file is mapped by reading it as a whole, up to a ceiling: its texts are at its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "formats.h"

#define HEADER_BYTES 72u
#define FILE_BYTES_MAX ((size_t)1 << 30)
#define TEXTS_MAX ((size_t)1 << 20)
#define FRAMES_MAX 1024u
/* Times above are since 1970: 2001 in ns. */
#define EPOCH_MIN_NS ((uint64_t)1000000000 * 1000000000)

enum section { METADATA = 1, TEXTS = 2, EVENTS = 4 };
enum flag { HAS_DURATION = 1, HAS_GEOMETRY = 2, HAS_MEMORY = 4, HAS_STACK = 8 };

/* Its types of events, by number. */
enum type {
	KERNEL_LAUNCH = 1,
	KERNEL_COMPLETE,
	COPY_TO_DEVICE,
	COPY_TO_HOST,
	COPY_ON_DEVICE,
	FILL,
	STREAM_SYNC,
	DEVICE_SYNC,
	EVENT_RECORD,
	EVENT_SYNC,
	STREAM_CREATE,
	STREAM_DESTROY,
	CONTEXT_CREATE,
	CONTEXT_DESTROY,
	ALLOC,
	FREE,
	MARKER,
	RANGE_START,
	RANGE_END,
	COLLECTIVE_START,
	COLLECTIVE_COMPLETE,
};

struct text {
	const char *data;
	size_t bytes;
};

struct sbt {
	struct wti_intake *intake;
	const char *path;
	const uint8_t *data;
	size_t at, end;
	bool cut; /* a number or a text went beyond the end */
	struct text *texts;
	size_t text_count, text_capacity;
	uint32_t process;
	uint64_t latest;
};

struct record {
	uint8_t type, flags;
	uint64_t time, duration, device, stream, correlation, name;
	uint64_t grid[6], memory[3];
};

static uint64_t number(struct sbt *sbt)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		if (sbt->at >= sbt->end)
			break;
		byte = sbt->data[sbt->at++];
		if (shift < 64)
			result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return result;
	}
	sbt->cut = true;
	return 0;
}

static struct text text(struct sbt *sbt)
{
	uint64_t bytes = number(sbt);
	struct text result = {(const char *)sbt->data + sbt->at, 0};

	if (sbt->cut || bytes > sbt->end - sbt->at) {
		sbt->cut = true;
		return result;
	}
	result.bytes = bytes;
	sbt->at += bytes;
	return result;
}

/* To behind the type of a section; false: it is not there. */
static bool enter(struct sbt *sbt, uint64_t offset, enum section section)
{
	sbt->cut = false;
	if (offset < HEADER_BYTES || offset >= sbt->end || sbt->data[offset] != section)
		return false;
	sbt->at = (size_t)offset + 1;
	return true;
}

static void read_texts(struct sbt *sbt, uint64_t offset)
{
	uint64_t count;

	if (!enter(sbt, offset, TEXTS))
		return;
	count = number(sbt);
	for (uint64_t i = 0; i < count && !sbt->cut; i++) {
		struct text item = text(sbt);

		if (sbt->cut ||
		    wti_grow(&sbt->texts, sbt->text_count + 1, &sbt->text_capacity, TEXTS_MAX))
			return;
		sbt->texts[sbt->text_count++] = item;
	}
}

static void read_metadata(struct sbt *sbt, uint64_t offset)
{
	struct text name;

	if (!enter(sbt, offset, METADATA))
		return;
	name = text(sbt);
	text(sbt); /* the command line */
	number(sbt);
	number(sbt);
	text(sbt); /* the host */
	wti_intake_process_set(sbt->intake, sbt->process, (uint32_t)number(sbt), name.data,
			       name.bytes);
}

/* ---- Events -----------------------------------------------------------------------------------
 */

static uint32_t name_of(struct sbt *sbt, const struct record *record)
{
	if (record->name >= sbt->text_count)
		return 0;
	return wti_intake_name(sbt->intake, sbt->texts[record->name].data,
			       sbt->texts[record->name].bytes);
}

static uint32_t queue_of(struct sbt *sbt, const struct record *record)
{
	char key[48], name[32];
	int bytes = snprintf(key, sizeof(key), "%llu/%llu", (unsigned long long)record->device,
			     (unsigned long long)record->stream);
	const struct wti_intake_track track = {.process = sbt->process,
					       .type = WT_TRACK_QUEUE,
					       .device = (uint32_t)record->device,
					       .key = key,
					       .key_bytes = (size_t)bytes};
	uint32_t number_of = wti_intake_track(sbt->intake, &track);

	bytes = snprintf(name, sizeof(name), "stream %llu", (unsigned long long)record->stream);
	wti_intake_track_name(sbt->intake, number_of, name, (size_t)bytes);
	return number_of;
}

static uint32_t geometry_of(struct sbt *sbt, const struct record *record)
{
	const uint64_t *g = record->grid;
	char name[128];
	int bytes;

	if (!(record->flags & HAS_GEOMETRY))
		return 0;
	bytes = snprintf(name, sizeof(name), "%ux%ux%u/%ux%ux%u", (uint32_t)g[0], (uint32_t)g[1],
			 (uint32_t)g[2], (uint32_t)g[3], (uint32_t)g[4], (uint32_t)g[5]);
	return wti_intake_name(sbt->intake, name, (size_t)bytes);
}

/* enum op, or -1. */
static int op_of(uint8_t type)
{
	static const int8_t ops[] = {
		[KERNEL_LAUNCH] = WT_OP_KERNEL,
		[KERNEL_COMPLETE] = WT_OP_KERNEL,
		[COPY_TO_DEVICE] = WT_OP_COPY,
		[COPY_TO_HOST] = WT_OP_COPY,
		[COPY_ON_DEVICE] = WT_OP_COPY,
		[FILL] = WT_OP_FILL,
		[STREAM_SYNC] = WT_OP_SYNC,
		[DEVICE_SYNC] = WT_OP_SYNC,
		[EVENT_RECORD] = WT_OP_RECORD,
		[EVENT_SYNC] = WT_OP_SYNC,
		[ALLOC] = WT_OP_ALLOC,
		[FREE] = WT_OP_FREE,
		[COLLECTIVE_START] = WT_OP_COLLECTIVE,
		[COLLECTIVE_COMPLETE] = WT_OP_COLLECTIVE,
	};

	if (!type || type >= WTI_COUNT(ops) || (type >= STREAM_CREATE && type <= CONTEXT_DESTROY) ||
	    (type >= MARKER && type <= RANGE_END))
		return -1;
	return ops[type];
}

static void take_op(struct sbt *sbt, const struct record *record, int op)
{
	struct wti_intake_op item = {.op = (uint32_t)op,
				     .name = name_of(sbt, record),
				     .device = (uint32_t)record->device,
				     .geometry = geometry_of(sbt, record),
				     .correlation = record->correlation,
				     .started = record->time,
				     .ended = record->time + record->duration,
				     .bytes = record->flags & HAS_MEMORY ? record->memory[2] : 0,
				     .track = queue_of(sbt, record)};

	wti_intake_op(sbt->intake, &item);
}

static void take_other(struct sbt *sbt, const struct record *record)
{
	const uint64_t values[] = {name_of(sbt, record), 0, record->correlation};
	const struct wti_intake_span span = {.track = queue_of(sbt, record),
					     .name = name_of(sbt, record),
					     .flags = WT_SPAN_ANNOTATION,
					     .rank = WTI_RANK_ANNOTATION,
					     .begin = record->time,
					     .end = record->time};

	if (record->type == RANGE_START)
		wti_intake_begin(sbt->intake, &span);
	else if (record->type == RANGE_END)
		wti_intake_end(sbt->intake, span.track, record->time);
	else
		wti_intake_event(sbt->intake, WT_KIND_MARK, span.track, record->time, values, 3,
				 NULL);
}

static void pass_stack(struct sbt *sbt)
{
	uint64_t count;

	number(sbt);
	count = number(sbt);
	if (count > FRAMES_MAX)
		sbt->cut = true;
	for (uint64_t i = 0; i < 4 * count && !sbt->cut; i++)
		number(sbt);
	wti_intake_leave_out(sbt->intake, "call stacks", 1);
}

/* False: the file ends in it. */
static bool read_record(struct sbt *sbt, struct record *record)
{
	if (sbt->end - sbt->at < 2)
		return false;
	record->type = sbt->data[sbt->at++];
	record->flags = sbt->data[sbt->at++];
	record->time += number(sbt);
	record->duration = record->flags & HAS_DURATION ? number(sbt) : 0;
	record->device = number(sbt);
	record->stream = number(sbt);
	record->correlation = number(sbt);
	record->name = number(sbt);
	for (size_t i = 0; i < 8 && record->flags & HAS_GEOMETRY; i++) {
		uint64_t value = number(sbt);

		if (i < WTI_COUNT(record->grid))
			record->grid[i] = value;
	}
	for (size_t i = 0; i < WTI_COUNT(record->memory) && record->flags & HAS_MEMORY; i++)
		record->memory[i] = number(sbt);
	if (record->flags & HAS_STACK)
		pass_stack(sbt);
	return !sbt->cut;
}

static void take(struct sbt *sbt, const struct record *record)
{
	int op = op_of(record->type);
	uint64_t end;

	if (__builtin_add_overflow(record->time, record->duration, &end) ||
	    end > WTI_INTAKE_TIME_MAX) {
		wti_intake_lose(sbt->intake, "events whose time is out of range", 1);
		return;
	}
	sbt->latest = end > sbt->latest ? end : sbt->latest;
	if (op >= 0)
		take_op(sbt, record, op);
	else
		take_other(sbt, record);
}

static void damaged(struct sbt *sbt, struct wti_import_file *file, size_t at, const char *what)
{
	wti_err_at(&file->damage, WT_E_FORMAT, (int64_t)at, "'%.200s', byte %zu: %s", sbt->path, at,
		   what);
}

static void read_events(struct sbt *sbt, uint64_t offset, uint64_t count,
			struct wti_import_file *file)
{
	struct record record = {0};

	if (!enter(sbt, offset, EVENTS)) {
		if (count)
			damaged(sbt, file, HEADER_BYTES, "no events where the header has them");
		return;
	}
	record.time = number(sbt);
	while (file->records < count) {
		size_t at = sbt->at;

		if (!read_record(sbt, &record)) {
			damaged(sbt, file, at, "the file ends within its events: it is cut");
			wti_intake_lose(sbt->intake, "events that could not be read",
					count == UINT64_MAX ? 1 : count - file->records);
			return;
		}
		take(sbt, &record);
		file->records++;
	}
}

/* ---- The file ---------------------------------------------------------------------------------
 */

static int read_all(struct sbt *sbt, struct wti_import_file *file, struct wt_err *err)
{
	const uint8_t *data = sbt->data;
	uint64_t count, events;

	if (sbt->end < HEADER_BYTES || memcmp(data, "SBT", 4))
		return wti_err_at(err, WT_E_FORMAT, 0, "'%.200s', byte 0: no SBT file begins here",
				  sbt->path);
	if (wti_get16(data + 4) != 0 || data[64])
		return wti_err_at(err, WT_E_FORMAT, 4,
				  "'%.200s', byte 4: version or compression of SBT is not known",
				  sbt->path);
	read_texts(sbt, wti_get64(data + 24));
	read_metadata(sbt, wti_get64(data + 16));
	events = wti_get64(data + 40);
	count = wti_get64(data + 56);
	/* Nothing was finished: what there is follows the header. */
	if (!events && !count && sbt->end > HEADER_BYTES && data[HEADER_BYTES] == EVENTS) {
		events = HEADER_BYTES;
		count = UINT64_MAX;
	}
	read_events(sbt, events, count, file);
	file->realtime = sbt->latest >= EPOCH_MIN_NS;
	return 0;
}

static int read_sbt(const char *path, struct wti_intake *intake, struct wti_import_file *ret_file,
		    struct wt_err *err)
{
	struct sbt sbt = {.intake = intake, .path = path};
	struct wti_buf data;
	int r;

	wti_buf_init(&data, FILE_BYTES_MAX);
	r = wti_file_read(path, FILE_BYTES_MAX, &data, err);
	sbt.data = data.data;
	sbt.end = data.bytes;
	sbt.process = wti_intake_process(intake, "", 0);
	r = r ? r : read_all(&sbt, ret_file, err);
	ret_file->bytes = data.bytes;
	free(sbt.texts);
	wti_buf_release(&data);
	return r;
}

const struct wti_import_format wti_import_sbt = {"sbt", read_sbt};
