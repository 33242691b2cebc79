/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values out of a pickle as tensors and entries. Goes through containers and modules as the Python
 * agent does when something is saved. Values may be shared or contain themselves: the depth and the
 * number of values that are visited have ceilings.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "model/torch/array.h"

#define VISITS_MAX (1u << 20) /* as the agent has it: more than the largest models have */
#define PATH_MAX_BYTES (WTI_MODEL_NAME_MAX)
#define DEPTH_MAX 32u

/* What wheeltap itself puts beside a state dict (write.c). */
static const char own_entries[] = "wheeltap_entries";

/* A container that is gone through. */
struct frame {
	const struct wti_pickle_value
		*parts[3]; /* one after the other: those of a module are three */
	size_t part;
	size_t next;       /* item of the part */
	size_t path_bytes; /* of the container itself */
	bool is_module;
};

struct walk {
	const struct wti_torch *torch;
	struct wt_err *err;
	struct frame frames[DEPTH_MAX];
	size_t depth;
	uint32_t visits;
	char path[PATH_MAX_BYTES + 1];
};

static const char *name_of(const struct walk *walk)
{
	return *walk->path ? walk->path : "tensor";
}

/* ---- Paths ---------------------------------------------------------------------------------- */

/* Texts and numbers as they are; what is no key for a name by its place. */
static const char *key_text(const struct wti_pickle_value *key, size_t place, char room[128])
{
	const char *text = NULL;

	if (key && (key->type == WTI_PICKLE_TEXT || key->type == WTI_PICKLE_INT ||
		    key->type == WTI_PICKLE_BOOL || key->type == WTI_PICKLE_FLOAT))
		text = wti_pickle_text(key, room);
	if (key && key->type == WTI_PICKLE_TEXT && (!key->bytes || strlen(text) != key->bytes))
		text = NULL;
	if (!text)
		snprintf(room, 128, key ? "<%zu>" : "%zu", place);
	return text ? text : room;
}

static int extend_path(struct walk *walk, size_t from, const char *key)
{
	int bytes = snprintf(walk->path + from, sizeof(walk->path) - from, "%s%s", from ? "." : "",
			     key);

	if (bytes < 0 || (size_t)bytes >= sizeof(walk->path) - from)
		return wti_err(walk->err, WT_E_LIMIT, "'%s' has a name of more than %u bytes",
			       walk->torch->model->path, PATH_MAX_BYTES);
	return 0;
}

/* ---- Leaves --------------------------------------------------------------------------------- */

static bool is_utf8(const char *text, size_t bytes)
{
	for (size_t i = 0, length; i < bytes; i += length) {
		length = wti_utf8_length(text + i, bytes - i);
		if (!length)
			return false;
	}
	return true;
}

static int add_entry(struct walk *walk, const char *value)
{
	char room[64];

	if (!is_utf8(value, strlen(value))) {
		snprintf(room, sizeof(room), "%zu bytes", strlen(value));
		value = room;
	}
	return wti_model_add_entry(walk->torch->model, *walk->path ? walk->path : "value", value,
				   walk->err);
}

static int add_tensor(struct walk *walk, const struct wti_pickle_value *value)
{
	struct wti_torch_tensor made = {0};
	int r = wti_torch_tensor(walk->torch, name_of(walk), value, &made, walk->err);

	return r ? r : wti_model_add(walk->torch->model, &made.tensor, walk->err);
}

/* A value of which only is said what it is. */
static int add_not_read(struct walk *walk, const char *what, const struct wti_pickle_value *value)
{
	char text[640];

	snprintf(text, sizeof(text), "%s of '%s' (not read)", what,
		 value->of ? value->of->text : "?");
	return add_entry(walk, text);
}

/* torch.device("cpu"), Path("a", "b"): the name and the plain arguments. */
static int add_plain(struct walk *walk, const struct wti_pickle_value *value)
{
	struct wti_buf text;
	char room[128];
	int r;

	wti_buf_init(&text, 4096);
	wti_buf_printf(&text, "%s(", value->of->text);
	for (size_t i = 0; i < value->arguments->count && i < 16; i++) {
		const char *word = wti_pickle_text(value->arguments->items[i], room);

		wti_buf_printf(&text, "%s%.200s", i ? ", " : "", word ? word : "...");
	}
	wti_buf_text(&text, ")");
	r = add_entry(walk, wti_buf_cstr(&text));
	wti_buf_release(&text);
	return r;
}

static int add_array(struct walk *walk, const struct wti_pickle_value *value)
{
	bool is_added = false;
	int r = wti_torch_add_array(walk->torch, name_of(walk), value, &is_added, walk->err);

	return r || is_added ? r : add_not_read(walk, "an array", value);
}

static int add_call(struct walk *walk, const struct wti_pickle_value *value)
{
	if (wti_torch_is_tensor(value))
		return add_tensor(walk, value);
	if (wti_torch_is_array(value))
		return add_array(walk, value);
	if (value->meaning == WTI_NAME_PLAIN || value->meaning == WTI_NAME_NUMPY_TYPE)
		return add_plain(walk, value);
	return add_not_read(walk, "a value", value);
}

