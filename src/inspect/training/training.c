/* SPDX-License-Identifier: Apache-2.0 */
/* Makes moments of events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "members.h"

#define STREAMS_MAX 65536u
/* Of all ranks together: 1024 of them with a thousand objects and 4096 parameters each. At about
 * 450 and 420 bytes that is half a gigabyte and two; a run that small costs what it has. */
#define OBJECTS_MAX (1u << 20)
#define PARAMETERS_MAX (1u << 22)

/* ---- Reporting ------------------------------------------------------------------------------- */

static struct wti_moment moment_of(struct wti_training *training, enum wti_moment_type type,
				   size_t stream, uint32_t track)
{
	return (struct wti_moment){
		.type = type,
		.training = training,
		.process = wti_training_process(training, stream),
		.scope = wti_steps_scope(&training->calls.steps, stream, track),
	};
}

static void report(struct wti_training *training, const struct wti_moment *moment)
{
	if (moment->process)
		training->report(training->self, moment);
}

static void report_call(struct wti_training *training, enum wti_moment_type type,
			const struct wti_call *call, const struct wti_call *parent,
			const struct wti_object *object)
{
	struct wti_moment moment = moment_of(training, type, call->stream, call->track);

	moment.scope = call->scope;
	moment.call = call;
	moment.parent = parent;
	moment.object = object;
	report(training, &moment);
}

/* ---- What a call is ------------------------------------------------------------------------- */

static struct wti_object *object_of_call(struct wti_training *training, const struct wti_call *call)
{
	return call->object ? (struct wti_object *)wti_training_object(training, call->stream,
								       call->object)
			    : NULL;
}

static enum wt_action action_of(const struct wti_training *training, const struct wti_call *call,
				const struct wti_object *object)
{
	const char *callee = wti_symbol_text(training->symbols, call->callee);

	if (call->is_recorded)
		return call->action;
	return wti_action_derived((struct wt_text){callee, strlen(callee)},
				  object ? object->type : WTI_OBJECT_UNKNOWN);
}

/* Wrappers and averages are called as modules are. */
static bool is_a_module(const struct wti_object *object)
{
	return object->type == WT_OBJECT_TYPE_MODULE || object->type == WT_OBJECT_TYPE_WRAPPER ||
	       object->type == WT_OBJECT_TYPE_AVERAGE;
}

/* The moment of an action; rules count on an object of the type that it is about. */
static enum wti_moment_type type_of(enum wt_action action, const struct wti_object *object)
{
	static const struct {
		enum wti_moment_type moment;
		uint32_t of; /* enum wt_object_type, WTI_OBJECT_UNKNOWN: any or none */
	} types[] = {
		[WT_ACTION_FORWARD] = {WTI_MOMENT_MODULE, WTI_OBJECT_UNKNOWN},
		[WT_ACTION_BACKWARD] = {WTI_MOMENT_BACKWARD, WTI_OBJECT_UNKNOWN},
		[WT_ACTION_STEP] = {WTI_MOMENT_STEP, WT_OBJECT_TYPE_OPTIMIZER},
		[WT_ACTION_ZERO_GRAD] = {WTI_MOMENT_ZERO_GRAD, WTI_OBJECT_UNKNOWN},
		[WT_ACTION_SCHEDULER_STEP] = {WTI_MOMENT_SCHEDULER, WT_OBJECT_TYPE_SCHEDULER},
		[WT_ACTION_SCALER] = {WTI_MOMENT_SCALER, WT_OBJECT_TYPE_SCALER},
		[WT_ACTION_ROUND] = {WTI_MOMENT_BATCH, WT_OBJECT_TYPE_LOADER},
		[WT_ACTION_BATCH] = {WTI_MOMENT_BATCH, WT_OBJECT_TYPE_LOADER},
		[WT_ACTION_SAVE] = {WTI_MOMENT_SAVE, WTI_OBJECT_UNKNOWN},
		[WT_ACTION_LOAD] = {WTI_MOMENT_LOAD, WTI_OBJECT_UNKNOWN},
	};

