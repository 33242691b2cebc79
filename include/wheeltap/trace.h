/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing wheeltap traces.
 *
 * A run is a folder with streams (*.wt), one a process. A stream is a sequence of blocks, each the
 * rows of one event kind in columns. docs/format.md is the specification.
 *
 *   wt_writer   appends events to one stream
 *   wt_reader   one stream: its schema, definitions, blocks; decodes a block into a wt_batch
 *   wt_trace    all streams of a run (or a single file), with one clock
 *   wt_cursor   the events of a trace that a wt_query asks for, in the defined order:
 *               by time, then stream, then track, then sequence number
 *
 * Memory is bounded by the blocks that overlap in time, not by the size of the trace.
 */
#ifndef WHEELTAP_TRACE_H
#define WHEELTAP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>
#include <wheeltap/kinds.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Schema ------------------------------------------------------------------------------- */

enum wt_type {
	WT_TYPE_U32 = 1,
	WT_TYPE_U64 = 2,
	WT_TYPE_I32 = 3,
	WT_TYPE_I64 = 4,
	WT_TYPE_F64 = 5,
	WT_TYPE_NAME = 6, /* id of an interned string */
	WT_TYPE_HASH = 7,
	WT_TYPE_TICKS = 8,
	WT_TYPE_STR = 9, /* inline text */
	WT_TYPE_ENUM = 10,
	WT_TYPE_BYTES = 11, /* inline bytes that are no text: numbers of a tensor */
};

/* Whether values of the type are bytes of their own length rather than 64 bits. */
static inline bool wt_type_is_inline(uint8_t type)
{
	return type == WT_TYPE_STR || type == WT_TYPE_BYTES;
}

/* How a column is predicted before it is packed. */
enum wt_transform {
	WT_PLAIN = 0,
	WT_DELTA = 1,
	WT_XOR = 2,
	WT_REL = 3,
	WT_REL_DELTA = 4,
	WT_REL_PREVIOUS = 5,
};

#define WT_FIELDS_MAX 32
#define WT_FIELD_TIME 0xff /* as `relative_to`: the time of the row */

struct wt_field {
	const char *name;
	const char *unit;
	const char *doc;
	uint8_t type;        /* enum wt_type */
	uint8_t transform;   /* enum wt_transform */
	uint8_t relative_to; /* index of a field, or WT_FIELD_TIME */
	uint8_t enum_count;
	const char *const *enum_names; /* WT_TYPE_ENUM */
};

struct wt_kind {
	const char *name;
	const char *doc;
	uint16_t number; /* enum wt_kind_number */
	uint16_t field_count;
	const struct wt_field *fields;
};

/* The kinds that this build knows. NULL if there is none of that number or name. */
const struct wt_kind *wt_kind_builtin(uint16_t number);
const struct wt_kind *wt_kind_by_name(const char *name);
size_t wt_kind_builtin_count(void);
const struct wt_kind *wt_kind_builtin_at(size_t index);
/* Index of a field, or -1. */
int wt_kind_field(const struct wt_kind *kind, const char *name);

/* ---- Clocks ------------------------------------------------------------------------------- */

enum wt_clock_domain {
	WT_CLOCK_STREAM = 0, /* whatever the stream's header says */
	WT_CLOCK_TSC = 1,
	WT_CLOCK_MONOTONIC = 2, /* ns */
	WT_CLOCK_MONOTONIC_RAW = 3,
	WT_CLOCK_REALTIME = 4,
	WT_CLOCK_DEVICE = 64, /* and above: clocks of devices */
};

/* ---- Definitions -------------------------------------------------------------------------- */

enum wt_track_type {
	WT_TRACK_THREAD = 1,
	WT_TRACK_QUEUE = 2,
	WT_TRACK_RANK = 3,
	WT_TRACK_RECORDER = 4,
};

struct wt_track {
	uint32_t id;   /* from 1, within its stream */
	uint32_t type; /* enum wt_track_type */
	uint32_t tid;
	uint32_t device;
	const char *name; /* of name_bytes bytes, any bytes */
	size_t name_bytes;
};

