/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in pickles, and what is called. A call makes a value of its arguments and stays one; no
 * function is run. Here is decided what is refused.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "model/torch/pickle_machine.h"

#define NAME_MAX_BYTES 512u /* of a module and a name together */

/* Nothing that a terminal obeys, and no NUL behind which more could follow. */
static bool is_printable(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
			return false;
	return bytes > 0;
}

int wti_pickle_push_name(struct wti_pickle_machine *machine, const char *module,
			 size_t module_bytes, const char *name, size_t name_bytes)
{
	char full[NAME_MAX_BYTES + 2];
	int length;
	int r;

	if (!is_printable(module, module_bytes) || !is_printable(name, name_bytes) ||
	    module_bytes + name_bytes > NAME_MAX_BYTES)
		return wti_pickle_bad(
			machine, WT_E_FORMAT,
			"refers to a module by an invalid name: refused; nothing was executed");
	length = snprintf(full, sizeof(full), "%.*s.%.*s", (int)module_bytes, module,
			  (int)name_bytes, name);
	r = wti_pickle_push_text(machine, WTI_PICKLE_NAME, full, (size_t)length);
	if (!r)
		wti_pickle_name(wti_pickle_top(machine));
	return r;
}

static int refuse(const struct wti_pickle_machine *machine, const char *what,
		  const struct wti_pickle_value *value)
{
	if (value->type == WTI_PICKLE_NAME)
		return wti_pickle_bad(machine, WT_E_FORMAT,
				      "wants to %s '%s': refused; nothing was executed", what,
				      value->text);
	if (value->type == WTI_PICKLE_CALL || value->type == WTI_PICKLE_INSTANCE)
		return wti_pickle_bad(machine, WT_E_FORMAT,
				      "wants to %s what '%s' makes: refused; nothing was executed",
				      what, value->of->text);
	return wti_pickle_bad(machine, WT_E_FORMAT,
			      "wants to %s a value that cannot be: refused; nothing was executed",
			      what);
}

/* ---- Containers of what they are given ------------------------------------------------------ */

static bool is_sequence(const struct wti_pickle_value *value)
{
	return value->type == WTI_PICKLE_LIST || value->type == WTI_PICKLE_TUPLE ||
	       value->type == WTI_PICKLE_SET;
}

/* Shares the items: what is appended later makes a copy. */
static void share_items(struct wti_pickle_value *to, const struct wti_pickle_value *from)
{
	to->items = from->items;
	to->count = from->count;
	to->capacity = from->count;
}

static int fill_with_pairs(struct wti_pickle_machine *machine, struct wti_pickle_value *dict,
			   const struct wti_pickle_value *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct wti_pickle_value *pair = pairs->items[i];
		int r;

		if (!is_sequence(pair) || pair->count != 2)
			return wti_pickle_bad(machine, WT_E_FORMAT,
					      "makes a dictionary of what is not pairs");
		r = wti_pickle_append(machine, dict, pair->items[0]);
		r = r ? r : wti_pickle_append(machine, dict, pair->items[1]);
		if (r)
			return r;
	}
	return 0;
}

static int make_container(struct wti_pickle_machine *machine, uint8_t type,
			  struct wti_pickle_value *callee, const struct wti_pickle_value *arguments)
{
	struct wti_pickle_value *made = wti_pickle_new(machine, type);
	const struct wti_pickle_value *first = arguments->count ? arguments->items[0] : NULL;
	int r = 0;