static int add_leaf(struct walk *walk, const struct wti_pickle_value *value, bool is_of_module)
{
	char room[128];
	const char *text;

	if (value->type == WTI_PICKLE_NONE && is_of_module)
		return 0;
	if (value->type == WTI_PICKLE_CALL)
		return add_call(walk, value);
	if (value->type == WTI_PICKLE_INSTANCE)
		return add_not_read(walk, "an instance", value);
	if (value->type == WTI_PICKLE_PERSISTENT)
		return add_entry(walk, "a storage (not read)");
	text = wti_pickle_text(value, room);
	return add_entry(walk, text ? text : "?");
}

/* ---- Containers ----------------------------------------------------------------------------- */

/* Of a module: its parameters, buffers and parts, which are named without their folder. */
static bool open_module(const struct wti_pickle_value *value, struct frame *frame)
{
	static const char *const keys[] = {"_parameters", "_buffers", "_modules"};
	const struct wti_pickle_value *part;
	size_t count = 0;

	for (size_t i = 0; i < 3; i++) {
		part = wti_pickle_get(value, keys[i]);
		if (part && part->type == WTI_PICKLE_DICT)
			frame->parts[count++] = part;
	}
	frame->is_module = true;
	return count > 0;
}

/* A subclass of tensor: the innermost one, as far as it is one. */
static const struct wti_pickle_value *without_wrapping(const struct wti_pickle_value *value)
{
	for (int i = 0; i < 16; i++) {
		if (value->type != WTI_PICKLE_CALL || value->arguments->count < 1)
			return value;
		if (value->meaning == WTI_NAME_PARAMETER && !wti_torch_is_tensor(value))
			value = value->arguments->items[0];
		else
			return value;
	}
	return value;
}

static bool open_container(const struct wti_pickle_value *value, struct frame *frame)
{
	*frame = (struct frame){0};
	switch (value->type) {
	case WTI_PICKLE_TUPLE:
	case WTI_PICKLE_LIST:
	case WTI_PICKLE_SET:
	case WTI_PICKLE_DICT:
		frame->parts[0] = value;
		return true;
	case WTI_PICKLE_INSTANCE:
		if (open_module(value, frame))
			return true;
		frame->is_module = false;
		frame->parts[0] = value->state;
		return value->meaning == WTI_NAME_CLASS && value->state &&
		       value->state->type == WTI_PICKLE_DICT;
	default:
		return false;
	}
}

/* The next child, with the path set to its own; NULL: there is none. */
static int next_child(struct walk *walk, const struct wti_pickle_value **ret)
{
	struct frame *frame = &walk->frames[walk->depth - 1];
	const struct wti_pickle_value *part = frame->parts[frame->part], *key;
	size_t step, place;
	char room[128];

	while (part && frame->next >= part->count) {
		frame->next = 0;
		part = ++frame->part < 3 ? frame->parts[frame->part] : NULL;
	}
	*ret = NULL;
	if (!part)
		return 0;
	step = part->type == WTI_PICKLE_DICT ? 2 : 1;
	key = step == 2 ? part->items[frame->next] : NULL;
	place = frame->next / step;
	*ret = part->items[frame->next + step - 1];
	frame->next += step;
	return extend_path(walk, frame->path_bytes, key_text(key, place, room));
}

static int visit(struct walk *walk, const struct wti_pickle_value *value)
{
	bool is_of_module = walk->depth && walk->frames[walk->depth - 1].is_module;
	struct frame frame;

	if (++walk->visits > VISITS_MAX)
		return wti_err(walk->err, WT_E_LIMIT,
			       "'%s' has more than %u values, or values that contain themselves: "
			       "refused",
			       walk->torch->model->path, VISITS_MAX);
	value = without_wrapping(value);
	if (!open_container(value, &frame))
		return add_leaf(walk, value, is_of_module);
	if (walk->depth == DEPTH_MAX)
		return wti_err(walk->err, WT_E_LIMIT,
			       "'%s': '%.200s' is nested deeper than %u levels: refused",
			       walk->torch->model->path, walk->path, DEPTH_MAX);
	frame.path_bytes = strlen(walk->path);
	walk->frames[walk->depth++] = frame;
	return 0;
}

static int add_own_entries(struct walk *walk, const struct wti_pickle_value *root)
{
	const struct wti_pickle_value *entries =
		root->type == WTI_PICKLE_DICT ? wti_pickle_get(root->state, own_entries) : NULL;
	char room[2][128];

	for (size_t i = 0; entries && entries->type == WTI_PICKLE_DICT && i < entries->count;
	     i += 2) {
		const char *key = wti_pickle_text(entries->items[i], room[0]);
		const char *value = wti_pickle_text(entries->items[i + 1], room[1]);
		int r = key && value
				? wti_model_add_entry(walk->torch->model, key, value, walk->err)
				: 0;

		if (r)
			return r;
	}
	return 0;
}

int wti_torch_add(const struct wti_torch *torch, const char *path,
		  const struct wti_pickle_value *root, struct wt_err *err)
{
	struct walk walk = {.torch = torch, .err = err};
	int r = extend_path(&walk, 0, path);

	r = r ? r : visit(&walk, root);
	while (!r && walk.depth) {
		const struct wti_pickle_value *child = NULL;

		r = next_child(&walk, &child);
		if (!r && !child)
			walk.depth--;
		else if (!r)
			r = visit(&walk, child);
	}
	return r ? r : add_own_entries(&walk, root);
}
