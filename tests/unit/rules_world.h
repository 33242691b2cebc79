/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs made by hand, moment by moment as training.c would tell them, for the tests of rules. In the
 * header as test.h is, because failures are counted by file.
 */
#ifndef RULES_WORLD_H
#define RULES_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "inspect/judge/judge.h"
#include "inspect/training/members.h"
#include "inspect/training/shape.h"
#include "test.h"

enum { VALUES_MAX = 16, STREAMS = 2 };

struct world {
	struct wti_training training;
	struct wti_judge judge;
	struct wti_scope scope;
	struct wti_value_row values[VALUES_MAX];
	struct wti_call call;
	struct wti_call parent;
	size_t stream;
	struct wt_event event; /* without a kind: there is none */
	struct wt_batch batch;
	uint64_t fields[WT_FIELDS_MAX];
	uint32_t text_at[2]; /* of the one text of an event */
	char text[64];
	uint32_t attribute; /* of a state */
	uint32_t owner;
	const struct wti_parameter *parameter;
	double value;
	void (*listen)(void *listener, const struct wti_moment *moment); /* beside the judge */
	void *listener;
};

static inline void ignore(void *self, const struct wti_moment *moment)
{
}

static inline uint32_t word(struct world *w, const char *text)
{
	return wti_symbol_word(w->training.symbols, text);
}

static inline void begin(struct world *w)
{
	struct wt_err err = {.offset = -1};

	*w = (struct world){.scope = {.step = 0, .epoch = -1, .rank = -1, .world = -1}};
	CHECK_INT(wti_training_init(&w->training, ignore, NULL, &err), 0);
	CHECK_INT(wti_judge_init(&w->judge, &w->training, &err), 0);
	for (size_t i = 0; i < STREAMS; i++)
		CHECK(wti_training_process(&w->training, i));
	w->scope.stage = word(w, "train");
}

static inline void end(struct world *w)
{
	wti_judge_release(&w->judge);
	wti_training_release(&w->training);
}

static inline const struct wti_case *case_of(const struct world *w, const char *code)
{
	for (size_t i = 0; i < w->judge.count; i++)
		if (!strcmp(w->judge.cases[i].rule->code, code))
			return &w->judge.cases[i];
	return NULL;
}

/* ---- The parts of a run --------------------------------------------------------------------- */

static inline struct wti_object *object(struct world *w, const char *name, const char *class_name,
					uint32_t type)
{
	struct wti_object *made = wti_object_of(&w->training, w->stream, word(w, name));

	made->class_name = word(w, class_name);
	made->type = type;
	return made;
}

static inline struct wti_object *optimizer(struct world *w, const char *name,
					   const char *class_name)
{
	return object(w, name, class_name, WT_OBJECT_TYPE_OPTIMIZER);
}

/* A matrix of a model, in an optimizer if there is one. */
static inline struct wti_parameter *parameter(struct world *w, const char *owner, const char *name,
					      struct wti_object *of)
{
	uint32_t optimizer_name = of ? of->name : 0;
	struct wti_parameter *made =
		wti_parameter_of(&w->training, w->stream, word(w, owner), word(w, name));
	struct wti_object *holder;

	made->shape = word(w, "4x4");
	made->dtype = WT_DTYPE_F32;
	made->is_member = made->requires_grad = made->has_hash = true;
	made->hash = made->name;
	if (of) { /* tables may have moved */
		holder = wti_object_of(&w->training, w->stream, optimizer_name);
		made->optimizer = holder->place + 1;
		wti_object_add_member(holder, made->place);
	}
	return made;
}

static inline struct wti_call *call(struct world *w, const char *callee)
{
	w->call = (struct wti_call){.stream = w->stream,
				    .callee = word(w, callee),
				    .scope = w->scope,
				    .site = 7,
				    .values = w->values};
	w->call.what = wti_callee_of(&w->training.callees, w->training.symbols, w->call.callee,
				     &w->call.is_in_place);
	return &w->call;
}

/* Adds a tensor to the call: position -1 is what it returns. */
static inline struct wti_digest_row *tensor(struct world *w, int32_t position, uint64_t hash,
					    const char *shape)
{
	struct wti_shape extents = wti_shape_read(shape);
	struct wti_value_row *value = &w->values[w->call.value_count++];

	*value = (struct wti_value_row){.position = position, .type = WTI_VALUE_TENSOR};
	value->digest = (struct wti_digest_row){.dtype = WT_DTYPE_F32,
						.shape = word(w, shape),
						.count = 1,
						.hash = hash,
						.min = -1,
						.max = 1,
						.mean = 0.5,
						.m2 = 1};
	for (uint32_t i = 0; i < extents.rank; i++)
		value->digest.count *= extents.extents[i];
	return &value->digest;
}

static inline void number(struct world *w, const char *name, int32_t position, double given)
{
	struct wti_value_row *value = &w->values[w->call.value_count++];

	*value = (struct wti_value_row){.position = position,
					.name = *name ? word(w, name) : 0,
					.type = WT_VALUE_TYPE_FLOAT};
	memcpy(&value->bits, &given, sizeof(given));
}

static inline void tell(struct world *w, enum wti_moment_type type, const struct wti_object *of)
{
	struct wti_moment moment = {.type = type,
				    .training = &w->training,
				    .process = wti_process_at(&w->training, w->stream),
				    .scope = w->scope,
				    .call = &w->call,
				    .object = of};

	moment.scope.rank = w->scope.world > 1 ? (int32_t)w->stream : -1;
	if (w->parent.tag)
		moment.parent = &w->parent;
	if (w->event.kind)
		moment.event = &w->event;
	moment.attribute = w->attribute;
	moment.owner = w->owner;
	moment.parameter = w->parameter;
	moment.number = w->value;
	wti_judge_moment(&w->judge, &moment);
	if (w->listen)
		w->listen(w->listener, &moment);
}

