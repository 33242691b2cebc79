/* SPDX-License-Identifier: Apache-2.0 */
/* A record of a trace of TrainCheck's on its way to our events. For the importer's files only. */
#ifndef WTI_LEARN_TRAINCHECK_ROW_H
#define WTI_LEARN_TRAINCHECK_ROW_H

#include <stdbool.h>

#include "base/doc.h"
#include "base/folder.h"
#include "traincheck.h"

#define WTI_TRAINCHECK_PATH_BYTES 4096

struct wti_tc_track {
	uint32_t id;
	uint64_t seq;
	uint64_t last_ns; /* times of a track never go back */
};

struct wti_tc_process {
	int64_t pid;
	struct wt_writer *writer;
	struct wti_map strings; /* text: id, plus one */
	struct wti_map tids;    /* place in tracks, plus one */
	struct wti_map members; /* variables that were told; the last value's hash */
	struct wti_map calls;   /* func_call_id: sequence number */
	struct wti_tc_track *tracks;
	size_t track_count, track_capacity;
	int64_t step;
	char stage[64];
	int64_t rank;
	bool has_objects;
	bool has_calls;
	bool says_lost;    /* that calls were not recorded */
	bool says_replica; /* that other ranks hold the same model */
};

struct wti_traincheck_import {
	char folder[WTI_TRAINCHECK_PATH_BYTES];
	struct wti_folder made;
	bool is_finished; /* otherwise all that was made is taken back */
	struct wti_tc_process *processes;
	size_t count, capacity;
	uint64_t record_count;
};

/* One record on its way. */
struct wti_tc_row {
	struct wti_traincheck_import *import;
	struct wti_tc_process *process;
	struct wti_tc_track *track;
	const struct wti_doc *doc;
	const char *line;
	size_t line_bytes;
	uint64_t time_ns;
	struct wt_err *err;
	int failed;
};

/* Tells what the record says. */
void wti_tc_take(struct wti_tc_row *row);
int64_t wti_tc_number(const struct wti_doc *table, const char *key, int64_t otherwise);

#endif
