/* SPDX-License-Identifier: Apache-2.0 */
/* Models, optimizers and what belongs to them. Tied weights count once, as they are one tensor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "contents.h"

#define OBJECTS_MAX 4096u
#define MEMBERS_MAX (1u << 18)

struct wti_found_object {
	uint32_t name, class_name, module, of; /* symbols */
	uint32_t type;                         /* enum wt_object_type */
	uint32_t type_word;                    /* and as a symbol */
	size_t stream;                         /* of the first process that has it */
	size_t last_stream;
	uint32_t process_count;
	uint32_t file; /* symbol: where it was made */
	int64_t line;
};

struct wti_found_member {
	uint32_t object, name; /* symbols */
	uint32_t shape;
	uint32_t dtype; /* its name */
	uint64_t count; /* of elements */
	bool is_known;  /* how many */
	bool is_buffer;
	bool is_trained; /* it requires a gradient */
	bool is_tied;    /* to one that was found before, under another name */
};

void wti_found_init(struct wti_found *found, struct wti_symbols *symbols)
{
	*found = (struct wti_found){.symbols = symbols};
	wti_map_init(&found->index, OBJECTS_MAX);
	wti_map_init(&found->member_index, MEMBERS_MAX);
}

void wti_found_release(struct wti_found *found)
{
	free(found->objects);
	free(found->members);
	wti_map_release(&found->index);
	wti_map_release(&found->member_index);
}

static void set_site(struct wti_found *found, struct wti_found_object *object,
		     const struct wt_event *event)
{
	const struct wt_site *site =
		wt_reader_site(event->reader, (uint32_t)wt_event_u64(event, WT_OBJECT_FIELD_SITE));
	struct wt_text file;

	object->line = -1;
	if (!site)
		return;
	file = wt_reader_string(event->reader, site->file);
	object->file = wti_symbol(found->symbols, file.data, file.bytes);
	object->line = site->line;
}

int wti_found_object(struct wti_found *found, const struct wt_event *event)
{
	uint32_t name = wti_symbol_of(found->symbols, event, WT_OBJECT_FIELD_NAME);
	uint64_t *slot = wti_map_number(&found->index, name);
	struct wti_found_object *object;

	if (!slot) {
		found->overflow_count++;
		return found->index.failed ? WT_E_NOMEM : 0;
	}
	if (*slot) {
		object = &found->objects[*slot - 1];
		object->process_count += object->last_stream != event->stream;
		object->last_stream = event->stream;
		return 0;
	}
	if (wti_grow(&found->objects, found->object_count + 1, &found->object_capacity,
		     (size_t)OBJECTS_MAX))
		return WT_E_NOMEM;
	object = &found->objects[found->object_count];
	*object = (struct wti_found_object){
		.name = name,
		.class_name = wti_symbol_of(found->symbols, event, WT_OBJECT_FIELD_CLASS),
		.module = wti_symbol_of(found->symbols, event, WT_OBJECT_FIELD_MODULE),
		.of = wti_symbol_of(found->symbols, event, WT_OBJECT_FIELD_OF),
		.type = (uint32_t)wt_event_u64(event, WT_OBJECT_FIELD_TYPE),
		.type_word = wti_symbol_of_word(found->symbols, event, WT_OBJECT_FIELD_TYPE),
		.stream = event->stream,
		.last_stream = event->stream,
		.process_count = 1,
	};
	set_site(found, object, event);
	*slot = ++found->object_count;
	return 0;
}

/* "16x4" -> 64; false: it is no shape, or too large to be one. */
static bool count_elements(const char *shape, uint64_t *ret_count)
{
	uint64_t count = 1;
	char *end;

	while (*shape) {
		unsigned long long extent = strtoull(shape, &end, 10);

		if (end == shape || __builtin_mul_overflow(count, (uint64_t)extent, &count))
			return false;
		if (*end && *end != 'x')
			return false;
		shape = *end ? end + 1 : end;
	}
	*ret_count = count;
	return true;
}

