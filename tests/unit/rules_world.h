/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in a few lines for the tests of rules. A test describes what a program has (objects,
 * parameters, where it is) and calls what it does; both become events as an agent emits them, in
 * its order, and training.c makes the moments. What was described since the last event is emitted
 * before the next one. In the header as test.h is, because failures are counted by file.
 */
#ifndef RULES_WORLD_H
#define RULES_WORLD_H

#include "inspect/training/shape.h"
#include "rules_events.h"

/* ---- The parts of a run --------------------------------------------------------------------- */

static inline struct made_object *find(struct world *w, const char *name)
{
	uint32_t symbol = word(w, name);

	for (size_t i = 0; i < w->object_count; i++)
		if (w->objects[i].name == symbol && w->objects[i].stream == w->stream)
			return &w->objects[i];
	return NULL;
}

static inline struct made_object *object(struct world *w, const char *name, const char *class_name,
					 uint32_t type)
{
	struct made_object *made = find(w, name);

	if (!made) {
		CHECK(w->object_count < OBJECTS_MAX);
		made = &w->objects[w->object_count++];
		*made = (struct made_object){.stream = w->stream, .name = word(w, name)};
	}
	made->class_name = word(w, class_name);
	made->type = type;
	return made;
}

static inline struct made_object *optimizer(struct world *w, const char *name,
					    const char *class_name)
{
	return object(w, name, class_name, WT_OBJECT_TYPE_OPTIMIZER);
}

static inline struct made_parameter *find_parameter(struct world *w, const char *owner,
						    const char *name)
{
	uint32_t of = word(w, owner), symbol = word(w, name);

	for (size_t i = 0; i < w->parameter_count; i++)
		if (w->parameters[i].owner == of && w->parameters[i].name == symbol &&
		    w->parameters[i].stream == w->stream)
			return &w->parameters[i];
	return NULL;
}

/* A matrix of a model, in an optimizer if there is one. */
static inline struct made_parameter *parameter(struct world *w, const char *owner, const char *name,
					       const struct made_object *of)
{
	struct made_parameter *made = find_parameter(w, owner, name);

	if (made)
		return made;
	if (!find(w, owner))
		object(w, owner, owner, WT_OBJECT_TYPE_MODULE);
	CHECK(w->parameter_count < PARAMETERS_MAX);
	made = &w->parameters[w->parameter_count++];
	*made = (struct made_parameter){.stream = w->stream,
					.owner = word(w, owner),
					.name = word(w, name),
					.shape = word(w, "4x4"),
					.dtype = WT_DTYPE_F32,
					.requires_grad = true,
					.hash = word(w, name),
					.optimizer = of};
	return made;
}

