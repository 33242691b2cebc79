/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an inspector has to say: findings, tables and series, in one model that every renderer
 * shows. A new inspector needs no new renderer.
 *
 * A result owns all that is put into it: texts are copied. Adding never fails visibly; when memory
 * runs out the result remembers it (wt_result_status) and the caller looks once at the end.
 */
#ifndef WHEELTAP_RESULT_H
#define WHEELTAP_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum wt_severity { WT_NOTE, WT_WARNING, WT_ERROR };

/* A finding: something a person should see. Absent texts are NULL, absent numbers -1. */
struct wt_finding {
	const char *code; /* WT-GRAD-001 */
	enum wt_severity severity;
	const char *title; /* one line that a newcomer understands */
	/* where */
	int64_t step;
	int64_t rank;
	const char *stage;
	const char *op;
	const char *file;
	int64_t line;
	/* evidence */
	const char *expected;
	const char *actual;
	const char *evidence; /* in words */
	int64_t first_step;
	int64_t last_step;
	uint64_t count;
	uint64_t case_count;  /* of so many that were looked at; 0: not counted */
	const char *ranks;    /* "0, 2-3"; of several */
	const char *means;    /* what it probably means */
	const char *hint;     /* what to try */
	const char *not_this; /* what would have been innocent, and why it is not that */
	const char *follows;  /* other findings that this one explains */
	bool is_to_end;       /* last_step is the last step of the run */
};

enum wt_cell_type {
	WT_CELL_EMPTY,
	WT_CELL_TEXT,
	WT_CELL_COUNT,   /* u64 */
	WT_CELL_NUMBER,  /* double */
	WT_CELL_BYTES,   /* u64 */
	WT_CELL_NS,      /* i64 nanoseconds */
	WT_CELL_PERCENT, /* double, 0 to 100 */
	WT_CELL_ID,      /* u64 that names something: a pid, a step */
};

struct wt_column {
	char *key;   /* in JSON and CSV */
	char *title; /* for people */
	enum wt_cell_type type;
	unsigned
		hide; /* 0: always shown; others give way on a narrow terminal, the highest first */
};

struct wt_cell {
	enum wt_cell_type type;
	union {
		char *text;
		uint64_t count;
		double number;
		int64_t ns;
	};
	size_t text_bytes; /* of WT_CELL_TEXT: any bytes, NUL among them */
};

struct wt_result;

struct wt_table {
	char *key;
	char *title;
	struct wt_column *columns;
	size_t column_count;
	struct wt_cell *cells; /* row by row */
	size_t row_count;
	size_t row_capacity;
	size_t cursor;           /* the next cell of the last row */
	struct wt_result *owner; /* NULL: swallows everything */
};

/*
 * y over x, one x a bucket. A bucket of several values has the last of them as `y` and, if the
 * series has extremes, the lowest and the highest of them: so that no spike is lost, however many
 * values there were. A bucket without a finite value has NaN in all three.
 */
struct wt_series {
	char *key;
	char *title;
	char *unit;
	double x_first;
	double x_step;
	double *y;
	size_t count;
	/* Extremes, all three or none: NULL. */
	double *low;
	double *high;
	uint64_t *nonfinite; /* values of the bucket that were NaN or infinite */
};

/* A single named value beside the tables: events, bytes, lost. */
struct wt_fact {
	char *key;
	char *title;
	struct wt_cell value;
};

struct wt_result {
	char *verb;
	/* clean, findings, not_measured; verbs that describe rather than judge set their own word
	 */
	char *status;
	struct wt_fact *facts;
	size_t fact_count;
	struct wt_finding *findings;
	size_t finding_count;
	struct wt_table **tables;
	size_t table_count;
	struct wt_series **series;
	size_t series_count;
	char **notes; /* what was not measured, what is damaged: a line each */
	size_t note_count;
	int failed; /* WT_E_NOMEM once memory ran out */
};

void wt_result_init(struct wt_result *result, const char *verb);
void wt_result_release(struct wt_result *result);
int wt_result_status(const struct wt_result *result);
void wt_result_set_status(struct wt_result *result, const char *status);
void wt_result_note(struct wt_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void wt_result_finding(struct wt_result *result, const struct wt_finding *finding);
/* Takes one out again; those behind it move up. */
void wt_result_finding_remove(struct wt_result *result, size_t index);
/* Another name for the file that a finding is about. */
void wt_result_finding_file(struct wt_result *result, size_t index, const char *file);
/* NULL: there is no fact of that key. */
const struct wt_fact *wt_result_fact(const struct wt_result *result, const char *key);
void wt_result_fact_text(struct wt_result *result, const char *key, const char *title,
			 const char *text);
void wt_result_fact_count(struct wt_result *result, const char *key, const char *title,
			  enum wt_cell_type type, uint64_t value);
void wt_result_fact_number(struct wt_result *result, const char *key, const char *title,
			   enum wt_cell_type type, double value);

/* A table never returned as NULL: after a failure it is one that swallows everything. */
struct wt_table *wt_result_table(struct wt_result *result, const char *key, const char *title);
void wt_table_column(struct wt_table *table, const char *key, const char *title,
		     enum wt_cell_type type);
/* The column added last may be left out on a narrow terminal, those with the highest rank first. */
void wt_table_hide(struct wt_table *table, unsigned rank);
/* Cells of the current row, in order; wt_table_row() begins a row. */
void wt_table_row(struct wt_table *table);
void wt_table_text(struct wt_table *table, const char *text, size_t bytes);
void wt_table_count(struct wt_table *table, uint64_t value);
void wt_table_number(struct wt_table *table, double value);
void wt_table_ns(struct wt_table *table, int64_t ns);
void wt_table_empty(struct wt_table *table);
/* NULL after a failure; `y` is zeroed and for the caller to fill. */
struct wt_series *wt_result_series(struct wt_result *result, const char *key, const char *title,
				   const char *unit, double x_first, double x_step, size_t count);
/* Gives it extremes, zeroed and for the caller to fill. False: out of memory, as the result says.
 */
bool wt_series_extremes(struct wt_series *series, struct wt_result *result);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
