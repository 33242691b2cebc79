/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule or a relation keeps between moments: zeroed memory for each object, parameter, line
 * ... of the run, as its row declares (`keeps`). Who shows them moments makes it, hands out the
 * right one, and releases it; it stays where it is meanwhile, so that a rule may hold two at a
 * time.
 */
#ifndef WTI_INSPECT_KEEP_H
#define WTI_INSPECT_KEEP_H

#include "base/pairs.h"
#include "base/steady.h"
#include "training.h"

/* For each of what there is memory of its own. */
enum wti_per {
	WTI_PER_NOTHING, /* none is kept */
	WTI_PER_RUN,
	WTI_PER_PROCESS,
	WTI_PER_TRACK,
	WTI_PER_OBJECT,    /* that the moment is about */
	WTI_PER_MODULE,    /* whose method is called, by the call's own word */
	WTI_PER_PARAMETER, /* of the moment; of an optimizer's moment: each of its parameters */
	WTI_PER_REPLICA,   /* likewise, but one of all ranks together; none of a single rank */
	WTI_PER_LINE,      /* and function: two that stand on one line are not to be confused */
	WTI_PER_KEY,       /* a number of the rule's own in a process: wti_keep_of_key() */
};

struct wti_keeps {
	enum wti_per per;
	size_t bytes;
};

/* Of one object, parameter, line ... */
struct wti_kept_memory {
	size_t stream;
	const struct wti_object *object;       /* per object */
	const struct wti_parameter *parameter; /* per parameter */
	uint32_t streak;                       /* violations in a row */
	int32_t streak_step;                   /* of the first of them */
	max_align_t memory[];
};

struct wti_keep {
	struct wti_keeps keeps;
	struct wti_pairs keys;
	struct wti_steady
		kept; /* struct wti_kept_memory and the rule's bytes, by the number of the key */
};

void wti_keep_init(struct wti_keep *keep, struct wti_keeps keeps);
void wti_keep_release(struct wti_keep *keep);
/* All of it is gone, as if it had never been made: where it would grow without end. */
void wti_keep_forget(struct wti_keep *keep);
/* NULL: the moment is about nothing of that kind, or there is no room. */
struct wti_kept_memory *wti_keep_of(struct wti_keep *keep, const struct wti_moment *moment);
struct wti_kept_memory *wti_keep_of_object(struct wti_keep *keep, const struct wti_object *object);
struct wti_kept_memory *wti_keep_of_parameter(struct wti_keep *keep,
					      const struct wti_parameter *parameter);
struct wti_kept_memory *wti_keep_of_process(struct wti_keep *keep, size_t stream);
/* By a number that means something in a process: a symbol, the hash of a content. */
struct wti_kept_memory *wti_keep_of_key(struct wti_keep *keep, size_t stream, uint64_t key);
/* As that one, but none is made: NULL where there is none. */
struct wti_kept_memory *wti_keep_find_key(const struct wti_keep *keep, size_t stream, uint64_t key);
/* By place, in the order in which they were made. */
struct wti_kept_memory *wti_keep_at(const struct wti_keep *keep, size_t place);

#endif