/* Another optimizer takes it, too. */
static inline void hold(struct world *w, const struct made_object *by, struct made_parameter *of)
{
	flush(w);
	of->optimizer = by;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static inline struct wti_call *call(struct world *w, const char *callee)
{
	w->call = (struct wti_call){.callee = word(w, callee), .site = 7};
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

static inline void emit_value_of_call(struct world *w, const struct wti_value_row *value,
				      uint32_t seq)
{
	bool is_tensor = value->type == WTI_VALUE_TENSOR;

	begin_event(w, w->stream, is_tensor ? WT_KIND_TENSOR : WT_KIND_ARGUMENT);
	if (is_tensor) {
		set(w, WT_TENSOR_FIELD_CALL, seq);
		set(w, WT_TENSOR_FIELD_POSITION, (uint64_t)(int64_t)value->position);
		set_symbol(w, WT_TENSOR_FIELD_NAME, value->name);
		set_digest(w, &value->digest);
	} else {
		set(w, WT_ARGUMENT_FIELD_CALL, seq);
		set(w, WT_ARGUMENT_FIELD_POSITION, (uint64_t)(int64_t)value->position);
		set_symbol(w, WT_ARGUMENT_FIELD_NAME, value->name);
		set(w, WT_ARGUMENT_FIELD_TYPE, value->type);
		set(w, WT_ARGUMENT_FIELD_VALUE, value->bits);
		set_symbol(w, WT_ARGUMENT_FIELD_TEXT, value->text);
	}
	emit(w);
}

/* What the call was given since, or what it returns. */
static inline void emit_values(struct world *w, bool is_return, uint32_t seq)
{
	struct wti_value_row cut = {.name = word(w, "..."), .type = WT_VALUE_TYPE_NONE};

	for (uint32_t i = 0; i < w->call.value_count; i++)
		if ((w->values[i].position < 0) == is_return)
			emit_value_of_call(w, &w->values[i], seq);
	if (!is_return && w->call.is_cut)
		emit_value_of_call(w, &cut, seq);
}

static inline bool is_open(const struct world *w)
{
	return w->call.seq && w->open_count[w->stream] &&
	       w->open[w->stream][w->open_count[w->stream] - 1].seq == w->call.seq;
}

/* The innermost call returns. */
static inline void leave(struct world *w)
{
	struct open_call *open = &w->open[w->stream][w->open_count[w->stream] - 1];

	CHECK(w->open_count[w->stream]);
	if (is_open(w))
		emit_values(w, true, open->seq);
	w->call.seq = 0;
	begin_event(w, w->stream, WT_KIND_CALL_END);
	set_symbol(w, WT_CALL_END_FIELD_CALLEE, open->callee);
	emit(w);
	w->open_count[w->stream]--;
}

/* What a program does beside its models: what is still open of them has returned. */
static inline void leave_modules(struct world *w)
{
	while (w->open_count[w->stream]) {
		const struct open_call *open = &w->open[w->stream][w->open_count[w->stream] - 1];

		if (!strstr(wti_symbol_text(w->training.symbols, open->callee), ".forward"))
			break;
		leave(w);
	}
}

static inline void leave_all(struct world *w)
{
	while (w->open_count[w->stream])
		leave(w);
}

/* A model that the program calls is inside of no other, and a part inside of none but its own. */
static inline void leave_others(struct world *w)
{
	const char *name = wti_symbol_text(w->training.symbols, w->call.object);

	if (w->call.flags & WT_CALL_OUTERMOST)
		leave_modules(w);
	while (*name && w->open_count[w->stream]) {
		uint32_t open = w->open[w->stream][w->open_count[w->stream] - 1].object;
		const char *around = wti_symbol_text(w->training.symbols, open);
		size_t bytes = strlen(around);

		if (!strchr(around, '.') || (!strncmp(name, around, bytes) && name[bytes] == '.'))
			break;
		leave(w);
	}
}

/* What the agent would say that the call is to the run. */
static inline enum wt_action action_of(const struct world *w)
{
	const char *callee = wti_symbol_text(w->training.symbols, w->call.callee);
	uint32_t type = WTI_OBJECT_UNKNOWN;

	for (size_t i = 0; i < w->object_count; i++)
		if (w->objects[i].stream == w->stream && w->objects[i].name == w->call.object)
			type = w->objects[i].type;
	return wti_action_derived((struct wt_text){callee, strlen(callee)}, type);
}

/* The call that was described begins: what follows is inside of it until it is left. */
static inline void enter(struct world *w)
{
	uint32_t *depth = &w->open_count[w->stream];

	leave_others(w);
	flush(w);
	CHECK(*depth < DEPTH_MAX);
	begin_event(w, w->stream, WT_KIND_CALL_BEGIN);
	w->call.seq = (uint32_t)w->event.seq;
	set_symbol(w, WT_CALL_BEGIN_FIELD_CALLEE, w->call.callee);
	set_symbol(w, WT_CALL_BEGIN_FIELD_MODULE, w->call.module);
	set_symbol(w, WT_CALL_BEGIN_FIELD_OBJECT, w->call.object);
	set(w, WT_CALL_BEGIN_FIELD_SITE, w->call.site);
	set(w, WT_CALL_BEGIN_FIELD_FLAGS, w->call.flags);
	set(w, WT_CALL_BEGIN_FIELD_ACTION, action_of(w));
	emit(w);
	w->open[w->stream][(*depth)++] =
		(struct open_call){w->call.callee, w->call.object, w->call.seq};
	emit_values(w, false, w->call.seq);
}

/* What is described from here on is of the innermost open call again. */
static inline void back(struct world *w)
{
	const struct open_call *open = &w->open[w->stream][w->open_count[w->stream] - 1];

	w->call =
		(struct wti_call){.callee = open->callee, .object = open->object, .seq = open->seq};
}

/* All of the call, which training.c has to take for this. */
static inline void tell(struct world *w, enum wti_moment_type type, const struct made_object *of)
{
	if (of && !w->call.object)
		w->call.object = of->name;
	if (type == WTI_MOMENT_MODULE) {
		enter(w);
		return;
	}
	w->heard = 0;
	if (!is_open(w)) {
		if (type != WTI_MOMENT_CALL && type != WTI_MOMENT_MODULE_END)
			leave_modules(w);
		enter(w);
	}
	leave(w);
	if (!(w->heard & type))
		test_fail(__FILE__, __LINE__, "%s is not such a moment",
			  wti_symbol_text(w->training.symbols, w->call.callee));
}

static inline void tell_call(struct world *w)
{
	tell(w, WTI_MOMENT_CALL, NULL);
}

/* Of a model or a part of one. */
static inline void module(struct world *w, const char *callee, const char *name, uint32_t flags)
{
	char class_name[64];

	snprintf(class_name, sizeof(class_name), "%.*s", (int)strcspn(callee, "."), callee);
	if (!strchr(name, '.') && !find(w, name))
		object(w, name, class_name, WT_OBJECT_TYPE_MODULE);
	call(w, callee)->object = word(w, name);
	w->call.flags = flags | WT_CALL_MODE_KNOWN;
}

static inline void tell_module(struct world *w, enum wti_moment_type type)
{
	tell(w, type, NULL);
}

/* The module that has a parameter was called with gradients on, or without inside of one that is.
 */
static inline void use(struct world *w, const struct made_parameter *of, const char *name,
		       uint64_t how)
{
	const char *owner = wti_symbol_text(w->training.symbols, of->owner);

	module(w, "Net.forward", owner, WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD);
	enter(w);
	if (strcmp(name, owner)) {
		module(w, "Linear.forward", name,
		       WT_CALL_TRAIN | (how & WTI_USE_GRAD ? WT_CALL_GRAD : 0));
		tell_call(w);
	}
	leave_all(w);
}

/* ---- What is no call ------------------------------------------------------------------------ */

/* A fact about an object, such as the batch size of a loader. */
static inline void tell_fact(struct world *w, const struct made_object *of, const char *attribute,
			     double value)
{
	flush(w);
	begin_state(w, w->stream, of && !w->owner ? of->name : w->owner, word(w, attribute),
		    WT_VALUE_TYPE_FLOAT);
	set_real(w, WT_STATE_FIELD_NEW, value);
	emit(w);
}

static inline void tell_loss(struct world *w, double loss)
{
	flush(w);
	begin_event(w, w->stream, WT_KIND_COUNTER);
	set_symbol(w, WT_COUNTER_FIELD_NAME, word(w, "loss"));
	set_real(w, WT_COUNTER_FIELD_VALUE, loss);
	emit(w);
}

/* How many of an optimizer's gradients there are: at a backward(), a step, or a clearing. */
static inline void tell_gradients(struct world *w, const struct made_object *of, uint64_t when,
				  uint64_t zero, uint64_t nonzero)
{
	leave_modules(w);
	flush(w);
	begin_event(w, w->stream, WT_KIND_GRADIENTS);
	set_symbol(w, WT_GRADIENTS_FIELD_OBJECT, of->name);
	set(w, WT_GRADIENTS_FIELD_MOMENT, when);
	set(w, WT_GRADIENTS_FIELD_ZERO, zero);
	set(w, WT_GRADIENTS_FIELD_NONZERO, nonzero);
	emit(w);
	w->has_counted_gradients[w->stream] |= when == WT_MOMENT_STEP;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* The call that was described is one of backward(). */
static inline void backward(struct world *w)
{
	tell(w, WTI_MOMENT_BACKWARD, NULL);
	w->has_gone_backward[w->stream] = true;
}

static inline void emit_gradient(struct world *w, const struct made_parameter *of)
{
	char name[128];

	snprintf(name, sizeof(name), "%s.grad", wti_symbol_text(w->training.symbols, of->name));
	if (of->has_grad_statistics && of->grad == WTI_GRAD_NONZERO)
		emit_statistics(w, of, word(w, name), &of->grad_statistics, of->grad_hash);
	begin_state(w, of->stream, of->owner, word(w, name),
		    of->grad == WTI_GRAD_NONE ? WT_VALUE_TYPE_NONE : WT_VALUE_TYPE_HASH);
	set(w, WT_STATE_FIELD_FLAGS, of->grad == WTI_GRAD_ZERO ? 2 : 0);
	set(w, WT_STATE_FIELD_NEW, of->grad_hash);
	emit(w);
}

/* Those that were not described as unknown, where there are others than before. */
static inline void emit_gradients(struct world *w, const struct made_object *of)
{
	uint64_t count[WTI_GRAD_NONZERO + 1] = {0};

	for (size_t i = 0; i < w->parameter_count; i++) {
		const struct made_parameter *now = &w->parameters[i];
		struct made_parameter *known = &w->known_parameters[i];

		if (now->optimizer != of)
			continue;
		count[now->grad]++;
		if (now->grad != WTI_GRAD_UNKNOWN &&
		    (w->has_gone_backward[w->stream] || known->grad != now->grad ||
		     known->grad_hash != now->grad_hash))
			emit_gradient(w, now);
		known->grad = now->grad;
		known->grad_hash = now->grad_hash;
	}
	if (w->has_counted_gradients[w->stream])
		return;
	begin_event(w, w->stream, WT_KIND_GRADIENTS);
	set_symbol(w, WT_GRADIENTS_FIELD_OBJECT, of->name);
	set(w, WT_GRADIENTS_FIELD_MOMENT, WT_MOMENT_STEP);
	set(w, WT_GRADIENTS_FIELD_NONE, count[WTI_GRAD_NONE]);
	set(w, WT_GRADIENTS_FIELD_ZERO, count[WTI_GRAD_ZERO]);
	set(w, WT_GRADIENTS_FIELD_NONZERO, count[WTI_GRAD_NONZERO]);
	set(w, WT_GRADIENTS_FIELD_UNKNOWN, count[WTI_GRAD_UNKNOWN]);
	emit(w);
}

/* What a step has made of the parameters. */
static inline void emit_outcome(struct world *w, const struct made_object *of)
{
	for (size_t i = 0; i < w->parameter_count; i++) {
		const struct made_parameter *now = &w->parameters[i];
		struct made_parameter *known = &w->known_parameters[i];

		if (now->optimizer == of && (now->moved || known->hash != now->hash))
			emit_value(w, now, false, known->hash);
		known->hash = now->hash;
	}
}

/* A step begins: what it calls is inside of it until it has ended. */
static inline void begin_step(struct world *w, const char *name)
{
	const struct made_object *of = find(w, name);
	char callee[64];

	leave_modules(w);
	w->stepping = of;
	flush(w);
	emit_gradients(w, of);
	snprintf(callee, sizeof(callee), "%s.step",
		 wti_symbol_text(w->training.symbols, of->class_name));
	call(w, callee)->object = of->name;
	enter(w);
}

static inline void end_step(struct world *w)
{
	leave(w);
	emit_outcome(w, w->stepping);
	begin_event(w, w->stream, WT_KIND_STEP_END);
	set_symbol(w, WT_STEP_END_FIELD_OBJECT, w->stepping->name);
	emit(w);
	w->stepping = NULL;
	w->has_gone_backward[w->stream] = w->has_counted_gradients[w->stream] = false;
	w->scope.step++;
	flush(w);
}

static inline void step(struct world *w, const char *name)
{
	begin_step(w, name);
	end_step(w);
}

/* ---- Asking --------------------------------------------------------------------------------- */

/* Everything that was begun has ended. */
static inline void settle(struct world *w)
{
	size_t stream = w->stream;

	for (w->stream = 0; w->stream < STREAMS; w->stream++)
		leave_all(w);
	w->stream = stream;
}

static inline const struct wti_case *case_of(struct world *w, const char *code)
{
	settle(w);
	for (size_t i = 0; i < w->judge.count; i++)
		if (!strcmp(w->judge.cases[i].rule->code, code))
			return &w->judge.cases[i];
	return NULL;
}

/* The run has ended. */
static inline void finish_training(struct world *w)
{
	settle(w);
	wti_training_finish(&w->training);
}

static inline void finish(struct world *w, struct wt_result *result)
{
	finish_training(w);
	wti_judge_finish(&w->judge, result);
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
		finish(&w, &result);
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
