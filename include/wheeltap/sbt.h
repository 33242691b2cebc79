/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TraceSmith's traces, SBT 0.1, event by event: what SBTReader and SBTWriter do there. Times are
 * ns; events may stand in any order. `wheeltap import sbt` makes a run of such a file, `wheeltap
 * export --to sbt` writes one (docs/coming-from-tracesmith.md).
 */
#ifndef WHEELTAP_SBT_H
#define WHEELTAP_SBT_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* EventType. */
enum wt_sbt_type {
	WT_SBT_UNKNOWN,
	WT_SBT_KERNEL_LAUNCH,
	WT_SBT_KERNEL_COMPLETE,
	WT_SBT_MEMCPY_H2D,
	WT_SBT_MEMCPY_D2H,
	WT_SBT_MEMCPY_D2D,
	WT_SBT_MEMSET_DEVICE,
	WT_SBT_STREAM_SYNC,
	WT_SBT_DEVICE_SYNC,
	WT_SBT_EVENT_RECORD,
	WT_SBT_EVENT_SYNC,
	WT_SBT_STREAM_CREATE,
	WT_SBT_STREAM_DESTROY,
	WT_SBT_CONTEXT_CREATE,
	WT_SBT_CONTEXT_DESTROY,
	WT_SBT_MEM_ALLOC,
	WT_SBT_MEM_FREE,
	WT_SBT_MARKER,
	WT_SBT_RANGE_START,
	WT_SBT_RANGE_END,
	WT_SBT_NCCL_START,
	WT_SBT_NCCL_COMPLETE,
	WT_SBT_CUSTOM = 255,
};

/* TraceEvent. What a file does not have is 0. */
struct wt_sbt_event {
	uint64_t timestamp;
	uint64_t duration;
	uint64_t correlation_id;
	uint32_t device_id;
	uint32_t stream_id;
	uint8_t type; /* enum wt_sbt_type */
	bool has_kernel_params;
	bool has_memory_params;
	struct wt_text name; /* of a reader: valid as long as it is */
	struct {
		uint32_t grid[3], block[3];
		uint32_t shared_mem_bytes;
		uint32_t registers_per_thread;
	} kernel;
	struct {
		uint64_t src_address, dst_address, size_bytes;
	} memory;
};

/* ---- Reading ------------------------------------------------------------------------------ */

struct wt_sbt_reader;

/* TraceMetadata, as far as it is stored. Texts are valid as long as the reader. */
struct wt_sbt_about {
	struct wt_text application, command_line, host;
	uint32_t pid;
	uint64_t event_count; /* as the header has it; UINT64_MAX: its writer did not finish */
};

/* Files of up to 1 GiB. */
int wt_sbt_reader_open(const char *path, struct wt_sbt_reader **ret_reader, struct wt_err *err);
void wt_sbt_reader_free(struct wt_sbt_reader *reader);
const struct wt_sbt_about *wt_sbt_reader_about(const struct wt_sbt_reader *reader);
/* 1 and the next event, or 0: there is none, or the file is cut or damaged there. */
int wt_sbt_read(struct wt_sbt_reader *reader, struct wt_sbt_event *ret_event);
/* code 0: none. What was read before it is good. */
const struct wt_err *wt_sbt_reader_damage(const struct wt_sbt_reader *reader);
uint64_t wt_sbt_reader_stacks(const struct wt_sbt_reader *reader); /* that were passed over */
uint64_t wt_sbt_reader_bytes(const struct wt_sbt_reader *reader);  /* of the file */

/* ---- Writing ------------------------------------------------------------------------------ */

struct wt_sbt_writer;

/* Refuses to overwrite. */
int wt_sbt_writer_create(const char *path, struct wt_sbt_writer **ret_writer, struct wt_err *err);
/* Errors stick: wt_sbt_writer_finish() reports them. */
void wt_sbt_write(struct wt_sbt_writer *writer, const struct wt_sbt_event *event);
/* Names and the header: without them, readers find no names. The writer is still to be freed. */
int wt_sbt_writer_finish(struct wt_sbt_writer *writer, struct wt_err *err);
/* A file that is not finished is removed. */
void wt_sbt_writer_free(struct wt_sbt_writer *writer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