	if (action >= sizeof(types) / sizeof(types[0]) || !types[action].moment)
		return WTI_MOMENT_CALL; /* none, or appended since */
	if (types[action].of != WTI_OBJECT_UNKNOWN && (!object || object->type != types[action].of))
		return WTI_MOMENT_CALL;
	if (action == WT_ACTION_FORWARD && object && !is_a_module(object))
		return WTI_MOMENT_CALL;
	return types[action].moment;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void stepped(struct wti_training *training, struct wti_trained_process *process)
{
	struct wti_object *optimizer = wti_object_at(training, process->stepping - 1);

	process->stepping = 0;
	process->step_count++;
	optimizer->step_count++;
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		struct wti_parameter *parameter = wti_parameter_at(training, optimizer->members[i]);

		parameter->step_count++;
		parameter->moved_count += parameter->moved;
		parameter->with_grad_count += parameter->grad == WTI_GRAD_NONZERO;
		parameter->any_grad_count += parameter->grad != WTI_GRAD_NONE;
	}
	report_call(training, WTI_MOMENT_STEPPED, &process->step_call, NULL, optimizer);
	optimizer->backward_count = 0;
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		wti_parameter_at(training, optimizer->members[i])->grad_is_new = false;
}

/* What ends the outcome of the step before may have been lost. */
static void step_begins(struct wti_training *training, struct wti_trained_process *process,
			const struct wti_call *call, struct wti_object *optimizer)
{
	if (process && process->stepping && call->is_recorded)
		stepped(training, process);
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		wti_parameter_at(training, optimizer->members[i])->moved = false;
}

/* Which optimizer's a call of backward() serves is known only later: all get it. */
static void count_backward(struct wti_training *training, const struct wti_call *call)
{
	struct wti_trained_process *process = wti_training_process(training, call->stream);

	if (process)
		process->backward_count++;
	for (size_t i = 0; i < training->objects.count; i++)
		if (wti_object_at(training, i)->stream == call->stream &&
		    wti_object_at(training, i)->type == WT_OBJECT_TYPE_OPTIMIZER) {
			wti_object_at(training, i)->backward_count++;
			wti_object_at(training, i)->zero_grad_count_after_backward = 0;
		}
}

static void note_closure(struct wti_training *training, const struct wti_call *around)
{
	struct wti_object *optimizer =
		around && around->tag == WTI_MOMENT_STEP ? object_of_call(training, around) : NULL;

	if (optimizer)
		optimizer->has_closure = true;
}

/* The line of the program that made a call. */
static uint32_t site_of(const struct wti_training *training, const struct wti_call *call)
{
	const struct wti_moment moment = {.training = training,
					  .process = wti_process_at(training, call->stream),
					  .call = call};

	return wti_moment_call(&moment).site;
}

static void note_use(struct wti_training *training, struct wti_call *call,
		     const struct wti_call *parent)
{
	uint64_t *use;

	if (!call->object)
		return;
	call->is_shut_off = !(call->flags & WT_CALL_GRAD) && parent &&
			    parent->tag == WTI_MOMENT_MODULE &&
			    (parent->flags & WT_CALL_GRAD || parent->is_shut_off);
	use = wti_map_number(&training->used, (uint64_t)call->stream << 32 | call->object);
	if (!use)
		return;
	if (!(*use >> 32) || (call->is_shut_off && !(*use & WTI_USE_SHUT_OFF)))
		*use = (*use & WTI_USE_MASK) | (uint64_t)site_of(training, call) << 32;
	*use &= ~(uint64_t)WTI_USE_SHUT_OFF;
	*use |= (call->flags & WT_CALL_GRAD ? WTI_USE_GRAD : 0) |
		(call->is_shut_off ? WTI_USE_SHUT_OFF : 0);
}

static void begun(void *self, struct wti_call *call, const struct wti_call *parent)
{
	struct wti_training *training = self;
	struct wti_trained_process *process = wti_training_process(training, call->stream);
	struct wti_object *object = object_of_call(training, call);
	enum wti_moment_type type;

	call->action = action_of(training, call, object);
	type = type_of(call->action, object);
	call->tag = type;
	call->what = wti_callee_of(&training->callees, training->symbols, call->callee,
				   &call->is_in_place);
	if (process)
		process->call_count++;
	if (object)
		object->call_count++;
	if (type == WTI_MOMENT_STEP)
		step_begins(training, process, call, object);
	if (type == WTI_MOMENT_MODULE)
		note_use(training, call, parent);
	if (type == WTI_MOMENT_BACKWARD) {
		count_backward(training, call);
		note_closure(training, parent);
	}
	if (type & (WTI_MOMENT_MODULE | WTI_MOMENT_BACKWARD | WTI_MOMENT_STEP))
		report_call(training, type, call, parent, object);
}

