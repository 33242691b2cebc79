/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a pickle: made in its arena, taken from and put on the stack, looked into. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "model/torch/pickle_machine.h"

int wti_pickle_bad(const struct wti_pickle_machine *machine, int code, const char *format, ...)
{
	uint64_t offset = machine->pickle->offset + (uint64_t)(machine->opcode - machine->begin);
	char reason[384];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return wti_err_at(machine->err, code, (int64_t)offset, "'%s': byte %" PRIu64 ": %s",
			  machine->pickle->path, offset, reason);
}

int wti_pickle_full(const struct wti_pickle_machine *machine, int code)
{
	if (code == WT_E_NOMEM)
		return wti_pickle_bad(machine, code, "out of memory");
	return wti_pickle_bad(machine, WT_E_LIMIT,
			      "its pickle makes more values than any checkpoint: refused");
}

/* ---- The stack ------------------------------------------------------------------------------ */

int wti_pickle_push(struct wti_pickle_machine *machine, struct wti_pickle_value *value)
{
	int r = wti_grow(&machine->stack, machine->count + 1, &machine->capacity,
			 WTI_PICKLE_STACK_MAX);

	if (r)
		return wti_pickle_full(machine, r);
	machine->stack[machine->count++] = value;
	return 0;
}

struct wti_pickle_value *wti_pickle_top(const struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *top = machine->count ? machine->stack[machine->count - 1] : NULL;

	return top && top->type != WTI_PICKLE_MARK ? top : NULL;
}

struct wti_pickle_value *wti_pickle_pop(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *top = wti_pickle_top(machine);

	if (top)
		machine->count--;
	return top;
}

int wti_pickle_underflow(const struct wti_pickle_machine *machine)
{
	return wti_pickle_bad(machine, WT_E_FORMAT,
			      "its pickle takes more from its stack than it put there: it is "
			      "damaged; copy or download it again");
}

int64_t wti_pickle_mark(const struct wti_pickle_machine *machine)
{
	for (size_t i = machine->count; i-- > 0;)
		if (machine->stack[i]->type == WTI_PICKLE_MARK)
			return (int64_t)i + 1;
	return -1;
}

/* ---- Making values -------------------------------------------------------------------------- */

struct wti_pickle_value *wti_pickle_new(struct wti_pickle_machine *machine, uint8_t type)
{
	struct wti_pickle_value *value = wti_arena_alloc(&machine->pickle->arena, sizeof(*value));

	if (value)
		value->type = type;
	return value;
}

int wti_pickle_push_new(struct wti_pickle_machine *machine, uint8_t type)
{
	struct wti_pickle_value *value = wti_pickle_new(machine, type);

	return value ? wti_pickle_push(machine, value)
		     : wti_pickle_full(machine, machine->pickle->arena.status);
}

int wti_pickle_push_int(struct wti_pickle_machine *machine, uint8_t type, int64_t integer)
{
	int r = wti_pickle_push_new(machine, type);

	if (!r)
		wti_pickle_top(machine)->integer = integer;
	return r;
}

int wti_pickle_push_text(struct wti_pickle_machine *machine, uint8_t type, const void *text,
			 size_t bytes)
{
	char *copy = wti_arena_text(&machine->pickle->arena, text, bytes);
	int r = copy ? wti_pickle_push_new(machine, type)
		     : wti_pickle_full(machine, machine->pickle->arena.status);

	if (r)
		return r;
	wti_pickle_top(machine)->text = copy;
	wti_pickle_top(machine)->bytes = bytes;
	return 0;
}

int wti_pickle_append(struct wti_pickle_machine *machine, struct wti_pickle_value *to,
		      struct wti_pickle_value *item)
{
	if (to->count == to->capacity) {
		size_t capacity = to->capacity ? 2 * to->capacity : 4;
		struct wti_pickle_value **items =
			wti_arena_alloc(&machine->pickle->arena, capacity * sizeof(*items));

		if (!items)
			return wti_pickle_full(machine, machine->pickle->arena.status);
		if (to->count)
			memcpy(items, to->items, to->count * sizeof(*items));
		to->items = items;
		to->capacity = capacity;
	}
	to->items[to->count++] = item;
	return 0;
}

