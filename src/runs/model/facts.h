/* SPDX-License-Identifier: Apache-2.0 */
/* What several actions on models say in the same words. */
#ifndef WTI_RUNS_MODEL_FACTS_H
#define WTI_RUNS_MODEL_FACTS_H

#include <wheeltap/result.h>

#include "model/examine.h"

/* File, format, tensors, parameters, bytes. */
void wti_model_facts(const struct wti_model *model, struct wt_result *result);
/* "[4, 16]" */
void wti_model_shape_text(const struct wti_model_tensor *tensor, char *out, size_t out_bytes);
/* 64 digits of a SHA-256. */
const char *wti_model_hex(char out[2 * WTI_SHA256_BYTES + 1], const uint8_t sha[WTI_SHA256_BYTES]);

#endif
