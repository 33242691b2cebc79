/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients: before a step by hash, each parameter's; before a step and before a backward how many
 * there are, and how many of them are all zeros. Whether one is zero is seen at its first element
 * that is not, so that it costs nothing when it matters most.
 */
#include "own.h"
#include "emit.h"

#include <string.h>

struct count {
	uint32_t moment; /* enum wt_moment */
	uint32_t none;
	uint32_t zero;
	uint32_t nonzero;
	uint32_t unknown;
	const struct wti_live *example;
	bool is_decided; /* before a clearing: no need to look at more */
};

static void emit_count(const struct wti_live *optimizer, const struct count *count)
{
	const struct wti_here here = wti_here();
	const struct wti_live *example = count->example;
	struct wti_record_gradients gradients;

	if (!here.ring || count->none + count->zero + count->nonzero + count->unknown == 0)
		return;
	gradients = (struct wti_record_gradients){
		.object = wti_name(here, optimizer->owner),
		.moment = count->moment,
		.none = count->none,
		.zero = count->zero,
		.nonzero = count->nonzero,
		.unknown = count->unknown,
		.example = example ? wti_name(here, example->name) : 0,
		.owner = example ? wti_name(here, example->owner) : 0,
	};
	wti_emit_gradients(here, &gradients);
}

/* ---- Looking --------------------------------------------------------------------------------- */

enum found {
	NONE,
	UNKNOWN, /* there may be one, but it is not to be asked for, or not to be read */
	READABLE,
};

/* A gradient while it is looked at. */
struct gradient {
	PyObject *object; /* owned; NULL: none was needed */
	struct wti_tensor tensor;
	Py_buffer room;
};

/* The shim reaches it without an object; otherwise torch makes one for us. */
static enum found look(PyObject *parameter, struct gradient *ret)
{
	bool is_tame = wti_tensor_is_tame(parameter);

	ret->object = NULL;
	if (is_tame && wti_seen_grad(parameter, &ret->tensor))
		return ret->tensor.data ? READABLE : UNKNOWN;
	if (is_tame)
		ret->object = PyObject_GetAttr(parameter, wti_torch_state.words.grad);
	if (!ret->object)
		PyErr_Clear();
	if (ret->object == Py_None)
		Py_CLEAR(ret->object);
	if (!ret->object)
		return is_tame ? NONE : UNKNOWN;
	if (!wti_tensor_look(ret->object, &ret->tensor, &ret->room)) {
		Py_CLEAR(ret->object);
		return UNKNOWN;
	}
	return ret->tensor.data ? READABLE : UNKNOWN;
}

static void release(struct gradient *gradient)
{
	if (gradient->object)
		wti_tensor_release(&gradient->tensor);
	Py_CLEAR(gradient->object);
}

static void count_none(struct count *count, const struct wti_live *live)
{
	count->none++;
	if (count->moment == WT_MOMENT_STEP && !count->example)
		count->example = live;
}

static void count_one(struct count *count, const struct wti_live *live, bool zero)
{
	if (zero) {
		count->zero++;
		return;
	}
	count->nonzero++;
	if (count->moment == WT_MOMENT_BACKWARD && !count->example)
		count->example = live;
}

/* ---- Before a backward ----------------------------------------------------------------------- */

static void look_only(PyObject *parameter, struct wti_live *live, void *with)
{
	struct count *count = with;
	struct gradient gradient;
	enum found found;
	bool zero;

	if (!wti_object_requires_grad(parameter, live))
		return;
	found = look(parameter, &gradient);
	if (found == NONE)
		count_none(count, live);
	else if (found == READABLE && wti_tensor_is_zero(&gradient.tensor, &zero))
		count_one(count, live, zero);
	else
		count->unknown++;
	release(&gradient);
}

