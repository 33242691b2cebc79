/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the keys, and that some writers put numbers into texts. */
#include "device.h"

#include <stdio.h>
#include <string.h>

#define GEOMETRY_BYTES 128
#define PROPERTIES_BYTES 4096

static struct wti_events_scan begin(const struct wti_fragment *object)
{
	const char *data = object->bytes ? object->data : "";

	return (struct wti_events_scan){data, data + object->bytes, false};
}

bool wti_argument(const struct wti_fragment *object, const char *key,
		  struct wti_fragment *ret_value)
{
	struct wti_events_scan scan = begin(object);
	struct wti_fragment name, value;

	while (object->bytes && wti_scan_member(&scan, &name, &value)) {
		if (wti_piece_is(&name, key)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static uint64_t number_of(const struct wti_fragment *piece)
{
	int64_t number = 0;

	wti_piece_number(piece, &number);
	return (uint64_t)number;
}

static void take_device(struct wti_device_arguments *args, const struct wti_fragment *key,
			const struct wti_fragment *value)
{
	int64_t number;

	if (wti_piece_is(key, "correlation"))
		args->correlation = number_of(value);
	else if (wti_piece_is(key, "device"))
		args->device = *value;
	else if (wti_piece_is(key, "stream"))
		args->queue = *value;
	else if (wti_piece_is(key, "bytes") || wti_piece_is(key, "size"))
		args->bytes = number_of(value);
	else if (wti_piece_is(key, "grid"))
		args->grid = *value;
	else if (wti_piece_is(key, "block"))
		args->block = *value;
	else if (wti_piece_is(key, "queued"))
		args->queued = wti_piece_time(value, &number) && number > 0 ? (uint64_t)number : 0;
	else if (wti_piece_is(key, "memory bandwidth (GB/s)"))
		args->bandwidth = *value;
	else if (wti_piece_is(key, "wait_on_stream"))
		args->wait_on = *value;
	else if (wti_piece_is(key, "wait_on_cuda_event_record_corr_id") &&
		 wti_piece_number(value, &number) && number > 0 && number < UINT32_MAX) {
		args->record = (uint64_t)number;
		args->has_record = true;
	}
}

struct wti_device_arguments wti_device_arguments(const struct wti_fragment *arguments)
{
	struct wti_events_scan scan = begin(arguments);
	struct wti_device_arguments args = {.wait_on.data = ""};
	struct wti_fragment key, value;

	while (arguments->bytes && wti_scan_member(&scan, &key, &value))
		take_device(&args, &key, &value);
	return args;
}

struct wti_memory_arguments wti_memory_arguments(const struct wti_fragment *arguments)
{
	struct wti_events_scan scan = begin(arguments);
	struct wti_memory_arguments args = {.device_type = -1};
	struct wti_fragment key, value;

	while (arguments->bytes && wti_scan_member(&scan, &key, &value)) {
		uint64_t number = number_of(&value);

		if (wti_piece_is(&key, "Device Type"))
			args.device_type = (int64_t)number;
		else if (wti_piece_is(&key, "Device Id"))
			args.device = (int64_t)number;
		else if (wti_piece_is(&key, "Addr"))
			args.address = number;
		else if (wti_piece_is(&key, "Bytes"))
			args.bytes = (int64_t)number;
		else if (wti_piece_is(&key, "Total Allocated"))
			args.allocated = number;
		else if (wti_piece_is(&key, "Total Reserved"))
			args.reserved = number;
	}
	return args;
}

/* "[128, 1, 1]" as "128x1x1". */
static size_t put_extents(char *out, size_t room, const struct wti_fragment *list)
{
	size_t bytes = 0;

	for (size_t i = 0; i < list->bytes && bytes < room; i++) {
		char c = list->data[i];

		if (c >= '0' && c <= '9')
			out[bytes++] = c;
		else if (c == ',')
			out[bytes++] = 'x';
	}
	return bytes;
}

uint32_t wti_geometry(struct wti_intake *intake, const struct wti_device_arguments *args)
{
	char text[GEOMETRY_BYTES];
	size_t bytes;

	if (!args->grid.bytes || !args->block.bytes)
		return 0;
	bytes = put_extents(text, sizeof(text) / 2 - 1, &args->grid);
	text[bytes++] = '/';
	bytes += put_extents(text + bytes, sizeof(text) / 2, &args->block);
	return wti_intake_name(intake, text, bytes);
}

/* An object on one line. */
static uint32_t one_line(struct wti_intake *intake, const struct wti_fragment *object)
{
	char text[PROPERTIES_BYTES];
	size_t bytes = 0;

	for (size_t i = 0; i < object->bytes && bytes < sizeof(text); i++) {
		bool space = (unsigned char)object->data[i] <= ' ';

		if (space && bytes && text[bytes - 1] == ' ')
			continue;
		text[bytes++] = space ? ' ' : object->data[i];
	}
	return wti_intake_name(intake, text, bytes);
}

void wti_device_list_read(struct wti_device_list *devices, struct wti_intake *intake,
			  const struct wti_fragment *list)
{
	struct wti_events_scan scan = begin(list);
	struct wti_fragment item, id;
	char name[32];

	devices->count = 0;
	while (devices->count < WTI_DEVICES_MAX && wti_scan_item(&scan, &item)) {
		int bytes = snprintf(name, sizeof(name), "device %zu", devices->count);

		if (wti_argument(&item, "id", &id) && id.bytes < 16)
			bytes = snprintf(name, sizeof(name), "device %.*s", (int)id.bytes, id.data);
		devices->items[devices->count].name = wti_intake_name(intake, name, (size_t)bytes);
		devices->items[devices->count++].properties = one_line(intake, &item);
	}
}

void wti_device_list_emit(const struct wti_device_list *devices, struct wti_intake *intake,
			  uint32_t process, uint64_t time)
{
	const struct wti_intake_track about = {
		.process = process, .type = WT_TRACK_RECORDER, .key = "devices", .key_bytes = 7};
	uint32_t track = devices->count ? wti_intake_track(intake, &about) : 0;

	wti_intake_track_name(intake, track, "devices", 7);
	for (size_t i = 0; i < devices->count; i++) {
		const uint64_t values[] = {devices->items[i].name, 0, devices->items[i].properties};

		wti_intake_event(intake, WT_KIND_ATTRIBUTES, track, time, values, 3, NULL);
	}
}