	if (!made)
		return wti_pickle_full(machine, machine->pickle->arena.status);
	made->of = callee;
	made->meaning = callee->meaning;
	if (first && type == WTI_PICKLE_DICT && is_sequence(first))
		r = fill_with_pairs(machine, made, first);
	else if (first &&
		 (type == WTI_PICKLE_DICT ? first->type == WTI_PICKLE_DICT : is_sequence(first)))
		share_items(made, first);
	else if (first && first->type != WTI_PICKLE_NAME && first->type != WTI_PICKLE_NONE)
		return wti_pickle_bad(machine, WT_E_FORMAT, "gives '%s' what it does not take",
				      callee->text);
	return r ? r : wti_pickle_push(machine, made);
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* Each character is a byte: what Python's latin-1 makes of it. */
static int encode(struct wti_pickle_machine *machine, const struct wti_pickle_value *text)
{
	char *out = wti_arena_alloc(&machine->pickle->arena, text->bytes + 1);
	size_t bytes = 0;

	if (!out)
		return wti_pickle_full(machine, machine->pickle->arena.status);
	for (size_t i = 0; i < text->bytes; i++) {
		unsigned char c = (unsigned char)text->text[i];

		if (c >= 0x80) {
			if ((c & 0xfe) != 0xc2 || i + 1 == text->bytes ||
			    ((unsigned char)text->text[i + 1] & 0xc0) != 0x80)
				return wti_pickle_bad(machine, WT_E_FORMAT,
						      "has a string that does not encode bytes");
			c = (unsigned char)((c & 3) << 6 | (text->text[++i] & 0x3f));
		}
		out[bytes++] = (char)c;
	}
	return wti_pickle_push_text(machine, WTI_PICKLE_BYTES, out, bytes);
}

/* bytearray(text, "latin-1"), bytes(b"..."), bytes([...]), codecs.encode(text, "latin1") */
static int make_bytes(struct wti_pickle_machine *machine, struct wti_pickle_value *callee,
		      const struct wti_pickle_value *arguments)
{
	const struct wti_pickle_value *first = arguments->count ? arguments->items[0] : NULL;
	const struct wti_pickle_value *coding = arguments->count > 1 ? arguments->items[1] : NULL;

	if (!first)
		return wti_pickle_push_text(machine, WTI_PICKLE_BYTES, "", 0);
	if (first->type == WTI_PICKLE_BYTES)
		return wti_pickle_push_text(machine, WTI_PICKLE_BYTES, first->text, first->bytes);
	if (first->type == WTI_PICKLE_TEXT &&
	    (wti_pickle_is_text(coding, "latin1") || wti_pickle_is_text(coding, "latin-1")))
		return encode(machine, first);
	return refuse(machine, "call", callee);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static int make_call(struct wti_pickle_machine *machine, uint8_t type,
		     struct wti_pickle_value *callee, struct wti_pickle_value *arguments)
{
	struct wti_pickle_value *made = wti_pickle_new(machine, type);

	if (!made)
		return wti_pickle_full(machine, machine->pickle->arena.status);
	made->of = callee;
	made->meaning = callee->meaning;
	made->arguments = arguments;
	return wti_pickle_push(machine, made);
}

/* (class, base, state) of Python's own __reduce__() before protocol 2. */
static int make_reconstructed(struct wti_pickle_machine *machine, struct wti_pickle_value *callee,
			      struct wti_pickle_value *arguments)
{
	if (arguments->count < 1 || arguments->items[0]->type != WTI_PICKLE_NAME)
		return refuse(machine, "call", callee);
	return make_call(machine, WTI_PICKLE_INSTANCE, arguments->items[0], arguments);
}

int wti_pickle_call(struct wti_pickle_machine *machine, struct wti_pickle_value *callee,
		    struct wti_pickle_value *arguments)
{
	if (!callee || !arguments)
		return wti_pickle_underflow(machine);
	if (callee->type != WTI_PICKLE_NAME || arguments->type != WTI_PICKLE_TUPLE)
		return refuse(machine, "call", callee);
	switch (callee->meaning) {
	case WTI_NAME_DICT:
		return make_container(machine, WTI_PICKLE_DICT, callee, arguments);
	case WTI_NAME_LIST:
		return make_container(machine, WTI_PICKLE_LIST, callee, arguments);
	case WTI_NAME_TUPLE:
		return make_container(machine, WTI_PICKLE_TUPLE, callee, arguments);
	case WTI_NAME_SET:
		return make_container(machine, WTI_PICKLE_SET, callee, arguments);
	case WTI_NAME_ENCODE:
	case WTI_NAME_BYTES:
		return make_bytes(machine, callee, arguments);
	case WTI_NAME_NEW:
		return make_reconstructed(machine, callee, arguments);
	case WTI_NAME_UNKNOWN:
	case WTI_NAME_STORAGE:
	case WTI_NAME_TYPE:
		return refuse(machine, "call", callee);
	case WTI_NAME_CLASS:
		return make_call(machine, WTI_PICKLE_INSTANCE, callee, arguments);
	default:
		return make_call(machine, WTI_PICKLE_CALL, callee, arguments);
	}
}

/*
 * class.__new__(class, *arguments). An instance of any class is data as long as it is given nothing
 * but its state: that is how Python pickles plain objects.
 */
int wti_pickle_new_instance(struct wti_pickle_machine *machine, struct wti_pickle_value *class,
			    struct wti_pickle_value *arguments)
{
	if (!class || !arguments)
		return wti_pickle_underflow(machine);
	if (class->type != WTI_PICKLE_NAME || arguments->type != WTI_PICKLE_TUPLE)
		return refuse(machine, "make an instance of", class);
	if (class->meaning == WTI_NAME_UNKNOWN && !arguments->count)
		return make_call(machine, WTI_PICKLE_INSTANCE, class, arguments);
	return wti_pickle_call(machine, class, arguments);
}

/* Whether a state may follow: not for a tensor, whose elements it could exchange. */
static bool takes_state(const struct wti_pickle_value *value)
{
	switch (value->type) {
	case WTI_PICKLE_INSTANCE:
		return true;
	case WTI_PICKLE_DICT:
	case WTI_PICKLE_LIST:
	case WTI_PICKLE_SET:
		return value->of != NULL;
	case WTI_PICKLE_CALL:
		return value->meaning == WTI_NAME_ARRAY || value->meaning == WTI_NAME_NUMPY_TYPE ||
		       value->meaning == WTI_NAME_PLAIN;
	default:
		return false;
	}
}

int wti_pickle_build(struct wti_pickle_machine *machine, struct wti_pickle_value *value,
		     struct wti_pickle_value *state)
{
	if (!value || !state)
		return wti_pickle_underflow(machine);
	if (!takes_state(value) || value->state)
		return refuse(machine, "change", value);
	value->state = state;
	return 0;
}
