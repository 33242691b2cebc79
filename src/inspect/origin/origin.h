/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the tensors of a file come from: each is looked for, by its hash, among what a run saved,
 * loaded and held. Gives a finding for each way in which the file is not what the run saved.
 */
#ifndef WTI_INSPECT_ORIGIN_H
#define WTI_INSPECT_ORIGIN_H

#include <wheeltap/result.h>

#include "base/buf.h"
#include "inspect/core/code.h"
#include "inspect/training/calls.h"

/* A tensor that is looked for. */
struct wti_origin_tensor {
	const char *name;
	const char *file;  /* that has its elements */
	const char *place; /* where that is, absolute if that is known */
	const char *shape; /* "8x4", as a trace has it */
	uint32_t dtype;    /* enum wt_dtype */
	uint64_t count;    /* elements */
	uint64_t hash;
	uint64_t turned_hash; /* of its transpose; 0: it is no matrix */
};

struct wti_origin_options {
	const char *path;  /* of the file or folder */
	const char *place; /* the same, absolute if that is known */
	const struct wti_origin_tensor *tensors;
	size_t count;
	/*
	 * In words, how the elements of a tensor differ from those that the run saved, of which the
	 * digest is known. May be NULL, and may add nothing.
	 */
	void (*explain)(void *cookie, size_t tensor, const struct wti_digest_row *saved,
			struct wti_buf *out);
	void *cookie;
};

/* What findings are called; ends with a code of NULL. */
extern const struct wti_code wti_origin_codes[];

/* A finding about a file, by its code. */
struct wti_lineage_finding {
	const char *code;
	enum wt_severity severity;
	const char *evidence;
	const char *path; /* of the file */
	int64_t step;
	uint64_t count, case_count;
};
void wti_lineage_finding(struct wt_result *result, const struct wti_lineage_finding *finding);

/* Facts of the result: "seen", the tensors of which any trace was found; "compared", with a save;
 * "is_load": with a load; "unmeasured" and "unmeasured_why".
 */

#endif
