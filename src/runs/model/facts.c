/* SPDX-License-Identifier: Apache-2.0 */
/* Words for models and tensors. */
#include "runs/model/facts.h"

#include <stdio.h>

#include "model/format.h"

void wti_model_facts(const struct wti_model *model, struct wt_result *result)
{
	uint64_t parameters = 0, bytes = 0;

	for (size_t i = 0; i < model->tensor_count; i++) {
		parameters += model->tensors[i].count;
		bytes += model->tensors[i].bytes;
	}
	wt_result_fact_text(result, "model", "model", model->path);
	wt_result_fact_text(result, "format", "format", model->format->title);
	wt_result_fact_count(result, "tensors", "tensors", WT_CELL_COUNT, model->tensor_count);
	wt_result_fact_count(result, "parameters", "parameters", WT_CELL_COUNT, parameters);
	wt_result_fact_count(result, "bytes", "of elements", WT_CELL_BYTES, bytes);
}

void wti_model_shape_text(const struct wti_model_tensor *tensor, char *out, size_t out_bytes)
{
	size_t at = (size_t)snprintf(out, out_bytes, "[");

	for (uint32_t i = 0; i < tensor->rank && at < out_bytes; i++)
		at += (size_t)snprintf(out + at, out_bytes - at, "%s%llu", i ? ", " : "",
				       (unsigned long long)tensor->shape[i]);
	if (at < out_bytes)
		snprintf(out + at, out_bytes - at, "]");
}

const char *wti_model_hex(char out[2 * WTI_SHA256_BYTES + 1], const uint8_t sha[WTI_SHA256_BYTES])
{
	for (size_t i = 0; i < WTI_SHA256_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", sha[i]);
	return out;
}
