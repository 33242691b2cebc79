/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading. A file whose writer was killed has neither texts nor the number of events: it is read up
 * to its end, without names. The file is read as a whole, up to a ceiling, as its texts are at its
 * end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "encode.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define TEXTS_MAX ((size_t)1 << 20)
#define FRAMES_MAX 1024u

struct wt_sbt_reader {
	char *path;
	struct wti_buf data;
	size_t at, end;
	bool cut; /* a number or a text went beyond the end */
	struct wt_text *texts;
	size_t text_count, text_capacity;
	struct wt_sbt_about about;
	uint64_t time;
	uint64_t read_count, stack_count;
	bool over; /* no more events can be read */
	struct wt_err damage;
};

static uint64_t number(struct wt_sbt_reader *reader)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		if (reader->at >= reader->end)
			break;
		byte = reader->data.data[reader->at++];
		if (shift < 64)
			result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return result;
	}
	reader->cut = true;
	return 0;
}

static struct wt_text text(struct wt_sbt_reader *reader)
{
	uint64_t bytes = number(reader);
	struct wt_text result = {(const char *)reader->data.data + reader->at, 0};

	if (reader->cut || bytes > reader->end - reader->at) {
		reader->cut = true;
		return result;
	}
	result.bytes = bytes;
	reader->at += bytes;
	return result;
}

/* To behind the type of a section; false: it is not there. */
static bool enter(struct wt_sbt_reader *reader, uint64_t offset, enum wti_sbt_section section)
{
	reader->cut = false;
	if (offset < WTI_SBT_HEADER_BYTES || offset >= reader->end ||
	    reader->data.data[offset] != section)
		return false;
	reader->at = (size_t)offset + 1;
	return true;
}

/* The last that was found counts: names are read before events, and matter less. */
static void damaged(struct wt_sbt_reader *reader, size_t at, const char *what)
{
	wti_err_at(&reader->damage, WT_E_FORMAT, (int64_t)at, "'%.200s', byte %zu: %s",
		   reader->path, at, what);
}

/* Without all of them events are read nevertheless. */
static void read_texts(struct wt_sbt_reader *reader, uint64_t offset)
{
	const size_t begin = offset < reader->end ? (size_t)offset : reader->end;
	uint64_t count = 0;

	if (!offset)
		return; /* its writer was killed */
	if (enter(reader, offset, WTI_SBT_TEXTS))
		count = number(reader);
	else
		reader->cut = true;
	for (uint64_t i = 0; i < count && !reader->cut; i++) {
		struct wt_text item = text(reader);

		if (!reader->cut && wti_grow(&reader->texts, reader->text_count + 1,
					     &reader->text_capacity, TEXTS_MAX))
			reader->cut = true;
		if (!reader->cut)
			reader->texts[reader->text_count++] = item;
	}
	if (reader->cut)
		damaged(reader, begin, "not all of the names that begin here can be read");
}

static void read_metadata(struct wt_sbt_reader *reader, uint64_t offset)
{
	struct wt_sbt_about *about = &reader->about;

	if (!enter(reader, offset, WTI_SBT_METADATA))
		return;
	about->application = text(reader);
	about->command_line = text(reader);
	number(reader); /* when it began */
	number(reader); /* and ended */
	about->host = text(reader);
	about->pid = (uint32_t)number(reader);
}

static int read_head(struct wt_sbt_reader *reader, struct wt_err *err)
{
	const uint8_t *data = reader->data.data;
	uint64_t events;

	if (reader->end < WTI_SBT_HEADER_BYTES || memcmp(data, "SBT", 4))
		return wti_err_at(err, WT_E_FORMAT, 0, "'%.200s', byte 0: no SBT file begins here",
				  reader->path);
	if (wti_get16(data + 4) != 0 || data[64])
		return wti_err_at(err, WT_E_FORMAT, 4,
				  "'%.200s', byte 4: version or compression of SBT is not known",
				  reader->path);
	read_texts(reader, wti_get64(data + 24));
	read_metadata(reader, wti_get64(data + 16));
	events = wti_get64(data + 40);
	reader->about.event_count = wti_get64(data + 56);
	/* Nothing was finished: what there is follows the header. */
	if (!events && !reader->about.event_count && reader->end > WTI_SBT_HEADER_BYTES &&
	    data[WTI_SBT_HEADER_BYTES] == WTI_SBT_EVENTS) {
		events = WTI_SBT_HEADER_BYTES;
		reader->about.event_count = UINT64_MAX;
	}
	if (enter(reader, events, WTI_SBT_EVENTS)) {
		reader->time = number(reader);
	} else {
		if (reader->about.event_count)
			damaged(reader, WTI_SBT_HEADER_BYTES,
				"no events where the header has them");
		reader->over = true;
		reader->at = reader->end;
	}
	return 0;
}