struct wt_module {
	uint64_t base;
	uint64_t bytes;
	const uint8_t *build_id;
	size_t build_id_bytes;
	const char *path;
	size_t path_bytes;
};

struct wt_site {
	uint32_t file;     /* string */
	uint32_t function; /* string */
	uint32_t line;
};

struct wt_text {
	const char *data;
	size_t bytes;
};

/* Who a stream belongs to. */
struct wt_identity {
	uint8_t boot[16];
	uint32_t pid;
	uint32_t exec; /* how often this process had called exec */
	uint64_t start_time;
	uint32_t segment; /* of a flight recording; otherwise 0 */
	uint32_t clock;   /* enum wt_clock_domain of all time stamps */
	char command[16];
};

/* ---- Writing ------------------------------------------------------------------------------ */

struct wt_writer;

struct wt_writer_options {
	size_t size;        /* sizeof(struct wt_writer_options) */
	int level;          /* of zstd; 0: do not compress. Default 1 */
	uint64_t bytes_max; /* WT_E_LIMIT beyond; 0: none */
	struct wt_identity identity;
};

void wt_writer_options_init(struct wt_writer_options *options);

/* Refuses to overwrite. */
int wt_writer_create(const char *path, const struct wt_writer_options *options,
		     struct wt_writer **ret_writer, struct wt_err *err);
/* Closes without an index when not finished. */
void wt_writer_free(struct wt_writer *writer);

int wt_writer_string(struct wt_writer *writer, uint32_t id, const char *data, size_t bytes);
int wt_writer_track(struct wt_writer *writer, const struct wt_track *track);
int wt_writer_stack(struct wt_writer *writer, uint32_t id, const uint64_t *frames, size_t count);
int wt_writer_module(struct wt_writer *writer, uint32_t id, const struct wt_module *module);
int wt_writer_site(struct wt_writer *writer, uint32_t id, const struct wt_site *site);
/* The same moment in the stream's clock and in `domain`. */
int wt_writer_clock(struct wt_writer *writer, uint32_t track, uint64_t seq, uint64_t ticks,
		    uint32_t domain, uint64_t value, uint32_t error_ns);

/*
 * One event. `values` has a slot for each of the first `value_count` fields of the kind (floats as
 * their bits, signed numbers sign-extended; the slot of a text field is not read), `texts` an entry
 * for each text field among them. Fields beyond are 0 or empty: kinds grow, callers need not.
 */
int wt_writer_append(struct wt_writer *writer, uint16_t kind, uint32_t track, uint64_t seq,
		     uint64_t ticks, const uint64_t *values, size_t value_count,
		     const struct wt_text *texts);
/* One record as it stands in a ring, already checked to be whole. */
struct wti_record;
int wt_writer_record(struct wt_writer *writer, uint32_t track, uint64_t seq,
		     const struct wti_record *record);

/* Seals what is open and hands it to the file system. */
int wt_writer_flush(struct wt_writer *writer, struct wt_err *err);
/* Flush, index, close. The writer is still to be freed. */
int wt_writer_finish(struct wt_writer *writer, struct wt_err *err);
uint64_t wt_writer_bytes(const struct wt_writer *writer);
/* What the file has at most if it is finished now, without what waits for a flush. */
uint64_t wt_writer_finished_bytes(const struct wt_writer *writer);
/* Another ceiling than that of the options, for all that is not written yet; 0: none. */
void wt_writer_limit(struct wt_writer *writer, uint64_t bytes_max);
uint64_t wt_writer_events(const struct wt_writer *writer);
/* The next event of that kind is the recorder's own: counted apart, once it is written. */
void wt_writer_own(struct wt_writer *writer, uint16_t kind);
uint64_t wt_writer_own_events(const struct wt_writer *writer);

/* ---- Reading a stream --------------------------------------------------------------------- */

struct wt_reader;

