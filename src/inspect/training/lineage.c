/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that losses are made of. */
#include <math.h>
#include <string.h>

#include "lineage.h"
#include "shape.h"

/* With a gradient: what is detached is not part of the loss. */
static bool is_scalar(const struct wti_value_row *value)
{
	return value->type == WTI_VALUE_TENSOR && value->digest.count == 1 &&
	       value->digest.flags & WT_TENSOR_REQUIRES_GRAD &&
	       !(value->digest.flags & WT_TENSOR_NO_HASH) && value->digest.mean != 0;
}

/*
 * Of a module it is not known whether it sums. An untrained model has a cross entropy of about
 * ln C for each target: what is nearer to that than to N times as much is a mean.
 */
static bool looks_like_mean(const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	const struct wti_value_row *loss = wti_call_tensor(moment->call, true, 0);
	struct wti_shape shape;

	if (moment->call->what != WTI_CALLEE_CROSS_ENTROPY || !input || !target || !loss)
		return true;
	shape = wti_shape_read(wti_moment_text(moment, input->digest.shape));
	if (shape.rank < 2 || shape.extents[1] < 2)
		return true;
	return loss->digest.mean <
	       log((double)shape.extents[1]) * sqrt((double)target->digest.count);
}

/* "mean" is what losses do by default. */
static bool takes_mean(const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	uint32_t name = wti_symbol_word(moment->training->symbols, "reduction");
	const struct wti_value_row *reduction = NULL;

	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].name == name)
			reduction = &call->values[i];
	if (!reduction)
		return looks_like_mean(moment);
	return !strcmp(wti_moment_text(moment, reduction->text), "mean");
}

static bool is_mean(const struct wti_moment *moment)
{
	const struct wti_value_row *input = wti_call_tensor(moment->call, false, 0);

	switch (moment->call->what) {
	case WTI_CALLEE_CROSS_ENTROPY:
	case WTI_CALLEE_NLL:
	case WTI_CALLEE_BINARY:
	case WTI_CALLEE_DISTANCE:
		return takes_mean(moment);
	case WTI_CALLEE_MEAN:
		return input && input->digest.count > 1;
	default:
		return false;
	}
}

void wti_lineage_call(struct wti_lineage *lineage, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *result = wti_call_tensor(call, true, 0);
	struct wti_scalar *scalar;

	if (!result || !is_scalar(result) || call->is_in_place)
		return;
	scalar = &lineage->scalars[lineage->count++ % WTI_LINEAGE_MAX];
	*scalar = (struct wti_scalar){
		.hash = result->digest.hash,
		.what = call->what,
		.site = call->site,
		.is_mean = is_mean(moment),
	};
	for (uint32_t i = 0; i < call->value_count && scalar->parent_count < WTI_PARENTS_MAX; i++)
		if (call->values[i].position >= 0 && is_scalar(&call->values[i]))
			scalar->parents[scalar->parent_count++] = call->values[i].digest.hash;
	if (call->what == WTI_CALLEE_MULTIPLY && scalar->parent_count == 1)
		wti_call_as_number(call, 0, 1, &scalar->factor);
}

const struct wti_scalar *wti_lineage_find(const struct wti_lineage *lineage, uint64_t hash)
{
	uint64_t oldest = lineage->count > WTI_LINEAGE_MAX ? lineage->count - WTI_LINEAGE_MAX : 0;

	for (uint64_t i = lineage->count; i-- > oldest;)
		if (lineage->scalars[i % WTI_LINEAGE_MAX].hash == hash)
			return &lineage->scalars[i % WTI_LINEAGE_MAX];
	return NULL;
}

const struct wti_digest_row *wti_backward_loss(const struct wti_call *call)
{
	const struct wti_value_row *loss = wti_call_tensor(call, false, 0);

	if (!loss || loss->digest.flags & (WT_TENSOR_NO_HASH | WT_TENSOR_NO_STATISTICS))
		return NULL;
	return &loss->digest;
}
