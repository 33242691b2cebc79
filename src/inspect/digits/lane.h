/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run's part of the comparison: the calls of a track in the order in which they end, each with
 * the values that went in and came out, and values that were emitted on their own. Only a window
 * of them is kept. Texts are interned in a table that all lanes share, so that numbers mean the
 * same in all runs.
 */
#ifndef WTI_DIGITS_LANE_H
#define WTI_DIGITS_LANE_H

#include <wheeltap/trace.h>

#include "base/map.h"

#define WTI_LANE_VALUES_MAX 64u  /* of a call; more are counted */
#define WTI_SKETCH_BUCKETS 64u   /* of kind `sketch` */
#define WTI_LANE_ITEMS_MAX 2048u /* of the window */
#define WTI_LANE_BYTES_MAX (96u << 20)

struct wti_sampled {
	uint32_t seq;  /* of its event, low 32 bits */
	uint32_t name; /* interned: "owner.name", or what the argument is called */
	uint32_t shape;
	uint32_t dtype;
	int32_t position; /* of an argument; -1: a return; of no call: -1 */
	uint32_t flags;   /* of the tensor */
	uint64_t count, hash, nan, inf, zeros;
	double min, max;
	uint32_t elements, filled; /* sampled, and seen so far: in reals */
	uint32_t kept_bytes;       /* of them, as far as the window counts */
	double *reals;
	double *sketch;
};

struct wti_item {
	uint64_t token; /* path, callee, file and line: calls that correspond have the same */
	uint32_t path;  /* interned: callees from the outermost call, as text */
	uint32_t callee;
	uint32_t file; /* interned */
	uint32_t line;
	uint32_t seq;
	uint32_t action;
	uint32_t below; /* items of calls inside it */
	bool is_call, raised;
	bool is_inner; /* deep inside a library */
	int64_t step;  /* -1: none */
	struct wti_sampled *values;
	size_t value_count, value_capacity;
	size_t bytes; /* of values */
};

struct wti_word_ids {
	struct wti_map map;
};

void wti_texts_init(struct wti_word_ids *texts);
void wti_texts_release(struct wti_word_ids *texts);
uint32_t wti_texts_id(struct wti_word_ids *texts, const char *text,
		      size_t bytes); /* 0: "" or full */
const char *wti_texts_at(const struct wti_word_ids *texts, uint32_t id);

struct wti_side;

/* What a file is known by in another checkout or another installation: its name alone. */
const char *wti_file_name(const char *path);

/*
 * The track of that number of the stream of that number. `any_line`: calls correspond whatever
 * their line, as those of a program and of its next version do.
 */
int wti_lane_open(const struct wt_trace *trace, size_t stream, uint32_t track, bool any_line,
		  struct wti_word_ids *texts, struct wti_side **ret_lane, struct wt_err *err);
void wti_lane_free(struct wti_side *lane);
/* Reads until the window has `wanted` items, the run ends or the window is full. */
int wti_lane_fill(struct wti_side *lane, size_t wanted);
size_t wti_lane_count(const struct wti_side *lane);
struct wti_item *wti_lane_at(const struct wti_side *lane, size_t index);
void wti_lane_drop(struct wti_side *lane, size_t count);
/* Nothing more will come; calls that never ended are left out, and counted. */
bool wti_lane_ended(const struct wti_side *lane);
uint64_t wti_lane_unended(const struct wti_side *lane);
uint64_t wti_lane_left_out(const struct wti_side *lane);

#endif