int wt_sbt_reader_open(const char *path, struct wt_sbt_reader **ret_reader, struct wt_err *err)
{
	struct wt_sbt_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	reader->damage.offset = -1;
	wti_buf_init(&reader->data, FILE_BYTES_MAX);
	reader->path = strdup(path);
	r = reader->path ? wti_file_read(path, FILE_BYTES_MAX, &reader->data, err)
			 : wti_err(err, WT_E_NOMEM, "out of memory");
	reader->end = reader->data.bytes;
	r = r ? r : read_head(reader, err);
	if (r) {
		wt_sbt_reader_free(reader);
		return r;
	}
	*ret_reader = reader;
	return 0;
}

void wt_sbt_reader_free(struct wt_sbt_reader *reader)
{
	if (!reader)
		return;
	wti_buf_release(&reader->data);
	free(reader->texts);
	free(reader->path);
	free(reader);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void pass_stack(struct wt_sbt_reader *reader)
{
	uint64_t count;

	number(reader);
	count = number(reader);
	if (count > FRAMES_MAX)
		reader->cut = true;
	for (uint64_t i = 0; i < 4 * count && !reader->cut; i++)
		number(reader);
	reader->stack_count++;
}

static void read_parameters(struct wt_sbt_reader *reader, struct wt_sbt_event *event)
{
	if (event->has_kernel_params) {
		for (size_t i = 0; i < 3; i++)
			event->kernel.grid[i] = (uint32_t)number(reader);
		for (size_t i = 0; i < 3; i++)
			event->kernel.block[i] = (uint32_t)number(reader);
		event->kernel.shared_mem_bytes = (uint32_t)number(reader);
		event->kernel.registers_per_thread = (uint32_t)number(reader);
	}
	if (event->has_memory_params) {
		event->memory.src_address = number(reader);
		event->memory.dst_address = number(reader);
		event->memory.size_bytes = number(reader);
	}
}

/* False: the file ends in it. */
static bool read_event(struct wt_sbt_reader *reader, struct wt_sbt_event *event)
{
	uint64_t name;
	uint8_t flags;

	*event = (struct wt_sbt_event){0};
	if (reader->end - reader->at < 2)
		return false;
	event->type = reader->data.data[reader->at++];
	flags = reader->data.data[reader->at++];
	event->has_kernel_params = flags & WTI_SBT_HAS_KERNEL;
	event->has_memory_params = flags & WTI_SBT_HAS_MEMORY;
	reader->time += number(reader);
	event->timestamp = reader->time;
	event->duration = flags & WTI_SBT_HAS_DURATION ? number(reader) : 0;
	event->device_id = (uint32_t)number(reader);
	event->stream_id = (uint32_t)number(reader);
	event->correlation_id = number(reader);
	name = number(reader);
	event->name = name < reader->text_count ? reader->texts[name] : (struct wt_text){"", 0};
	read_parameters(reader, event);
	if (flags & WTI_SBT_HAS_STACK)
		pass_stack(reader);
	return !reader->cut;
}

int wt_sbt_read(struct wt_sbt_reader *reader, struct wt_sbt_event *ret_event)
{
	size_t at = reader->at;
	struct wt_sbt_event event;

	if (reader->over || reader->read_count >= reader->about.event_count)
		return 0;
	if (!read_event(reader, &event)) {
		damaged(reader, at, "the file ends within its events: it is cut");
		reader->over = true;
		return 0;
	}
	reader->read_count++;
	*ret_event = event;
	return 1;
}

const struct wt_sbt_about *wt_sbt_reader_about(const struct wt_sbt_reader *reader)
{
	return &reader->about;
}

const struct wt_err *wt_sbt_reader_damage(const struct wt_sbt_reader *reader)
{
	return &reader->damage;
}

uint64_t wt_sbt_reader_stacks(const struct wt_sbt_reader *reader)
{
	return reader->stack_count;
}

uint64_t wt_sbt_reader_bytes(const struct wt_sbt_reader *reader)
{
	return reader->end;
}