/* One that is not what the last step used speaks for all. */
static void look_for_unused(PyObject *parameter, struct wti_live *live, void *with)
{
	struct count *count = with;
	struct wti_reading reading;
	struct gradient gradient;
	enum found found;
	bool zero;

	if (count->is_decided || !wti_object_requires_grad(parameter, live))
		return;
	found = look(parameter, &gradient);
	if (found == NONE) {
		count->none++;
	} else if (found == UNKNOWN || !wti_tensor_is_zero(&gradient.tensor, &zero)) {
		count->unknown++;
	} else if (zero) {
		count->zero++;
	} else {
		reading = wti_state_read_looked(&gradient.tensor, live->owner, live->grad_name,
						false);
		count->is_decided = reading.is_done;
		if (!reading.is_done)
			count->unknown++;
		else if (live->grad != WTI_GRAD_HASH || live->last_grad != reading.hash)
			count->nonzero++;
	}
	release(&gradient);
}

static void count_all(struct wti_live *optimizer, uint32_t moment)
{
	struct count count = {.moment = moment};
	PyObject *object = optimizer->object; /* kept, so that the place in the list is */

	if (!optimizer->owner)
		return;
	Py_INCREF(object);
	wti_state_parameters(optimizer, moment == WT_MOMENT_CLEAR ? look_for_unused : look_only,
			     &count);
	emit_count(optimizer, &count);
	Py_DECREF(object);
}

void wti_gradient_before_backward(void)
{
	struct wti_live *optimizer = NULL;

	if (wti_omits(WT_THINNED_GRADIENTS) || !wti_state_turn_of_all())
		return;
	while ((optimizer = wti_live_next(optimizer, WTI_LIVE_OPTIMIZER)))
		count_all(optimizer, WT_MOMENT_BACKWARD);
}

void wti_gradient_before_clear(struct wti_live *optimizer)
{
	if (!wti_omits(WT_THINNED_GRADIENTS))
		count_all(optimizer, WT_MOMENT_CLEAR);
}

/* ---- Before a step --------------------------------------------------------------------------- */

static void emit_none(struct wti_live *live)
{
	const struct wti_live_change change = {
		.type = WT_VALUE_TYPE_NONE,
		.flags = live->grad == WTI_GRAD_UNKNOWN ? WT_STATE_FIRST : 0,
		.old_value = live->last_grad};

	if (live->grad != WTI_GRAD_NONE)
		wti_state_emit(live->owner, live->grad_name, &change);
	live->grad = WTI_GRAD_NONE;
}

static void emit_hash(struct wti_live *live, const struct wti_reading *reading)
{
	const struct wti_live_change change = {
		.type = WT_VALUE_TYPE_HASH,
		.flags = (live->grad == WTI_GRAD_UNKNOWN ? WT_STATE_FIRST : 0) |
			 (reading->is_zero ? WT_STATE_ZEROS : 0),
		.old_value = live->grad == WTI_GRAD_HASH ? live->last_grad : 0,
		.new_value = reading->hash,
	};

	if (live->grad != WTI_GRAD_HASH || live->last_grad != reading->hash)
		wti_state_emit(live->owner, live->grad_name, &change);
	live->grad = WTI_GRAD_HASH;
	live->last_grad = reading->hash;
}

static void read_gradient(PyObject *parameter, struct wti_live *live, void *with)
{
	struct count *count = with;
	struct wti_reading reading = {0};
	struct gradient gradient;
	bool is_trained = wti_object_requires_grad(parameter, live);
	enum found found = look(parameter, &gradient);

	if (found == NONE) {
		emit_none(live);
		if (is_trained)
			count_none(count, live);
	} else {
		if (gradient.object || found == READABLE)
			reading = wti_state_read_looked(&gradient.tensor, live->owner,
							live->grad_name, wti_state_turn(live));
		if (reading.is_done) {
			emit_hash(live, &reading);
			count_one(count, live, reading.is_zero);
		} else {
			count->unknown++;
		}
	}
	release(&gradient);
}

void wti_gradient_before_step(struct wti_live *optimizer)
{
	struct count count = {.moment = WT_MOMENT_STEP};

	if (wti_omits(WT_THINNED_GRADIENTS))
		return;
	wti_state_parameters(optimizer, read_gradient, &count);
	emit_count(optimizer, &count);
}
