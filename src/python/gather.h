/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of events to columns: which columns a kind has, and how each is filled from the blocks that
 * the cursor hands out. No Python here; all of it runs without the interpreter's lock.
 *
 * A kind has the columns
 *   time_ns, stream, track, seq       of every event
 *   one a field                       names, enumerations, inline texts and call sites as texts;
 *                                     time stamps and lengths in ticks as ns, null if not known
 *   FIELD_bits                        beside a value whose type stands in another field: the number
 *                                     is null where it is none, the bits are exact
 * and on request
 *   ticks, track_name, FIELD_ticks    the raw time of the row; the track by name; raw time stamps
 *   any context variable, and rank
 */
#ifndef WTI_PYTHON_GATHER_H
#define WTI_PYTHON_GATHER_H

#include <wheeltap/trace.h>

#include "column.h"
#include "variable.h"

#define WTI_GATHER_COLUMNS_MAX 128u

/* Rows of one block, in order. */
struct wti_rows {
	struct wt_event first; /* of the first row */
	const uint32_t *rows;
	const int64_t *times_ns;
	size_t count;
};

struct wti_source;
typedef int (*wti_fill)(struct wti_source *source, const struct wti_rows *rows);

/* Where a column comes from. */
struct wti_source {
	wti_fill fill;
	char *name;
	const char *unit;
	const char *doc;
	enum wti_column_type type;
	const struct wt_field *field; /* as the plan saw it; NULL: of every event, or a context */
	int place;                    /* of the field, in the kind that the plan saw */
	struct wti_variable *variable;
	struct wti_column *column;
	/* Kinds of different streams may have it elsewhere or not at all (-1). */
	const struct wt_kind *found_kind;
	int found_index;
	uint32_t **codes;      /* by stream, by id of a name: code plus one */
	struct wti_map tracks; /* code plus one of a track's name */
};

struct wti_gather {
	const struct wt_trace *trace;
	struct wti_source sources[WTI_GATHER_COLUMNS_MAX];
	size_t count;
	uint32_t fields; /* that have to be decoded */
	size_t bytes_max;
};

/*
 * `kind` is a name that the trace or this build knows. `names` are the columns wanted; NULL: those
 * that a kind always has. `contexts` are added behind.
 */
int wti_gather_init(struct wti_gather *gather, const struct wt_trace *trace, const char *kind,
		    char *const *names, size_t name_count, char *const *contexts,
		    size_t context_count, struct wt_err *err);
void wti_gather_release(struct wti_gather *gather);
/* Begins new columns; those of before are the caller's business. */
int wti_gather_begin(struct wti_gather *gather, struct wt_err *err);
/* So many rows may come: room is made for them at once. Less is no harm. */
void wti_gather_expect(struct wti_gather *gather, size_t rows);
/* Rows of a kind in all blocks. */
size_t wti_trace_rows(const struct wt_trace *trace, const char *kind);
int wti_gather_rows(struct wti_gather *gather, const struct wti_rows *rows, struct wt_err *err);
size_t wti_gather_count(const struct wti_gather *gather); /* rows since the beginning */
/* No more rows: the columns may be taken from the sources, with a reference each. */
void wti_gather_seal(struct wti_gather *gather);

/* The kind of that name with the most fields that a stream of the trace has; NULL: unknown. */
const struct wt_kind *wti_trace_kind(const struct wt_trace *trace, const char *name);

/* 0 if the trace or this build knows the kind. */
int wti_check_kind(const struct wt_trace *trace, const char *name, struct wt_err *err);

/* fill.c: how the columns are filled. */
int wti_fill_time(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_ticks(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_stream(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_track(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_track_name(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_seq(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_bits32(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_bits64(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_measured(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_shown(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_name(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_enum(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_text(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_hex(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_call(struct wti_source *source, const struct wti_rows *rows);
int wti_fill_variable(struct wti_source *source, const struct wti_rows *rows);

#endif