int wti_pickle_gather(struct wti_pickle_machine *machine, size_t place, uint8_t type,
		      struct wti_pickle_value **ret)
{
	struct wti_pickle_value *made = wti_pickle_new(machine, type);
	size_t count = machine->count - place;

	if (made && count)
		made->items =
			wti_arena_alloc(&machine->pickle->arena, count * sizeof(*made->items));
	if (!made || (count && !made->items))
		return wti_pickle_full(machine, machine->pickle->arena.status);
	for (size_t i = 0; i < count; i++) {
		if (machine->stack[place + i]->type == WTI_PICKLE_MARK)
			return wti_pickle_underflow(machine);
		made->items[i] = machine->stack[place + i];
	}
	made->count = made->capacity = count;
	machine->count = place;
	*ret = made;
	return 0;
}

/* ---- Looking into values -------------------------------------------------------------------- */

const struct wti_pickle_value *wti_pickle_item(const struct wti_pickle_value *value, size_t index,
					       uint8_t type)
{
	if (!value || index >= value->count || value->items[index]->type != type)
		return NULL;
	return value->items[index];
}

bool wti_pickle_is_text(const struct wti_pickle_value *value, const char *text)
{
	return value && value->type == WTI_PICKLE_TEXT && value->bytes == strlen(text) &&
	       !memcmp(value->text, text, value->bytes);
}

const struct wti_pickle_value *wti_pickle_get(const struct wti_pickle_value *value, const char *key)
{
	if (value && value->type == WTI_PICKLE_INSTANCE)
		value = value->state;
	if (!value || value->type != WTI_PICKLE_DICT)
		return NULL;
	/* The last one counts, as in Python. */
	for (size_t i = value->count; i >= 2; i -= 2)
		if (wti_pickle_is_text(value->items[i - 2], key))
			return value->items[i - 1];
	return NULL;
}

bool wti_pickle_u64(const struct wti_pickle_value *value, uint64_t *ret)
{
	if (!value || value->type != WTI_PICKLE_INT || value->integer < 0)
		return false;
	*ret = (uint64_t)value->integer;
	return true;
}

/* Hexadecimal, as it may have any number of digits. */
static const char *long_text(const struct wti_pickle_value *value, char room[128])
{
	size_t at = (size_t)snprintf(room, 128, "0x");

	for (size_t i = value->bytes; i-- > 0 && at + 6 < 128;)
		at += (size_t)snprintf(room + at, 128 - at, "%02x", (unsigned char)value->text[i]);
	if (value->bytes > 60)
		snprintf(room + at, 128 - at, "...");
	return room;
}

/* The fewest digits that give the same number again. */
static const char *float_text(double number, char room[128])
{
	double again = 0;

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(room, 128, "%.*g", digits, number);
		if (sscanf(room, "%lf", &again) == 1 && again == number)
			break;
	}
	return room;
}

const char *wti_pickle_text(const struct wti_pickle_value *value, char room[128])
{
	switch (value->type) {
	case WTI_PICKLE_NONE:
		return "None";
	case WTI_PICKLE_BOOL:
		return value->integer ? "True" : "False";
	case WTI_PICKLE_INT:
		snprintf(room, 128, "%" PRId64, value->integer);
		return room;
	case WTI_PICKLE_LONG:
		return long_text(value, room);
	case WTI_PICKLE_FLOAT:
		return float_text(value->number, room);
	case WTI_PICKLE_TEXT:
		return value->text;
	case WTI_PICKLE_BYTES:
		snprintf(room, 128, "%zu bytes", value->bytes);
		return room;
	case WTI_PICKLE_NAME:
		return value->text;
	default:
		return NULL;
	}
}