/* Its states come after its end, until wti_action_ends_step(). */
static void step_ended(struct wti_training *training, const struct wti_call *call,
		       const struct wti_object *optimizer)
{
	struct wti_trained_process *process = wti_training_process(training, call->stream);

	if (!process || call->exception)
		return;
	process->stepping = optimizer->place + 1;
	process->step_call = *call;
	process->step_call.values = NULL;
	process->step_call.value_count = 0;
}

/* Module.zero_grad() clears what optimizers hold, too: it is a moment of each of them. That of an
 * optimizer clears its own, and those of the one that it wraps. */
static void zero_grad_ended(struct wti_training *training, const struct wti_call *call,
			    const struct wti_call *parent, const struct wti_object *object)
{
	bool is_optimizer = object && object->type == WT_OBJECT_TYPE_OPTIMIZER;

	for (size_t i = 0; i < training->objects.count; i++) {
		struct wti_object *other = wti_object_at(training, i);

		if (other->stream != call->stream || other->type != WT_OBJECT_TYPE_OPTIMIZER ||
		    (is_optimizer && other != object && other->name != object->of))
			continue;
		other->zero_grad_count++;
		other->zero_grad_count_after_backward++;
		report_call(training, WTI_MOMENT_ZERO_GRAD, call, parent, other);
	}
}

static void ended(void *self, struct wti_call *call, const struct wti_call *parent)
{
	struct wti_training *training = self;
	struct wti_object *object = object_of_call(training, call);
	enum wti_moment_type type = (enum wti_moment_type)call->tag;

	report_call(training, WTI_MOMENT_CALL, call, parent, object);
	switch (type) {
	case WTI_MOMENT_MODULE:
		report_call(training, WTI_MOMENT_MODULE_END, call, parent, object);
		break;
	case WTI_MOMENT_BACKWARD:
		report_call(training, WTI_MOMENT_BACKWARD_END, call, parent, object);
		break;
	case WTI_MOMENT_STEP:
		if (object)
			step_ended(training, call, object);
		break;
	case WTI_MOMENT_ZERO_GRAD:
		zero_grad_ended(training, call, parent, object);
		break;
	case WTI_MOMENT_CALL:
		break;
	default:
		report_call(training, type, call, parent, object);
	}
}

/* ---- States --------------------------------------------------------------------------------- */

/* "fc1.weight.grad" -> "fc1.weight"; false: it is not the name of a gradient. */
static bool without_grad(struct wti_training *training, uint32_t attribute, uint32_t *ret_name)
{
	const char *text = wti_symbol_text(training->symbols, attribute);
	size_t bytes = strlen(text);

	if (bytes < 6 || strcmp(text + bytes - 5, ".grad"))
		return false;
	*ret_name = wti_symbol(training->symbols, text, bytes - 5);
	return true;
}

static void take_gradient(struct wti_parameter *parameter, const struct wt_event *event)
{
	uint32_t type = (uint32_t)wt_event_u64(event, WT_STATE_FIELD_TYPE);

	parameter->grad_is_new = true;
	if (type == WT_VALUE_TYPE_NONE) {
		parameter->grad = WTI_GRAD_NONE;
		return;
	}
	parameter->grad_hash = wt_event_u64(event, WT_STATE_FIELD_NEW);
	parameter->grad = wt_event_u64(event, WT_STATE_FIELD_FLAGS) & WT_STATE_ZEROS
				  ? WTI_GRAD_ZERO
				  : WTI_GRAD_NONZERO;
}

static void take_value(struct wti_parameter *parameter, const struct wt_event *event)
{
	parameter->moved |= parameter->has_hash;
	parameter->hash = wt_event_u64(event, WT_STATE_FIELD_NEW);
	if (!parameter->has_hash)
		parameter->first_hash = parameter->hash;
	parameter->has_hash = true;
}

static double number_of(const struct wt_event *event)
{
	switch (wt_event_u64(event, WT_STATE_FIELD_TYPE)) {
	case WT_VALUE_TYPE_FLOAT:
		return wt_event_f64(event, WT_STATE_FIELD_NEW);
	case WT_VALUE_TYPE_BOOL:
	case WT_VALUE_TYPE_INT:
		return (double)wt_event_i64(event, WT_STATE_FIELD_NEW);
	default:
		return 0;
	}
}

