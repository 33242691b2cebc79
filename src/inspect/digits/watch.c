/* SPDX-License-Identifier: Apache-2.0 */
/* What a watcher may ask about the value that it is shown. */
#include "watch.h"

#include <math.h>
#include <string.h>

#include "merge.h"

#define BETWEEN " > "

struct wti_seen_element wti_seen_element(const struct wti_seen_value *value, uint64_t real)
{
	struct wti_moments moments = {0};
	struct wti_seen_element element = {.digits = NAN};
	double values[WTI_MERGE_RUNS_MAX];

	for (unsigned run = 0; run < value->run_count; run++) {
		values[run] = value->runs[run][real];
		wti_moments_add(&moments, values[run]);
	}
	element.mean = moments.mean;
	element.deviation = moments.n > 1 ? sqrt(moments.m2 / (double)(moments.n - 1)) : NAN;
	if (!isfinite(element.deviation))
		return element;
	element.digits = element.deviation > 0 ? wti_digits_of(value->how, values, value->run_count,
							       moments.mean, value->mantissa)
					       : value->mantissa + 1.;
	element.digits = wti_digits_cap(element.digits, value->mantissa);
	return element;
}

uint64_t wti_seen_place(uint64_t number, uint64_t sampled, uint64_t count)
{
	if (count <= sampled || !sampled)
		return number;
	return (uint64_t)((unsigned __int128)(2 * number + 1) * count / (2 * sampled));
}

size_t wti_seen_caller(const struct wti_seen_call *call, const char **ret_caller)
{
	size_t own = strlen(call->callee) + strlen(BETWEEN), bytes = strlen(call->path);
	const char *from = call->path;

	if (bytes <= own)
		return 0;
	bytes -= own;
	for (size_t i = 0; i + strlen(BETWEEN) <= bytes; i++) {
		if (!memcmp(call->path + i, BETWEEN, strlen(BETWEEN)))
			from = call->path + i + strlen(BETWEEN);
	}
	*ret_caller = from;
	return bytes - (size_t)(from - call->path);
}
