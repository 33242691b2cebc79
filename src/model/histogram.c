/* SPDX-License-Identifier: Apache-2.0 */
/* A second pass over a tensor, once its extremes are known. */
#include "model/histogram.h"

#include <math.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "digest/digest.h"
#include "digest/values.h"

#define AT_ONCE 512u

struct counting {
	uint32_t dtype; /* of a real */
	size_t bytes;
	double min;
	double scale; /* bins for a unit */
	uint64_t *bins;
};

static void count_values(const struct counting *counting, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double place = (values[i] - counting->min) * counting->scale;

		if (!isfinite(values[i]) || !(place >= 0))
			continue;
		counting->bins[place < WTI_MODEL_BINS - 1 ? (size_t)place : WTI_MODEL_BINS - 1]++;
	}
}

static int count_block(void *cookie, const void *data, size_t bytes)
{
	const struct counting *counting = cookie;
	const uint8_t *at = data;
	double values[AT_ONCE];

	for (size_t left = bytes / counting->bytes; left;) {
		size_t some = left < AT_ONCE ? left : AT_ONCE;

		wti_values(at, counting->dtype, some, values);
		count_values(counting, values, some);
		at += some * counting->bytes;
		left -= some;
	}
	return 0;
}

int wti_model_histogram(struct wti_model *model, const struct wti_model_tensor *tensor,
			const struct wt_digest *digest, uint64_t bins[WTI_MODEL_BINS],
			struct wt_err *err)
{
	uint32_t real = wti_dtype_real(tensor->dtype);
	double range = digest->max - digest->min;
	struct counting counting = {.dtype = real,
				    .bytes = wti_dtype_bytes(real),
				    .min = digest->min,
				    .scale = range > 0 ? WTI_MODEL_BINS / range : 0,
				    .bins = bins};

	memset(bins, 0, WTI_MODEL_BINS * sizeof(*bins));
	if (!counting.bytes)
		return 0;
	return wti_model_walk(model, tensor, count_block, &counting, err);
}
