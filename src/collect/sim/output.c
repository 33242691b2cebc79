/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which track has which number, and the order in which rows reach the writer. Track numbers are the
 * same whether there is one stream or one a device.
 */
#include "base/bytes.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define PATH_BYTES 4096

/* ---- Tracks --------------------------------------------------------------------------------- */

static uint32_t host_track(uint32_t device)
{
	return 1 + device;
}

static uint32_t queue_track(const struct wti_sim_config *config, uint32_t device, uint32_t queue)
{
	return 1 + config->devices + device * WTI_SIM_QUEUES + queue;
}

const char *wti_sim_queue_name(char out[WTI_SIM_TRACK_NAME_BYTES], uint32_t device, uint32_t queue)
{
	static const char *const names[WTI_SIM_QUEUES] = {"compute", "side", "comm", "upload",
							  "download"};

	snprintf(out, WTI_SIM_TRACK_NAME_BYTES, "device %u %s", device, names[queue]);
	return out;
}

static int define_tracks(const struct wti_sim_config *config, struct wt_writer *writer,
			 uint32_t device)
{
	char name[WTI_SIM_TRACK_NAME_BYTES];
	struct wt_track track = {
		.id = host_track(device), .type = WT_TRACK_THREAD, .tid = 1 + device, .name = name};
	int r;

	track.name_bytes = (size_t)snprintf(name, sizeof(name), "host %u", device);
	r = wt_writer_track(writer, &track);
	for (uint32_t q = 0; q < WTI_SIM_QUEUES && r == 0; q++) {
		track.id = queue_track(config, device, q);
		track.type = WT_TRACK_QUEUE;
		track.tid = 0;
		track.device = device;
		track.name_bytes = strlen(wti_sim_queue_name(name, device, q));
		r = wt_writer_track(writer, &track);
	}
	return r;
}

/* ---- Streams -------------------------------------------------------------------------------- */

static int open_stream(struct wti_sim_output *output, uint32_t index, const char *folder,
		       struct wt_err *err)
{
	struct wti_sim_stream *stream = &output->streams[index];
	struct wt_writer_options options;
	char path[PATH_BYTES];

	wt_writer_options_init(&options);
	options.identity.pid = 1 + index;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(options.identity.command, sizeof(options.identity.command), "sim");
	if ((size_t)snprintf(path, sizeof(path), "%s/sim-%02u.wt", folder, index) >= sizeof(path))
		return wti_err(err, WT_E_LIMIT, "path too long '%s'", folder);
	stream->rows = calloc(WTI_SIM_ROWS_MAX, sizeof(*stream->rows));
	if (!stream->rows)
		return wti_err(err, WT_E_NOMEM, "out of memory for a stream");
	return wt_writer_create(path, &options, &stream->writer, err);
}

static int define_all(struct wti_sim_output *output, uint32_t index,
		      const struct wti_sim_program *program)
{
	struct wt_writer *writer = output->streams[index].writer;
	int r = 0;

	for (size_t i = 0; i < program->strings.count && r == 0; i++) {
		const struct wti_map_entry *entry = &program->strings.entries[i];

		r = wt_writer_string(writer, (uint32_t)i + 1, entry->text, entry->bytes);
	}
	for (uint32_t d = 0; d < output->config->devices && r == 0; d++) {
		if (output->stream_count == 1 || d == index)
			r = define_tracks(output->config, writer, d);
	}
	return r;
}

static void empty_chains(struct wti_sim_output *output)
{
	for (uint32_t d = 0; d < output->config->devices; d++) {
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++)
			output->chains[d][q] =
				(struct wti_sim_chain){.first = WTI_SIM_NONE, .last = WTI_SIM_NONE};
	}
}

int wti_sim_output_init(struct wti_sim_output *output, const struct wti_sim_config *config,
			const struct wti_sim_program *program, const char *folder,
			struct wt_err *err)
{
	*output = (struct wti_sim_output){.config = config};
	output->stream_count = config->stream_per_device ? config->devices : 1;
	empty_chains(output);
	for (uint32_t i = 0; i < output->stream_count; i++) {
		int r = open_stream(output, i, folder, err);

		if (r < 0)
			return r;
		r = define_all(output, i, program);
		if (r < 0)
			return wti_sim_output_error(output, r, err);
	}
	return 0;
}

void wti_sim_output_release(struct wti_sim_output *output)
{
	for (uint32_t i = 0; i < output->stream_count; i++) {
		wt_writer_free(output->streams[i].writer);
		free(output->streams[i].rows);
	}
	*output = (struct wti_sim_output){0};
}

static struct wti_sim_stream *stream_of(struct wti_sim_output *output, uint32_t device)
{
	return &output->streams[output->stream_count == 1 ? 0 : device];
}

