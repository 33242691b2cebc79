/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, objects and parameters, by name. */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "members.h"

#define MEMBERS_MAX (1u << 22) /* of one optimizer */
#define NAME_BYTES 1024

struct wti_trained_process *wti_training_process(struct wti_training *training, size_t stream)
{
	while (stream >= training->processes.count) {
		struct wti_trained_process *process = wti_steady_add(&training->processes);

		if (!process)
			return NULL;
		process->stream = training->processes.count - 1;
		process->scope = (struct wti_scope){-1, -1, 0, -1, -1};
		process->last_epoch = -1;
	}
	return wti_process_at(training, stream);
}

struct wti_object *wti_object_of(struct wti_training *training, size_t stream, uint32_t name)
{
	uint64_t *slot = wti_map_number(&training->object_index, (uint64_t)stream << 32 | name);
	struct wti_object *object;

	if (slot && *slot)
		return wti_object_at(training, *slot - 1);
	object = slot ? wti_steady_add(&training->objects) : NULL;
	if (!object) {
		training->overflow_count++;
		return NULL;
	}
	*slot = training->objects.count;
	object->place = (uint32_t)training->objects.count - 1;
	object->stream = stream;
	object->name = name;
	object->born = ++training->births;
	return object;
}

const struct wti_object *wti_training_object(const struct wti_training *training, size_t stream,
					     uint32_t name)
{
	const uint64_t *slot =
		wti_map_find_number(&training->object_index, (uint64_t)stream << 32 | name);

	return slot && *slot ? wti_object_at(training, *slot - 1) : NULL;
}

/* Two things by name: a parameter in its owner, a place in an optimizer, a model in another. */
static struct wti_pair inside(size_t stream, uint32_t whole, uint32_t part)
{
	return (struct wti_pair){(uint64_t)stream << 32 | whole, part};
}

static uint32_t module_of(const struct wti_training *training,
			  const struct wti_parameter *parameter)
{
	const char *owner = wti_symbol_text(training->symbols, parameter->owner);
	const char *name = wti_symbol_text(training->symbols, parameter->name);
	const char *dot = strrchr(name, '.');
	char text[NAME_BYTES];
	int bytes;

	if (!dot)
		return parameter->owner;
	bytes = snprintf(text, sizeof(text), "%s.%.*s", owner, (int)(dot - name), name);
	if (bytes < 0 || bytes >= (int)sizeof(text))
		return WTI_SYMBOL_OTHER;
	return wti_symbol(training->symbols, text, (size_t)bytes);
}

struct wti_parameter *wti_parameter_of(struct wti_training *training, size_t stream, uint32_t owner,
				       uint32_t name)
{
	size_t number = wti_pairs_add(&training->parameter_index, inside(stream, owner, name));
	struct wti_parameter *parameter = NULL;

	if (number && number <= training->parameters.count)
		return wti_parameter_at(training, number - 1);
	if (number == training->parameters.count + 1) /* else one before it found no memory */
		parameter = wti_steady_add(&training->parameters);
	if (!parameter) {
		training->overflow_count++;
		return NULL;
	}
	parameter->place = (uint32_t)training->parameters.count - 1;
	parameter->stream = stream;
	parameter->born = ++training->births;
	parameter->owner = owner;
	parameter->name = name;
	parameter->module = module_of(training, parameter);
	return parameter;
}

struct wti_parameter *wti_parameter_find(const struct wti_training *training, size_t stream,
					 uint32_t owner, uint32_t name)
{
	size_t number = wti_pairs_find(&training->parameter_index, inside(stream, owner, name));

	return number && number <= training->parameters.count
		       ? wti_parameter_at(training, number - 1)
		       : NULL;
}

bool wti_object_add_member(struct wti_object *object, uint32_t parameter)
{
	if (wti_grow(&object->members, object->member_count + 1, &object->member_capacity,
		     MEMBERS_MAX))
		return false;
	object->members[object->member_count++] = parameter;
	return true;
}

static void remove_member(struct wti_object *object, uint32_t parameter)
{
	for (uint32_t i = 0; i < object->member_count; i++) {
		if (object->members[i] != parameter)
			continue;
		memmove(&object->members[i], &object->members[i + 1],
			(object->member_count - i - 1) * sizeof(*object->members));
		object->member_count--;
		return;
	}
}

struct wti_object *wti_take_object(struct wti_training *training, const struct wt_event *event)
{
	struct wti_symbols *symbols = training->symbols;
	struct wti_object *object = wti_object_of(
		training, event->stream, wti_symbol_of(symbols, event, WT_OBJECT_FIELD_NAME));

	if (!object)
		return NULL;
	object->type = (uint32_t)wt_event_u64(event, WT_OBJECT_FIELD_TYPE);
	object->class_name = wti_symbol_of(symbols, event, WT_OBJECT_FIELD_CLASS);
	object->of = wti_symbol_of(symbols, event, WT_OBJECT_FIELD_OF);
	object->how = (uint32_t)wt_event_u64(event, WT_OBJECT_FIELD_HOW);
	object->site = (uint32_t)wt_event_u64(event, WT_OBJECT_FIELD_SITE);
	return object;
}