struct wt_block {
	uint64_t offset;
	uint32_t bytes; /* header included */
	uint32_t rows;
	uint16_t kind; /* event kind */
	uint64_t time_min;
	uint64_t time_max;
	uint64_t track_filter; /* bit (track % 64) for each track in it */
	uint64_t name_filter;  /* bit (id % 64) for each id in the first name field */
};

/* Why reading stopped before the end of the file. code 0: it did not. */
int wt_reader_open(const char *path, struct wt_reader **ret_reader, struct wt_err *err);
void wt_reader_free(struct wt_reader *reader);
/* Looks for blocks appended since. Number of new ones, or an error. */
int wt_reader_refresh(struct wt_reader *reader, struct wt_err *err);
const struct wt_err *wt_reader_damage(const struct wt_reader *reader);
bool wt_reader_finished(const struct wt_reader *reader); /* the stream ends with its index */
const char *wt_reader_path(const struct wt_reader *reader);
const struct wt_identity *wt_reader_identity(const struct wt_reader *reader);
uint64_t wt_reader_file_bytes(const struct wt_reader *reader);

size_t wt_reader_kind_count(const struct wt_reader *reader);
const struct wt_kind *wt_reader_kind_at(const struct wt_reader *reader, size_t index);
const struct wt_kind *wt_reader_kind(const struct wt_reader *reader, uint16_t number);
size_t wt_reader_block_count(const struct wt_reader *reader); /* event blocks, in file order */
const struct wt_block *wt_reader_block(const struct wt_reader *reader, size_t index);

/* Never NULL: an unknown id gives "?" and 0 the empty string. Valid as long as the reader. */
struct wt_text wt_reader_string(const struct wt_reader *reader, uint32_t id);
uint32_t wt_reader_string_count(const struct wt_reader *reader); /* ids are below this */
size_t wt_reader_track_count(const struct wt_reader *reader);
const struct wt_track *wt_reader_track_at(const struct wt_reader *reader, size_t index);
/* NULL if it was never defined; track 0 is the recorder's own, in every stream. */
const struct wt_track *wt_reader_track(const struct wt_reader *reader, uint32_t id);
size_t wt_reader_stack(const struct wt_reader *reader, uint32_t id, const uint64_t **ret_frames);
size_t wt_reader_module_count(const struct wt_reader *reader);
const struct wt_module *wt_reader_module_at(const struct wt_reader *reader, size_t index);
const struct wt_site *wt_reader_site(const struct wt_reader *reader, uint32_t id); /* or NULL */

/* The rows of one block in columns. Texts are offsets into `text`: of row i from text_at[i] on. */
struct wt_batch {
	const struct wt_reader *reader;
	const struct wt_kind *kind;
	uint32_t rows;
	uint64_t *time; /* ticks */
	uint64_t *track;
	uint64_t *seq;
	uint64_t *values[WT_FIELDS_MAX];  /* NULL: not decoded */
	uint32_t *text_at[WT_FIELDS_MAX]; /* rows + 1 offsets */
	char *text[WT_FIELDS_MAX];
	bool in_time_order;
	void *memory; /* of all of the above */
	size_t memory_bytes;
};

#define WT_ALL_FIELDS UINT32_MAX
/* `fields`: bit i for field i. The batch is reused if it has memory; zero it before first use. */
int wt_reader_decode(const struct wt_reader *reader, size_t block, uint32_t fields,
		     struct wt_batch *batch, struct wt_err *err);
void wt_batch_release(struct wt_batch *batch);

/* ---- Reading a run ------------------------------------------------------------------------ */

struct wt_trace;

/* A folder with streams, or one stream. Damage in one stream does not hide the others. */
int wt_trace_open(const char *path, struct wt_trace **ret_trace, struct wt_err *err);
void wt_trace_free(struct wt_trace *trace);
int wt_trace_refresh(struct wt_trace *trace, struct wt_err *err);
size_t wt_trace_stream_count(const struct wt_trace *trace);
struct wt_reader *wt_trace_stream(const struct wt_trace *trace, size_t index);
/* Streams that could not be opened at all: their errors. */
size_t wt_trace_failed_count(const struct wt_trace *trace);
const struct wt_err *wt_trace_failed(const struct wt_trace *trace, size_t index);

