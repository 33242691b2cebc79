/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with model files, besides verifying them (verify.h): each fills in a result. */
#ifndef WTI_RUNS_MODEL_ACTIONS_H
#define WTI_RUNS_MODEL_ACTIONS_H

#include <wheeltap/result.h>

#include "model/manifest.h"
#include "runs/front.h"

/* Tensors with statistics and digests. `pictures`: and a histogram each, as series. */
int wti_model_inspect(const struct wti_front *front, const char *path, bool pictures,
		      struct wt_result *result, struct wt_err *err);
/* Tensor by tensor. The status is clean (bit for bit the same) or findings: they differ. */
int wti_model_diff(const struct wti_front *front, const char *a, const char *b,
		   struct wt_result *result, struct wt_err *err);
/* `to`: name of a format; NULL: what the end of `output` says. */
int wti_model_convert(const struct wti_front *front, const char *input, const char *output,
		      const char *to, const char *like, struct wt_result *result,
		      struct wt_err *err);
/* The manifest of an open model: all of it is read. To be freed. */
int wti_manifest_of(const struct wti_front *front, struct wti_model *model,
		    struct wti_manifest **ret, struct wt_err *err);
/* `output` NULL: beside the model. */
int wti_model_manifest(const struct wti_front *front, const char *path, const char *output,
		       struct wt_result *result, struct wt_err *err);

/* Signs the manifest. `output` NULL: beside the model. */
int wti_model_sign(const struct wti_front *front, const char *path, const char *key,
		   const char *output, struct wt_result *result, struct wt_err *err);
/*
 * Which run the model comes from, as SLSA provenance; signed, if there is a key. If the model is
 * not what the run saved there are findings, and no statement.
 */
int wti_model_attest(const struct wti_front *front, const char *path, const char *run_word,
		     const char *key, const char *output, struct wt_result *result,
		     struct wt_err *err);

#endif