/* An optimizer holds it, or has let it go. */
static void take_optimized(struct wti_training *training, struct wti_parameter *parameter,
			   uint32_t name, bool is_held, uint32_t group)
{
	struct wti_object *object = wti_object_of(training, parameter->stream, name);
	uint32_t number = parameter->place;
	uint32_t place_of_object;

	if (!object)
		return;
	place_of_object = object->place + 1;
	if (!is_held) {
		remove_member(object, number);
		if (parameter->optimizer == place_of_object)
			parameter->optimizer = 0;
	} else if (parameter->optimizer != place_of_object) {
		parameter->optimizer = place_of_object;
		if (!wti_object_add_member(object, number))
			training->overflow_count++;
	}
	parameter->group = group;
}

/* A shape such as 4x0: what a rank has of a tensor whose elements lie on others. */
static bool has_no_element(const char *shape)
{
	for (const char *at = shape; *at; at++)
		if (*at == '0' && (at == shape || at[-1] == 'x') && (!at[1] || at[1] == 'x'))
			return true;
	return false;
}

/* The module has another tensor under this name than the optimizer has taken. */
static void take_replacement(struct wti_training *training, struct wti_parameter *parameter)
{
	struct wti_object *optimizer =
		parameter->optimizer ? wti_object_at(training, parameter->optimizer - 1) : NULL;

	if (!optimizer)
		return;
	remove_member(optimizer, parameter->place);
	optimizer->replaced = parameter->place + 1;
	parameter->optimizer = 0;
	parameter->step_count = parameter->moved_count = 0;
	parameter->any_grad_count = parameter->with_grad_count = 0;
	parameter->grad = WTI_GRAD_UNKNOWN;
	parameter->has_hash = parameter->has_statistics = parameter->has_grad_statistics = false;
	parameter->born = ++training->births;
}

/* What an optimizer has at a place is now another: the one before is no longer in it. */
static void take_place(struct wti_training *training, const struct wti_parameter *parameter,
		       uint32_t object, uint32_t place_name)
{
	size_t place = wti_pairs_add(&training->place_index,
				     inside(parameter->stream, object, place_name));
	uint32_t number = parameter->place + 1, before;

	if (!place ||
	    wti_grow_zeroed(&training->placed, place, &training->placed_capacity, WTI_NO_CEILING))
		return;
	before = training->placed[place - 1];
	if (before && before != number && wti_parameter_at(training, before - 1)->optimizer)
		take_replacement(training, wti_parameter_at(training, before - 1));
	training->placed[place - 1] = number;
}

bool wti_model_is_part_of(const struct wti_training *training, size_t stream, uint32_t part,
			  uint32_t whole)
{
	return wti_pairs_find(&training->parts, inside(stream, whole, part));
}

struct wti_parameter *wti_take_member(struct wti_training *training, const struct wt_event *event)
{
	struct wti_symbols *symbols = training->symbols;
	uint32_t object = wti_symbol_of(symbols, event, WT_MEMBER_FIELD_OBJECT);
	uint32_t role = (uint32_t)wt_event_u64(event, WT_MEMBER_FIELD_ROLE);
	struct wti_parameter *parameter = wti_parameter_of(
		training, event->stream, wti_symbol_of(symbols, event, WT_MEMBER_FIELD_OWNER),
		wti_symbol_of(symbols, event, WT_MEMBER_FIELD_KNOWN_AS));
	uint32_t shape, placement;

	if (!parameter)
		return NULL;
	shape = wti_symbol_of(symbols, event, WT_MEMBER_FIELD_SHAPE);
	placement = wti_symbol_of(symbols, event, WT_MEMBER_FIELD_PLACEMENT);
	if (role == WT_ROLE_PARAMETER && parameter->is_member && parameter->shape != shape &&
	    parameter->shape && !parameter->is_empty && !placement && !parameter->placement)
		take_replacement(training, parameter);
	parameter->dtype = (uint32_t)wt_event_u64(event, WT_MEMBER_FIELD_DTYPE);
	parameter->shape = shape;
	parameter->is_empty = has_no_element(wti_symbol_text(symbols, shape));
	parameter->placement = placement;
	parameter->requires_grad =
		wt_event_u64(event, WT_MEMBER_FIELD_FLAGS) & WT_MEMBER_REQUIRES_GRAD;
	if (role == WT_ROLE_OPTIMIZED)
		take_place(training, parameter, object,
			   wti_symbol_of(symbols, event, WT_MEMBER_FIELD_NAME));
	if (role == WT_ROLE_OPTIMIZED || role == WT_ROLE_LEFT) {
		take_optimized(training, parameter, object, role == WT_ROLE_OPTIMIZED,
			       (uint32_t)wt_event_u64(event, WT_MEMBER_FIELD_GROUP));
	} else {
		parameter->is_member = true;
		if (object != parameter->owner)
			wti_pairs_add(&training->parts,
				      inside(event->stream, object, parameter->owner));
		parameter->is_buffer = role == WT_ROLE_BUFFER;
	}
	return parameter;
}
