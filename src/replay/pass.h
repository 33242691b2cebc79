/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One execution of a plan: every operation in some order, what it read and wrote by hash, and
 * whether that is what the recording has. It knows when contents are compared and hides how they
 * are kept meanwhile; what it all means is decided elsewhere (verdict.c).
 */
#ifndef WTI_REPLAY_PASS_H
#define WTI_REPLAY_PASS_H

#include "difference.h"
#include "session.h"

struct wti_replay_pass_how {
	const uint32_t *order; /* operations */
	size_t count;
	const bool *is_selected; /* of operations; NULL: all */
	uint32_t repeats;        /* how often each kernel is executed from the same content */
	bool is_keeping;         /* memory that nothing needs any more stays */
	bool is_at_once;         /* commands overlap as they did; otherwise one at a time */
	const bool *is_asked; /* of operations; contents recorded at others replace what is there */
	double speed;         /* of the recorded times; 0: without pauses. Only at once */
	void (*progress)(void *cookie, double share);
	void *cookie;
};

enum wti_replay_outcome_state {
	WTI_OUTCOME_NONE, /* not selected, or nothing to execute */
	WTI_OUTCOME_EXECUTED,
	WTI_OUTCOME_MISSING, /* could not be executed: `why` */
};

enum wti_replay_recorded {
	WTI_RECORDED_NOTHING, /* there is nothing to compare with */
	WTI_RECORDED_SAME,    /* every bit */
	WTI_RECORDED_DIFFERS,
};

struct wti_replay_outcome {
	const char *why;
	uint64_t in, out;  /* hash of what it read, and of what it wrote; 0: nothing */
	uint32_t distinct; /* results of its repetitions */
	uint32_t found;    /* index plus one of where it differs; 0: nowhere */
	uint8_t state;     /* enum wti_replay_outcome_state */
	uint8_t recorded;  /* enum wti_replay_recorded */
};

/* Where an operation differs. */
struct wti_replay_pass_found {
	uint32_t op;
	uint32_t object;  /* WTI_PLAN_NONE: in what went to the host */
	int32_t argument; /* of the kernel; -1: none */
	const char *type; /* of that argument; "" if not known */
	struct wti_replay_difference difference;
};

struct wti_replay_pass {
	struct wti_replay_outcome *outcomes; /* of each operation */
	uint64_t *contents;                  /* of each object: hash of what was in it at the end */
	struct wti_replay_pass_found *founds;
	size_t found_count, found_capacity;
	uint64_t executed_count, compared_count, compared_bytes;
	uint64_t uncompared_count; /* results that were recorded, and are not there any more */
	int64_t duration_ns;
};

/* Begins with fresh objects. */
int wti_replay_pass_run(struct wti_replay_session *session, const struct wti_replay_pass_how *how,
			struct wti_replay_pass *ret_pass, struct wt_err *err);
void wti_replay_pass_release(struct wti_replay_pass *pass);

#endif