/* "lr" is of the first group, "group2.lr" of the third. */
static void take_lr(struct wti_training *training, struct wti_object *optimizer,
		    const struct wti_moment *moment)
{
	const char *text = wti_symbol_text(training->symbols, moment->attribute);
	unsigned group = 0;
	char end;

	if (strcmp(text, "lr") && (sscanf(text, "group%u.l%c", &group, &end) != 2 || end != 'r'))
		return;
	if (group >= WTI_GROUPS_MAX || strcmp(strrchr(text, 'l'), "lr"))
		return;
	optimizer->lr[group] = moment->number;
	optimizer->lr_known |= 1u << group;
}

/* "p" of a module is the rate of a dropout. */
static void take_rate(struct wti_training *training, const struct wti_moment *moment)
{
	uint64_t *rate;

	if (wt_event_u64(moment->event, WT_STATE_FIELD_TYPE) != WT_VALUE_TYPE_FLOAT ||
	    strcmp(wti_symbol_text(training->symbols, moment->attribute), "p"))
		return;
	rate = wti_map_number(&training->rates,
			      (uint64_t)moment->process->stream << 32 | moment->owner);
	if (rate)
		*rate = moment->number == 0 ? 1 : 2;
}

static void take_state(struct wti_training *training, const struct wt_event *event)
{
	uint32_t owner = wti_symbol_of(training->symbols, event, WT_STATE_FIELD_OWNER);
	uint32_t attribute = wti_symbol_of(training->symbols, event, WT_STATE_FIELD_ATTRIBUTE);
	struct wti_moment moment =
		moment_of(training, WTI_MOMENT_STATE, event->stream, event->track);
	struct wti_parameter *parameter;
	uint32_t name;

	parameter = wti_parameter_find(training, event->stream, owner, attribute);
	if (parameter) {
		take_value(parameter, event);
	} else if (without_grad(training, attribute, &name)) {
		parameter = wti_parameter_find(training, event->stream, owner, name);
		if (parameter)
			take_gradient(parameter, event);
	}
	moment.parameter = parameter;
	moment.event = event;
	moment.owner = owner;
	moment.attribute = attribute;
	moment.object = wti_training_object(training, event->stream, owner);
	moment.number = number_of(event);
	if (moment.object && moment.object->type == WT_OBJECT_TYPE_OPTIMIZER)
		take_lr(training, wti_object_at(training, moment.object->place), &moment);
	else if (!parameter)
		take_rate(training, &moment);
	report(training, &moment);
}

static void take_tensor(struct wti_training *training, const struct wt_event *event)
{
	struct wti_moment moment =
		moment_of(training, WTI_MOMENT_TENSOR, event->stream, event->track);
	struct wti_parameter *parameter;
	uint32_t name;

	moment.owner = wti_symbol_of(training->symbols, event, WT_TENSOR_FIELD_OWNER);
	moment.attribute = wti_symbol_of(training->symbols, event, WT_TENSOR_FIELD_NAME);
	moment.event = event;
	wti_digest_read(&moment.digest, training->symbols, event);
	parameter = wti_parameter_find(training, event->stream, moment.owner, moment.attribute);
	if (parameter) {
		parameter->statistics = moment.digest;
		parameter->has_statistics = true;
	} else if (without_grad(training, moment.attribute, &name)) {
		parameter = wti_parameter_find(training, event->stream, moment.owner, name);
		if (parameter) {
			parameter->grad_statistics = moment.digest;
			parameter->has_grad_statistics = true;
		}
	}
	moment.parameter = parameter;
	report(training, &moment);
}

/* ---- Other events --------------------------------------------------------------------------- */

static void take_counter(struct wti_training *training, const struct wt_event *event)
{
	struct wti_moment moment =
		moment_of(training, WTI_MOMENT_LOSS, event->stream, event->track);
	struct wti_trained_process *process = wti_training_process(training, event->stream);
	uint32_t name = wti_symbol_of(training->symbols, event, WT_COUNTER_FIELD_NAME);

	if (strcmp(wti_symbol_text(training->symbols, name), "loss") || !process)
		return;
	moment.number = wt_event_f64(event, WT_COUNTER_FIELD_VALUE);
	process->has_loss = true;
	process->loss = moment.number;
	report(training, &moment);
}

