/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a simulated run: one, or one a device. Rows of queues are kept back until there is
 * a block of them and then written queue by queue, since columns pack best when the rows of a track
 * follow one another.
 */
#ifndef WTI_COLLECT_SIM_OUTPUT_H
#define WTI_COLLECT_SIM_OUTPUT_H

#include <stdint.h>

#include <wheeltap/trace.h>

#include "sim.h"
#include "program.h"

#define WTI_SIM_TRACK_NAME_BYTES 32
#define WTI_SIM_ROWS_MAX 16384u /* as many as the writer puts into a block */

struct wti_sim_row {
	const struct wti_sim_op *op;
	uint32_t next; /* row of the same queue, or WTI_SIM_NONE */
	uint32_t device;
	uint64_t correlation;
	uint64_t emitted_ns;
	uint64_t started_ns;
	uint64_t ended_ns;
	uint64_t queued_ns; /* 0: not known */
	uint64_t submitted_ns;
};

struct wti_sim_chain { /* the rows of a queue that are kept back */
	uint32_t first;
	uint32_t last;
	uint64_t emitted_ns; /* of the last: what is emitted never goes back in time */
};

struct wti_sim_stream {
	struct wt_writer *writer;
	struct wti_sim_row *rows; /* WTI_SIM_ROWS_MAX */
	uint32_t row_count;
};

struct wti_sim_output {
	const struct wti_sim_config *config;
	struct wti_sim_stream streams[WTI_SIM_DEVICES_MAX];
	uint32_t stream_count;
	struct wti_sim_chain chains[WTI_SIM_DEVICES_MAX][WTI_SIM_QUEUES];
	uint64_t host_seq[WTI_SIM_DEVICES_MAX];
	uint64_t queue_seq[WTI_SIM_DEVICES_MAX][WTI_SIM_QUEUES];
};

const char *wti_sim_queue_name(char out[WTI_SIM_TRACK_NAME_BYTES], uint32_t device, uint32_t queue);

int wti_sim_output_init(struct wti_sim_output *output, const struct wti_sim_config *config,
			const struct wti_sim_program *program, const char *folder,
			struct wt_err *err);
void wti_sim_output_release(struct wti_sim_output *output);
/* An event of a host thread, at once. `values` as wt_writer_append() takes them; no texts. */
int wti_sim_output_host(struct wti_sim_output *output, uint32_t device, uint16_t kind,
			uint64_t time_ns, const uint64_t *values, size_t value_count);
/* An operation that is over; `next` is filled in here, emitted_ns raised where needed. */
int wti_sim_output_op(struct wti_sim_output *output, const struct wti_sim_row *row);
/* Writes what is kept back, ends the streams. */
int wti_sim_output_finish(struct wti_sim_output *output, uint64_t *ret_bytes, struct wt_err *err);
/* What made a call above fail: the error of the stream that has one. */
int wti_sim_output_error(struct wti_sim_output *output, int code, struct wt_err *err);

#endif