/* The same tensor under another name, of the object itself or of one that has it, too. */
static bool is_second_name(const struct wti_found *found, const struct wt_event *event,
			   uint32_t object, uint32_t name)
{
	return wti_symbol_of(found->symbols, event, WT_MEMBER_FIELD_OWNER) != object ||
	       wti_symbol_of(found->symbols, event, WT_MEMBER_FIELD_KNOWN_AS) != name;
}

static void fill_member(struct wti_found *found, struct wti_found_member *member,
			const struct wt_event *event)
{
	uint32_t role = (uint32_t)wt_event_u64(event, WT_MEMBER_FIELD_ROLE);

	member->shape = wti_symbol_of(found->symbols, event, WT_MEMBER_FIELD_SHAPE);
	member->dtype = wti_symbol_of_word(found->symbols, event, WT_MEMBER_FIELD_DTYPE);
	member->is_known =
		count_elements(wti_symbol_text(found->symbols, member->shape), &member->count);
	member->is_buffer = role == WT_ROLE_BUFFER;
	member->is_trained = wt_event_u64(event, WT_MEMBER_FIELD_FLAGS) & WT_MEMBER_REQUIRES_GRAD;
	member->is_tied = is_second_name(found, event, member->object, member->name);
}

int wti_found_member(struct wti_found *found, const struct wt_event *event)
{
	uint32_t role = (uint32_t)wt_event_u64(event, WT_MEMBER_FIELD_ROLE);
	uint32_t object = wti_symbol_of(found->symbols, event, WT_MEMBER_FIELD_OBJECT);
	uint32_t name = wti_symbol_of(found->symbols, event, WT_MEMBER_FIELD_NAME);
	uint64_t place = wti_map_get(&found->index, object);
	uint64_t *slot;

	if ((role != WT_ROLE_PARAMETER && role != WT_ROLE_BUFFER) || !place ||
	    found->objects[place - 1].stream != event->stream)
		return 0;
	slot = wti_map_number(&found->member_index, (uint64_t)object << 32 | name);
	if (!slot) {
		found->overflow_count++;
		return found->member_index.failed ? WT_E_NOMEM : 0;
	}
	if (!*slot) {
		if (wti_grow(&found->members, found->member_count + 1, &found->member_capacity,
			     (size_t)MEMBERS_MAX))
			return WT_E_NOMEM;
		found->members[found->member_count] =
			(struct wti_found_member){.object = object, .name = name};
		*slot = ++found->member_count;
	}
	fill_member(found, &found->members[*slot - 1], event);
	return 0;
}

enum wti_found_owner wti_found_owner(const struct wti_found *found, uint32_t owner)
{
	uint64_t place = wti_map_get(&found->index, owner);
	uint32_t type = place ? found->objects[place - 1].type : (uint32_t)WT_OBJECT_TYPE_OTHER;

	switch (type) {
	case WT_OBJECT_TYPE_OPTIMIZER:
	case WT_OBJECT_TYPE_SCHEDULER:
	case WT_OBJECT_TYPE_SCALER:
	case WT_OBJECT_TYPE_AVERAGE:
		return WTI_FOUND_TRAINER;
	case WT_OBJECT_TYPE_LOADER:
	case WT_OBJECT_TYPE_SAMPLER:
		return WTI_FOUND_LOADER;
	default:
		return WTI_FOUND_OTHER;
	}
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void objects_table(const struct wti_found *found, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "objects", "objects");