/* ---- Rows ----------------------------------------------------------------------------------- */

int wti_sim_output_host(struct wti_sim_output *output, uint32_t device, uint16_t kind,
			uint64_t time_ns, const uint64_t *values, size_t value_count)
{
	static const struct wt_text no_text = {"", 0};

	return wt_writer_append(stream_of(output, device)->writer, kind, host_track(device),
				output->host_seq[device]++, time_ns, values, value_count, &no_text);
}

static int write_row(struct wti_sim_output *output, struct wt_writer *writer,
		     const struct wti_sim_row *row)
{
	const struct wti_sim_op *op = row->op;
	uint32_t track = queue_track(output->config, row->device, op->queue);
	uint64_t values[] = {
		[WT_DEVICE_OP_FIELD_OP] = op->op,
		[WT_DEVICE_OP_FIELD_NAME] = op->name,
		[WT_DEVICE_OP_FIELD_DEVICE] = row->device,
		[WT_DEVICE_OP_FIELD_QUEUE] = track,
		[WT_DEVICE_OP_FIELD_CLOCK] = WT_CLOCK_STREAM,
		[WT_DEVICE_OP_FIELD_GEOMETRY] = op->geometry,
		[WT_DEVICE_OP_FIELD_CORRELATION] = row->correlation,
		[WT_DEVICE_OP_FIELD_QUEUED] = row->queued_ns,
		[WT_DEVICE_OP_FIELD_SUBMITTED] = row->submitted_ns,
		[WT_DEVICE_OP_FIELD_STARTED] = row->started_ns,
		[WT_DEVICE_OP_FIELD_ENDED] = row->ended_ns,
		[WT_DEVICE_OP_FIELD_BYTES] = op->bytes,
	};

	return wt_writer_append(writer, WT_KIND_DEVICE_OP, track,
				output->queue_seq[row->device][op->queue]++, row->emitted_ns,
				values, WTI_COUNT(values), NULL);
}

static int write_chain(struct wti_sim_output *output, struct wti_sim_stream *stream,
		       struct wti_sim_chain *chain)
{
	int r = 0;

	for (uint32_t i = chain->first; i != WTI_SIM_NONE && r == 0; i = stream->rows[i].next)
		r = write_row(output, stream->writer, &stream->rows[i]);
	chain->first = chain->last = WTI_SIM_NONE;
	return r;
}

static int write_kept(struct wti_sim_output *output, struct wti_sim_stream *stream)
{
	int r = 0;

	for (uint32_t d = 0; d < output->config->devices; d++) {
		if (stream_of(output, d) != stream)
			continue;
		for (uint32_t q = 0; q < WTI_SIM_QUEUES && r == 0; q++)
			r = write_chain(output, stream, &output->chains[d][q]);
	}
	stream->row_count = 0;
	return r;
}

int wti_sim_output_op(struct wti_sim_output *output, const struct wti_sim_row *row)
{
	struct wti_sim_stream *stream = stream_of(output, row->device);
	struct wti_sim_chain *chain = &output->chains[row->device][row->op->queue];
	uint32_t index = stream->row_count++;
	struct wti_sim_row *kept = &stream->rows[index];

	*kept = *row;
	kept->next = WTI_SIM_NONE;
	if (kept->emitted_ns < chain->emitted_ns)
		kept->emitted_ns = chain->emitted_ns;
	chain->emitted_ns = kept->emitted_ns;
	if (chain->last == WTI_SIM_NONE)
		chain->first = index;
	else
		stream->rows[chain->last].next = index;
	chain->last = index;
	return stream->row_count == WTI_SIM_ROWS_MAX ? write_kept(output, stream) : 0;
}

/* ---- The end -------------------------------------------------------------------------------- */

int wti_sim_output_finish(struct wti_sim_output *output, uint64_t *ret_bytes, struct wt_err *err)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < output->stream_count; i++) {
		struct wti_sim_stream *stream = &output->streams[i];
		int r = write_kept(output, stream);

		if (r < 0)
			return wti_sim_output_error(output, r, err);
		r = wt_writer_finish(stream->writer, err);
		if (r < 0)
			return r;
		bytes += wt_writer_bytes(stream->writer);
	}
	*ret_bytes = bytes;
	return 0;
}

int wti_sim_output_error(struct wti_sim_output *output, int code, struct wt_err *err)
{
	/* A writer that has failed gives its reason to whoever flushes it. */
	for (uint32_t i = 0; i < output->stream_count; i++) {
		struct wt_writer *writer = output->streams[i].writer;
		int r = writer ? wt_writer_flush(writer, err) : 0;

		if (r < 0)
			return r;
	}
	return wti_err(err, code, "cannot write the stream: a value was refused");
}
