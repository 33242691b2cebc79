/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where drained events go. The drain knows this table of functions and nothing of what is behind:
 * the stream writer (streams.c) is one sink; an inspector that looks on while the program runs is
 * another. What a sink gets has been checked: records are whole, their sequence is without a hole
 * (a hole comes as a loss before), and their definitions came first.
 *
 * A sink cannot fail towards the drain. One that can go no further keeps why, and counts.
 */
#ifndef WTI_TRACE_SINK_H
#define WTI_TRACE_SINK_H

#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#define WTI_SINKS_MAX 4
#define WTI_SOURCES_MAX 65534u /* processes; with the two others no more than a reader opens */
#define WTI_SOURCE_SYSCALLS (WTI_SOURCES_MAX + 1) /* a number that no process has */

struct wti_recorded_source { /* a followed process; or what else has a stream of its own */
	uint32_t number;     /* from 1, in the order of joining */
	const char *file;    /* name of its file without the end; NULL: the number */
	uint32_t ppid;
	struct wt_identity identity;
};

struct wti_definition_view {
	uint16_t type; /* enum wti_definition_type */
	uint16_t payload_bytes;
	uint32_t id;
	const uint8_t *payload; /* private memory, 8-byte aligned */
};

struct wti_run_of_records {
	uint32_t track;
	uint32_t count;
	uint64_t first_seq;
	const uint8_t *data; /* private memory, 8-byte aligned */
	size_t bytes;
	uint64_t last_ticks;
};

struct wti_loss {
	uint32_t track;  /* 0: of the process as a whole */
	uint32_t reason; /* enum wt_lost */
	uint32_t of;     /* kind number; 0: any */
	uint64_t count;
	uint64_t first; /* sequence numbers, where the lost events had any; else 0 */
	uint64_t last;
	uint64_t from; /* ticks */
	uint64_t to;
};

struct wti_sink {
	void *self;
	/* What comes back stands for the process in all other calls; NULL is allowed. */
	void *(*begin)(void *self, const struct wti_recorded_source *source);
	void (*define)(void *self, void *stream, const struct wti_definition_view *definition);
	void (*records)(void *self, void *stream, const struct wti_run_of_records *run);
	void (*lost)(void *self, void *stream, const struct wti_loss *loss);
	void (*end)(void *self, void *stream);
	/* No event of any process from before `below` ticks can still arrive. */
	void (*watermark)(void *self, uint64_t below);
};

#endif