/* Nanoseconds since the start of the run. Signed: device work may seem to come before it. */
int64_t wt_trace_ns(const struct wt_trace *trace, size_t stream, uint64_t ticks);
/* The same for a time stamp of another clock domain of that stream (0: its own). */
int64_t wt_trace_domain_ns(const struct wt_trace *trace, size_t stream, uint32_t domain,
			   uint64_t ticks);
/* Ticks of that moment, for skipping blocks. */
uint64_t wt_trace_ticks(const struct wt_trace *trace, size_t stream, int64_t ns);
int64_t wt_trace_start_realtime_ns(const struct wt_trace *trace); /* 0: not known */
uint64_t wt_trace_clock_error_ns(const struct wt_trace *trace);

/* A context variable and what it has to be, as text: "step" "3", or "3-5" for any of these,
 * "stage" "train". */
struct wt_condition {
	const char *key;
	const char *value;
};

struct wt_query {
	size_t size;              /* sizeof(struct wt_query) */
	int64_t from_ns;          /* INT64_MIN: from the beginning */
	int64_t to_ns;            /* exclusive; INT64_MAX: to the end */
	const char *const *kinds; /* names; NULL: all */
	size_t kind_count;
	const char *name;  /* glob over the first name field; NULL: all */
	const char *track; /* glob over the track's name, or "STREAM:TRACK" numbers; NULL: all */
	/* Context: rows whose track had `context_key` = `context_value` at that moment. NULL: all
	 */
	const char *context_key;
	const char *context_value; /* as text: "3", "train" */
	uint32_t fields;           /* bits of the fields to decode; WT_ALL_FIELDS */
	/* More of what context_key and context_value say; all must hold. */
	const struct wt_condition *conditions;
	size_t condition_count;
};

void wt_query_init(struct wt_query *query);

struct wt_event {
	const struct wt_trace *trace;
	const struct wt_reader *reader;
	const struct wt_kind *kind;
	const struct wt_batch *batch;
	size_t stream; /* index of the reader in the trace */
	uint32_t row;
	uint32_t track;
	uint64_t seq;
	uint64_t ticks;
	int64_t time_ns;
};

/* A field of an event: its bits; as a float; as text (names resolved, texts inline). */
uint64_t wt_event_u64(const struct wt_event *event, int field);
int64_t wt_event_i64(const struct wt_event *event, int field);
double wt_event_f64(const struct wt_event *event, int field);
struct wt_text wt_event_text(const struct wt_event *event, int field);

/* A trace may be read by several threads, each with a cursor of its own, while nobody refreshes it.
 */
struct wt_cursor;
int wt_cursor_open(const struct wt_trace *trace, const struct wt_query *query,
		   struct wt_cursor **ret_cursor, struct wt_err *err);
/* 1 and an event that is valid until the next call, 0 at the end, or an error. */
int wt_cursor_next(struct wt_cursor *cursor, struct wt_event *ret_event, struct wt_err *err);
/*
 * Rows of one block that come next, at most `rows_max`: how many, 0 at the end, or an error.
 * ret_first is the first of them, ret_rows and ret_times_ns have a number in its batch and a time
 * for each. The batch is valid until the next call.
 */
int wt_cursor_rows(struct wt_cursor *cursor, size_t rows_max, struct wt_event *ret_first,
		   uint32_t *ret_rows, int64_t *ret_times_ns, struct wt_err *err);
void wt_cursor_free(struct wt_cursor *cursor);
/* Blocks that the query did not have to decode, and those that it did. */
void wt_cursor_cost(const struct wt_cursor *cursor, uint64_t *ret_skipped, uint64_t *ret_decoded);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
