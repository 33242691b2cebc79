/* SPDX-License-Identifier: Apache-2.0 */
/* How a tensor came to differ from one of which only the digest is known. */
#ifndef WTI_RUNS_MODEL_CHANGES_H
#define WTI_RUNS_MODEL_CHANGES_H

#include "base/buf.h"
#include "inspect/training/calls.h"
#include "model/examine.h"

/* Adds ": ..." in words, or nothing. `now` is its own digest, with statistics. */
void wti_model_explain_change(struct wti_model *model, const struct wti_model_tensor *tensor,
			      const struct wt_digest *now, const struct wti_digest_row *saved,
			      struct wti_buf *out);

#endif