/* A fact about an object, such as the batch size of a loader. */
static inline void tell_fact(struct world *w, const struct wti_object *of, const char *attribute,
			     double value)
{
	w->attribute = word(w, attribute);
	w->value = value;
	tell(w, WTI_MOMENT_STATE, of);
	w->attribute = 0;
	w->value = 0;
}

/* The next moment has an event of this kind, whose fields are all 0 and whose names are all `name`;
 * end_event() ends that. */
static inline void begin_event(struct world *w, uint16_t kind, const char *name)
{
	struct wti_symbols *symbols = w->training.symbols;
	struct wti_symbol_cache *cache;

	w->event.kind = wt_kind_builtin(kind);
	w->event.batch = &w->batch;
	w->event.stream = w->stream;
	for (int i = 0; i < w->event.kind->field_count; i++) {
		w->fields[i] = 0;
		w->batch.values[i] = &w->fields[i];
		w->batch.text[i] = w->text;
		w->batch.text_at[i] = w->text_at;
	}
	if (!symbols->caches) {
		symbols->caches = calloc(STREAMS, sizeof(*symbols->caches));
		symbols->cache_count = STREAMS;
	}
	cache = &symbols->caches[w->stream];
	if (!cache->symbols)
		cache->symbols = calloc(2, sizeof(*cache->symbols));
	cache->count = 1;
	cache->symbols[0] = word(w, name) + 1;
}

/* Another name in one field. */
static inline void set_name(struct world *w, int field, const char *name)
{
	struct wti_symbol_cache *cache = &w->training.symbols->caches[w->stream];

	cache->symbols[1] = word(w, name) + 1;
	cache->count = 2;
	w->fields[field] = 1;
}

static inline void end_event(struct world *w)
{
	w->event.kind = NULL;
}

/* How many of an optimizer's gradients there are: at a backward(), a step, or a clearing. */
static inline void tell_gradients(struct world *w, const struct wti_object *of, uint64_t when,
				  uint64_t zero, uint64_t nonzero)
{
	begin_event(w, WT_KIND_GRADIENTS, "");
	w->fields[WT_GRADIENTS_FIELD_MOMENT] = when;
	w->fields[WT_GRADIENTS_FIELD_ZERO] = zero;
	w->fields[WT_GRADIENTS_FIELD_NONZERO] = nonzero;
	tell(w, WTI_MOMENT_GRADIENTS, of);
	end_event(w);
}

/* The module that has a parameter was called with gradients on, or without inside of one that is.
 */
static inline void use(struct world *w, struct wti_parameter *of, const char *module_name,
		       uint64_t how)
{
	of->module = word(w, module_name);
	*wti_map_number(&w->training.used, (uint64_t)w->stream << 32 | of->module) = how;
}

static inline void tell_call(struct world *w)
{
	tell(w, WTI_MOMENT_CALL, NULL);
}

static inline void module(struct world *w, const char *callee, const char *name, uint32_t flags)
{
	struct wti_object *of = object(w, name, name, WT_OBJECT_TYPE_MODULE);

	call(w, callee)->object = of->name;
	w->call.flags = flags | WTI_CALL_SAYS_TRAINING;
}

static inline void tell_module(struct world *w, enum wti_moment_type type)
{
	tell(w, type, wti_training_object(&w->training, w->stream, w->call.object));
}

static inline struct wti_object *find(struct world *w, const char *name)
{
	return (struct wti_object *)wti_training_object(&w->training, w->stream, word(w, name));
}

static inline void backward(struct world *w)
{
	wti_process_at(&w->training, w->stream)->backward_count++;
	for (size_t i = 0; i < w->training.objects.count; i++) {
		wti_object_at(&w->training, i)->backward_count++;
		wti_object_at(&w->training, i)->zero_grad_count_after_backward = 0;
	}
	if (w->parent.tag == WTI_MOMENT_STEP)
		wti_object_of(&w->training, w->stream, w->parent.object)->has_closure = true;
	tell(w, WTI_MOMENT_BACKWARD, NULL);
}

/* A step as training.c tells it: before, and with its outcome. */
static inline void step(struct world *w, const char *name)
{
	struct wti_object *of = find(w, name);

	call(w, "Adam.step");
	tell(w, WTI_MOMENT_STEP, of);
	of->step_count++;
	wti_process_at(&w->training, w->stream)->step_count++;
	for (uint32_t i = 0; i < of->member_count; i++) {
		struct wti_parameter *moved = wti_parameter_at(&w->training, of->members[i]);

		moved->step_count++;
		moved->any_grad_count += moved->grad != WTI_GRAD_NONE;
		moved->with_grad_count += moved->grad == WTI_GRAD_NONZERO;
	}
	tell(w, WTI_MOMENT_STEPPED, of);
	of->backward_count = 0;
	w->scope.step++;
}

/* Violated by the wrong one, measured and not violated in the right one. */
static inline void twins(const char *code, void (*act)(struct world *w, bool is_wrong))
{
	for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		act(&w, is_wrong);
		wt_result_init(&result, "test");
		wti_judge_finish(&w.judge, &result);
		if ((case_of(&w, code)->violation_count > 0) != is_wrong)
			test_fail(__FILE__, __LINE__, "%s: the %s twin", code,
				  is_wrong ? "wrong" : "right");
		if (!is_wrong && !case_of(&w, code)->held_count)
			test_fail(__FILE__, __LINE__, "%s: not measured in the right twin", code);
		wt_result_release(&result);
		end(&w);
	}
}

#endif
