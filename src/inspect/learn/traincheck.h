/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TrainCheck's files: invariants, a JSON object a line, to a pack and back; traces, a JSON object a
 * line, to streams of ours. Nothing in them is ever evaluated. What has no counterpart is counted
 * and left out, never bent until it fits.
 */
#ifndef WTI_LEARN_TRAINCHECK_H
#define WTI_LEARN_TRAINCHECK_H

#include "pack.h"

/* Invariants that have no counterpart here, and why the first of them has none. */
struct wti_traincheck_left_out {
	size_t count;
	char first[256];
};

/* Adds to the pack; settle it afterwards. */
int wti_traincheck_read_line(const char *name, unsigned line, const char *text, size_t bytes,
			     struct wti_pack *pack, struct wti_traincheck_left_out *left_out,
			     struct wt_err *err);
/* All lines of a text. */
int wti_traincheck_read(const char *name, const char *text, size_t bytes, struct wti_pack *pack,
			struct wti_traincheck_left_out *left_out, struct wt_err *err);
/* How many have no counterpart there. */
size_t wti_traincheck_write(struct wti_buf *out, const struct wti_pack *pack);

/* "torch.optim.adam.Adam.step" <-> "Optimizer.step" */
void wti_traincheck_function(char *out, size_t bytes, const char *path);
void wti_traincheck_path(char *out, size_t bytes, const char *function);

/* "torch.float32" -> "f32"; "f32" -> "float32"; what is not known stays. */
const char *wti_traincheck_dtype(const char *theirs);
const char *wti_traincheck_torch_dtype(const char *ours);
/* "training" -> "train", "testing" and "evaluation" -> "eval"; others stay. */
const char *wti_traincheck_stage(const char *theirs);

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