static void take_other(struct wti_training *training, const struct wt_event *event,
		       const struct wti_call *inside)
{
	struct wti_moment moment = moment_of(training, 0, event->stream, event->track);

	moment.event = event;
	moment.call = inside;
	switch (event->kind->number) {
	case WT_KIND_OBJECT:
		moment.type = WTI_MOMENT_OBJECT;
		moment.object = wti_take_object(training, event);
		break;
	case WT_KIND_MEMBER:
		moment.type = WTI_MOMENT_MEMBER;
		moment.parameter = wti_take_member(training, event);
		break;
	case WT_KIND_GRADIENTS:
		moment.type = WTI_MOMENT_GRADIENTS;
		moment.object = wti_training_object(
			training, event->stream,
			wti_symbol_of(training->symbols, event, WT_GRADIENTS_FIELD_OBJECT));
		break;
	case WT_KIND_ROW:
		moment.type = WTI_MOMENT_ROW;
		break;
	case WT_KIND_LOST:
		moment.type = WTI_MOMENT_LOST;
		moment.count = wt_event_u64(event, WT_LOST_FIELD_COUNT);
		break;
	default:
		return;
	}
	report(training, &moment);
}

static void other_event(void *self, const struct wt_event *event, const struct wti_call *inside)
{
	struct wti_training *training = self;

	switch (event->kind->number) {
	case WT_KIND_STATE:
		take_state(training, event);
		break;
	case WT_KIND_TENSOR:
		take_tensor(training, event);
		break;
	case WT_KIND_COUNTER:
		take_counter(training, event);
		break;
	case WT_KIND_THINNED:
		wti_training_process(training, event->stream)->omitted |=
			(uint32_t)wt_event_u64(event, WT_THINNED_FIELD_LACKS);
		break;
	default:
		take_other(training, event, inside);
	}
}

/* ---- The stream of events ------------------------------------------------------------------- */

static struct wti_listener listener_of(struct wti_training *training)
{
	return (struct wti_listener){training, begun, ended, other_event};
}

int wti_training_init(struct wti_training *training,
		      void (*listen)(void *self, const struct wti_moment *moment), void *self,
		      struct wt_err *err)
{
	*training = (struct wti_training){.report = listen, .self = self};
	training->symbols = calloc(1, sizeof(*training->symbols));
	if (!training->symbols)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_symbols_init(training->symbols);
	wti_calls_init(&training->calls, training->symbols);
	wti_steady_init(&training->processes, sizeof(struct wti_trained_process), STREAMS_MAX);
	wti_steady_init(&training->objects, sizeof(struct wti_object), OBJECTS_MAX);
	wti_steady_init(&training->parameters, sizeof(struct wti_parameter), PARAMETERS_MAX);
	wti_map_init(&training->object_index, OBJECTS_MAX);
	wti_map_init(&training->used, PARAMETERS_MAX);
	wti_map_init(&training->rates, PARAMETERS_MAX);
	wti_pairs_init(&training->parts, PARAMETERS_MAX);
	wti_pairs_init(&training->parameter_index, PARAMETERS_MAX);
	wti_pairs_init(&training->place_index, PARAMETERS_MAX);
	return 0;
}

void wti_training_release(struct wti_training *training)
{
	for (size_t i = 0; i < training->objects.count; i++)
		free(wti_object_at(training, i)->members);
	wti_steady_release(&training->objects);
	wti_steady_release(&training->parameters);
	wti_steady_release(&training->processes);
	wti_map_release(&training->object_index);
	wti_map_release(&training->used);
	wti_map_release(&training->rates);
	wti_pairs_release(&training->parts);
	wti_pairs_release(&training->parameter_index);
	wti_pairs_release(&training->place_index);
	free(training->placed);
	wti_callees_release(&training->callees);
	wti_calls_release(&training->calls);
	if (training->symbols)
		wti_symbols_release(training->symbols);
	free(training->symbols);
	*training = (struct wti_training){0};
}

int wti_training_event(struct wti_training *training, const struct wt_event *event,
		       struct wt_err *err)
{
	struct wti_listener listener = listener_of(training);
	struct wti_trained_process *process = wti_training_process(training, event->stream);

	if (!process)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (process->stepping && process->step_call.track == event->track &&
	    wti_action_ends_step(event, process->step_call.is_recorded))
		stepped(training, process);
	process->reader = event->reader;
	process->scope = wti_steps_scope(&training->calls.steps, event->stream, event->track);
	if (process->scope.epoch > process->last_epoch)
		process->last_epoch = process->scope.epoch;
	return wti_calls_event(&training->calls, event, &listener, err);
}

void wti_training_finish(struct wti_training *training)
{
	struct wti_listener listener = listener_of(training);

	wti_calls_finish(&training->calls, &listener);
	for (size_t i = 0; i < training->processes.count; i++)
		if (wti_process_at(training, i)->stepping)
			stepped(training, wti_process_at(training, i));
}
