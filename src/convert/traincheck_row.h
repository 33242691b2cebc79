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
	int64_t step;     /* INT64_MIN: not emitted yet */
	char stage[64];
	uint64_t stepped;    /* the call_begin of a step whose outcome is coming in; 0: none */
	struct wti_map meta; /* other meta variables that were emitted: hash of the value */
};

struct wti_tc_process {
	int64_t pid;
	struct wt_writer *writer;
	struct wti_map strings; /* text: id, plus one */
	/* Place in tracks, plus one. Variables have tracks of their own, as they come from files of
	 * their own: all of one file may lie before all of the other, and the times of a track
	 * never go back. */
	struct wti_map tids, variable_tids;
	struct wti_map managers;   /* context managers: what they were made with, which is active */
	struct wti_map attributes; /* variables: what was last said of them, an id of a text */
	struct wti_map members;    /* variables that were emitted; the last value's hash */
	struct wti_map calls;      /* func_call_id: sequence number */
	struct wti_tc_track *tracks;
	size_t track_count, track_capacity;
	int64_t step;
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

/* Events, as traincheck_events.c writes them. */
uint32_t wti_tc_string(struct wti_tc_row *row, const char *text);
uint64_t wti_tc_append(struct wti_tc_row *row, uint16_t kind, const uint64_t *values, size_t count,
		       const char *text);
const char *wti_tc_text_in(const struct wti_doc *table, const char *key);

/* Where the record stands: step, stage, rank and every other meta variable (traincheck_meta.c). */
void wti_tc_where(struct wti_tc_row *row);
/* Context managers are meta variables while they are active. */
void wti_tc_manager(struct wti_tc_row *row, const char *function, bool is_begin);

/* Emits what the record says. */
void wti_tc_take(struct wti_tc_row *row);
int64_t wti_tc_number(const struct wti_doc *table, const char *key, int64_t otherwise);

#endif
