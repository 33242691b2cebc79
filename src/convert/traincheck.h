/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TrainCheck's files: invariants, a JSON object a line, to a pack and back; traces, a JSON object a
 * line, to streams of ours. Nothing in them is ever evaluated. Invariants stay what they are
 * (src/inspect/traincheck/); what cannot be judged is left out, and counted by reason.
 */
#ifndef WTI_CONVERT_TRAINCHECK_H
#define WTI_CONVERT_TRAINCHECK_H

#include "inspect/learn/pack.h"

enum { WTI_TRAINCHECK_REASONS_MAX = 32 };

/* Invariants that were read, and those of them that cannot be judged, by reason. */
struct wti_traincheck_count {
	size_t entries;
	size_t left_out;
	struct {
		const char *why; /* the same for all of the kind */
		size_t count;
	} reasons[WTI_TRAINCHECK_REASONS_MAX];
	size_t reason_count;
};

/* Adds to the pack; settle it afterwards. */
int wti_traincheck_read_line(const char *name, unsigned line, const char *text, size_t bytes,
			     struct wti_pack *pack, struct wti_traincheck_count *count,
			     struct wt_err *err);
/* All lines of a text. */
int wti_traincheck_read(const char *name, const char *text, size_t bytes, struct wti_pack *pack,
			struct wti_traincheck_count *count, struct wt_err *err);
/* How many have no counterpart there. */
size_t wti_traincheck_write(struct wti_buf *out, const struct wti_pack *pack);

/* Whether a line is one of a trace; otherwise it should be an invariant. */
bool wti_traincheck_is_trace(const char *text, size_t bytes);

/* Traces: files are added one after the other, line by line, then all is finished. */
struct wti_traincheck_import;

int wti_traincheck_begin(const char *folder, struct wti_traincheck_import **ret_import,
			 struct wt_err *err);
int wti_traincheck_add_line(struct wti_traincheck_import *import, const char *name, unsigned line,
			    const char *text, size_t bytes, struct wt_err *err);
/* All lines of a text. */
int wti_traincheck_add(struct wti_traincheck_import *import, const char *name, const char *text,
		       size_t bytes, struct wt_err *err);
/* How many records there were. */
int wti_traincheck_finish(struct wti_traincheck_import *import, uint64_t *ret_count,
			  struct wt_err *err);
void wti_traincheck_free(struct wti_traincheck_import *import);

#endif
