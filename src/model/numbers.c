/* SPDX-License-Identifier: Apache-2.0 */
/* Converts blocks of elements as they come. */
#include "model/numbers.h"

#include <stdlib.h>

#include "base/err.h"
#include "digest/digest.h"
#include "digest/values.h"

bool wti_model_has_numbers(const struct wti_model_tensor *tensor)
{
	return wti_dtype_bytes(tensor->dtype) && wti_dtype_real(tensor->dtype) == tensor->dtype;
}

struct filling {
	double *next;
	uint32_t dtype;
};

static int fill(void *cookie, const void *data, size_t bytes)
{
	struct filling *filling = cookie;
	size_t count = bytes / wti_dtype_bytes(filling->dtype);

	wti_values(data, filling->dtype, count, filling->next);
	filling->next += count;
	return 0;
}

int wti_model_numbers(struct wti_model *model, const struct wti_model_tensor *tensor, double **ret,
		      struct wt_err *err)
{
	double *numbers;
	int r;

	if (!wti_model_has_numbers(tensor))
		return wti_err(err, WT_E_ARG, "'%.200s' is not made of numbers (%s)", tensor->name,
			       tensor->type);
	numbers = calloc((size_t)tensor->count + 1, sizeof(*numbers));
	if (!numbers)
		return wti_err(err, WT_E_NOMEM, "out of memory for tensor '%.200s'", tensor->name);
	r = wti_model_walk(model, tensor, fill,
			   &(struct filling){.next = numbers, .dtype = tensor->dtype}, err);
	if (r)
		free(numbers);
	else
		*ret = numbers;
	return r;
}