	wt_table_column(table, "name", "object", WT_CELL_TEXT);
	wt_table_column(table, "type", "is a", WT_CELL_TEXT);
	wt_table_column(table, "class", "class", WT_CELL_TEXT);
	wt_table_column(table, "module", "of module", WT_CELL_TEXT);
	wt_table_column(table, "of", "of", WT_CELL_TEXT);
	wt_table_column(table, "processes", "processes", WT_CELL_COUNT);
	wt_table_column(table, "file", "made in", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	for (size_t i = 0; i < found->object_count; i++) {
		const struct wti_found_object *object = &found->objects[i];

		wt_table_row(table);
		wti_symbol_cell(table, found->symbols, object->name);
		wti_symbol_cell(table, found->symbols, object->type_word);
		wti_symbol_cell(table, found->symbols, object->class_name);
		wti_symbol_cell(table, found->symbols, object->module);
		wti_symbol_cell(table, found->symbols, object->of);
		wt_table_count(table, object->process_count);
		wti_symbol_cell(table, found->symbols, object->file);
		if (object->line >= 0)
			wt_table_count(table, (uint64_t)object->line);
	}
}

struct totals {
	uint64_t tensors, parameters, trained, buffers;
	bool is_whole; /* the size of each is known */
};

static struct totals add_up(const struct wti_found *found, uint32_t object)
{
	struct totals totals = {.is_whole = true};

	for (size_t i = 0; i < found->member_count; i++) {
		const struct wti_found_member *member = &found->members[i];

		if (member->object != object || member->is_tied)
			continue;
		totals.tensors++;
		totals.is_whole &= member->is_known;
		if (member->is_buffer)
			totals.buffers += member->count;
		else
			totals.parameters += member->count;
		if (member->is_trained && !member->is_buffer)
			totals.trained += member->count;
	}
	return totals;
}

static void models_table(const struct wti_found *found, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "models", "models");

	wt_table_column(table, "name", "model", WT_CELL_TEXT);
	wt_table_column(table, "class", "class", WT_CELL_TEXT);
	wt_table_column(table, "tensors", "tensors", WT_CELL_COUNT);
	wt_table_column(table, "parameters", "parameters", WT_CELL_COUNT);
	wt_table_column(table, "trained", "require a gradient", WT_CELL_COUNT);
	wt_table_column(table, "buffers", "in buffers", WT_CELL_COUNT);
	for (size_t i = 0; i < found->object_count; i++) {
		const struct wti_found_object *object = &found->objects[i];
		struct totals totals = add_up(found, object->name);

		if (!totals.tensors)
			continue;
		wt_table_row(table);
		wti_symbol_cell(table, found->symbols, object->name);
		wti_symbol_cell(table, found->symbols, object->class_name);
		wt_table_count(table, totals.tensors);
		if (!totals.is_whole)
			continue;
		wt_table_count(table, totals.parameters);
		wt_table_count(table, totals.trained);
		wt_table_count(table, totals.buffers);
	}
}

static void tensors_table(const struct wti_found *found, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "tensors", "tensors");

	wt_table_column(table, "model", "model", WT_CELL_TEXT);
	wt_table_column(table, "name", "tensor", WT_CELL_TEXT);
	wt_table_column(table, "shape", "shape", WT_CELL_TEXT);
	wt_table_column(table, "dtype", "dtype", WT_CELL_TEXT);
	wt_table_column(table, "elements", "elements", WT_CELL_COUNT);
	wt_table_column(table, "use", "", WT_CELL_TEXT);
	for (size_t i = 0; i < found->member_count; i++) {
		const struct wti_found_member *member = &found->members[i];
		const char *use = member->is_tied      ? "tied"
				  : member->is_buffer  ? "buffer"
				  : member->is_trained ? "trained"
						       : "frozen";

		wt_table_row(table);
		wti_symbol_cell(table, found->symbols, member->object);
		wti_symbol_cell(table, found->symbols, member->name);
		wti_symbol_cell(table, found->symbols, member->shape);
		wti_symbol_cell(table, found->symbols, member->dtype);
		if (member->is_known)
			wt_table_count(table, member->count);
		else
			wt_table_empty(table);
		wt_table_text(table, use, strlen(use));
	}
}

void wti_found_tables(const struct wti_found *found, struct wt_result *result)
{
	objects_table(found, result);
	models_table(found, result);
	tensors_table(found, result);
}
