/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What importers of traces have in common: they hand over spans, operations, flows and other events
 * in any order, and get streams whose tracks are in order, whose spans nest, whose correlations are
 * unique and whose launches are edges. Memory does not grow with the number of events.
 *
 * Errors stick: nobody has to look before wti_intake_write().
 */
#ifndef WTI_CONVERT_INTAKE_H
#define WTI_CONVERT_INTAKE_H

#include <stdbool.h>

#include <wheeltap/trace.h>

struct wti_intake;

/* Times are in ns, in a clock of the file's own; those of one file only have to agree. */
#define WTI_INTAKE_TIME_MAX ((uint64_t)1 << 62)

/* `folder`: of the run that is made; what cannot be kept in memory goes there, too. */
int wti_intake_open(const char *folder, struct wti_intake **ret_intake, struct wt_err *err);
void wti_intake_free(struct wti_intake *intake);

/* Number of a text; 0: the empty one. */
uint32_t wti_intake_name(struct wti_intake *intake, const char *text, size_t bytes);
struct wt_text wti_intake_name_text(const struct wti_intake *intake, uint32_t name);

/* A process by the key that the file has for it; each becomes a stream. */
uint32_t wti_intake_process(struct wti_intake *intake, const char *key, size_t bytes);
void wti_intake_process_set(struct wti_intake *intake, uint32_t process, uint32_t pid,
			    const char *command, size_t bytes);

struct wti_intake_track {
	uint32_t process;
	uint32_t type; /* enum wt_track_type */
	uint32_t tid;
	uint32_t device;
	const char *key; /* what makes it this one, among those of its type in the process */
	size_t key_bytes;
};

/* Number of a track. Its name is what the file calls it, or that of the last call. 0: too many. */
uint32_t wti_intake_track(struct wti_intake *intake, const struct wti_intake_track *track);
void wti_intake_track_name(struct wti_intake *intake, uint32_t track, const char *name,
			   size_t bytes);

/* Spans that begin and end at the same time: which is outside. */
enum wti_intake_rank {
	WTI_RANK_PYTHON,
	WTI_RANK_ANNOTATION,
	WTI_RANK_OPERATOR,
	WTI_RANK_OTHER,
	WTI_RANK_RUNTIME,
	WTI_RANK_INSIDE, /* no span: what happens in one */
};

struct wti_intake_span {
	uint32_t track;
	uint32_t name;
	uint32_t flags; /* flags.span */
	enum wti_intake_rank rank;
	uint64_t begin, end;
	uint64_t correlation; /* of operations that it may have launched; 0: none */
};

void wti_intake_span(struct wti_intake *intake, const struct wti_intake_span *span);
/* The same in two parts, where the end is not known yet. An end takes the innermost open one. */
void wti_intake_begin(struct wti_intake *intake, const struct wti_intake_span *span);
void wti_intake_end(struct wti_intake *intake, uint32_t track, uint64_t time);

struct wti_intake_op {
	uint32_t track; /* of its queue */
	uint32_t op;    /* enum op */
	uint32_t name;
	uint32_t device;
	uint32_t geometry;
	uint64_t correlation; /* of the file; 0: none */
	uint64_t queued, submitted, started, ended;
	uint64_t bytes;
	uint64_t time; /* of the event; 0: when it ended */
};

/* Returns the correlation under which it is known in the trace. */
uint64_t wti_intake_op(struct wti_intake *intake, const struct wti_intake_op *op);
/* That something waits for what `from` stands for, without an operation of its own. */
bool wti_intake_is_op(const struct wti_intake *intake, uint64_t correlation);
/* A call with this correlation is joined with what refers to it, as with an operation. */
void wti_intake_expect(struct wti_intake *intake, uint64_t correlation);

/* Any other event. `texts` has one for each inline field among the values. */
void wti_intake_event(struct wti_intake *intake, uint16_t kind, uint32_t track, uint64_t time,
		      const uint64_t *values, size_t value_count, const struct wt_text *texts);

/* One end of an arrow between the spans that are open there. */
enum wti_flow_part { WTI_FLOW_FROM, WTI_FLOW_THROUGH, WTI_FLOW_TO };
void wti_intake_flow(struct wti_intake *intake, uint32_t track, uint64_t time, uint32_t edge,
		     uint64_t id, enum wti_flow_part part);

/* Something of the file that is not in the trace. `why` is a literal: the same for all of a type.
 */
void wti_intake_leave_out(struct wti_intake *intake, const char *why, uint64_t count);
/* The same, of events that should have been there: the trace has a `lost` event with the sum. */
void wti_intake_lose(struct wti_intake *intake, const char *why, uint64_t count);

struct wti_intake_reason {
	const char *why;
	uint64_t count;
};

/* What was left out, after writing. */
size_t wti_intake_reasons(const struct wti_intake *intake,
			  const struct wti_intake_reason **ret_reasons);

struct wti_intake_summary {
	uint64_t events; /* of the trace */
	uint64_t lost;
	uint64_t bytes;
	uint32_t streams;
	uint64_t first_ns, last_ns; /* as they are in the streams; 0: no event */
};

struct wti_intake_target {
	const char *folder;
	uint32_t first_stream; /* number of the next stream in the folder */
	uint64_t shift_ns;     /* is added to all times */
	bool realtime;         /* with it they are ns since 1970 */
	int32_t rank;          /* -1: not known */
	uint32_t world;
	const char *group; /* NULL: not known */
};

/* Writes the streams. The summary is added to. */
int wti_intake_write(struct wti_intake *intake, const struct wti_intake_target *target,
		     struct wti_intake_summary *summary, struct wt_err *err);

#endif
