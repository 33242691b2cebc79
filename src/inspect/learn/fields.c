/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of arguments and returns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"

#define NAME_BYTES 256
#define WORD_BYTES_MAX 24u /* texts longer than that are not modes or names of options */
#define MOSTLY 0.9         /* zeros of a tensor that is nearly empty */

/* clang-format off */
static const struct {
	const char *word; /* in packs, after the name of the argument */
	const char *text; /* in sentences */
	enum wti_topic topic;
} parts[WTI_PART_COUNT] = {
	[WTI_PART_ITSELF] = {"", ""},
	[WTI_PART_DTYPE] = {".dtype", ".dtype", WTI_TOPIC_TYPES},
	[WTI_PART_NDIM] = {".ndim", ".ndim", WTI_TOPIC_SHAPES},
	[WTI_PART_SHAPE] = {".shape", ".shape", WTI_TOPIC_SHAPES},
	[WTI_PART_FIRST_EXTENT] = {".shape[0]", ".shape[0]", WTI_TOPIC_SHAPES},
	[WTI_PART_NO_NAN] = {".has_no_nan", " has no NaN", WTI_TOPIC_NUMBERS},
	[WTI_PART_FINITE] = {".is_finite", " is finite", WTI_TOPIC_NUMBERS},
	[WTI_PART_VARIED] = {".is_not_constant", " is not constant", WTI_TOPIC_CONTENTS},
	[WTI_PART_NEGATIVE] = {".has_negative_elements", " has negative elements", WTI_TOPIC_CONTENTS},
	[WTI_PART_NONZERO] = {".is_not_all_zeros", " is not all zeros", WTI_TOPIC_CONTENTS},
	[WTI_PART_SPARSE] = {".is_not_nearly_all_zeros", " is not nearly all zeros", WTI_TOPIC_CONTENTS},
	[WTI_PART_REQUIRES_GRAD] = {".requires_grad", ".requires_grad", WTI_TOPIC_GRADIENTS},
	[WTI_PART_NOT_DISTRIBUTION] = {".is_not_within_0_and_1", " is not within 0 and 1", WTI_TOPIC_CONTENTS},
	[WTI_PART_SEVERAL] = {".has_several_rows", " has more than one row"},
};
/* clang-format on */

static uint32_t name_field(struct wti_scene *scene, const struct wti_value_row *value,
			   enum wti_field_part part)
{
	const char *name = wti_symbol_text(scene->symbols, value->name);
	const char *side = value->position < 0 ? "result" : "";
	char text[NAME_BYTES];

	if (value->position < 0)
		snprintf(text, sizeof(text), "%s%s%s", side, name, parts[part].word);
	else if (*name)
		snprintf(text, sizeof(text), "%s%s", name, parts[part].word);
	else
		snprintf(text, sizeof(text), "argument %d%s", value->position, parts[part].word);
	return wti_symbol_word(scene->symbols, text);
}

uint32_t wti_field(struct wti_scene *scene, const struct wti_value_row *value,
		   enum wti_field_part part)
{
	uint32_t position = (uint32_t)(value->position + 1) & 0xfff;
	uint64_t *slot = wti_map_number(&scene->fields, (uint64_t)value->name << 24 |
								(uint64_t)position << 8 | part);

	if (!slot)
		return WTI_SYMBOL_OTHER;
	if (!*slot)
		*slot = name_field(scene, value, part) + 1;
	return (uint32_t)*slot - 1;
}

static void say_if(struct wti_scene *scene, bool is, const struct wti_value_row *value,
		   enum wti_field_part part)
{
	if (is)
		wti_say(scene, WTI_FORM_TRUE, wti_field(scene, value, part), 0);
}

/* What is not known is not against anything. */
static void say_contents(struct wti_scene *scene, const struct wti_value_row *value, bool unknown)
{
	const struct wti_digest_row *digest = &value->digest;

	say_if(scene, unknown || (!digest->nan && !digest->inf), value, WTI_PART_FINITE);
	say_if(scene, unknown || digest->zeros < digest->count, value, WTI_PART_NONZERO);
	say_if(scene, unknown || (double)digest->zeros < MOSTLY * (double)digest->count, value,
	       WTI_PART_SPARSE);
	say_if(scene, unknown || digest->count < 2 || digest->min < digest->max, value,
	       WTI_PART_VARIED);
	say_if(scene, unknown || digest->min < 0, value, WTI_PART_NEGATIVE);
	say_if(scene, unknown || digest->min < 0 || digest->max > 1, value,
	       WTI_PART_NOT_DISTRIBUTION);
}

void wti_say_tensor(struct wti_scene *scene, const struct wti_value_row *value, bool with_contents)
{
	const struct wti_digest_row *digest = &value->digest;
	const char *shape = wti_symbol_text(scene->symbols, digest->shape);
	bool unknown = digest->flags & (WT_TENSOR_NO_STATISTICS | WT_TENSOR_NO_HASH);

	wti_say(scene, WTI_FORM_IS, wti_field(scene, value, WTI_PART_DTYPE),
		wti_scene_dtype(scene, digest->dtype));
	wti_say(scene, WTI_FORM_IS, wti_field(scene, value, WTI_PART_NDIM),
		wti_scene_number(scene, WT_VALUE_TYPE_INT, wti_shape_ndim(shape)));
	say_if(scene, unknown || !digest->nan, value, WTI_PART_NO_NAN);
	if (!with_contents)
		return;
	wti_say(scene, WTI_FORM_IS, wti_field(scene, value, WTI_PART_REQUIRES_GRAD),
		wti_scene_number(scene, WT_VALUE_TYPE_BOOL,
				 digest->flags & WT_TENSOR_REQUIRES_GRAD));
	say_contents(scene, value, unknown);
	say_if(scene, wti_shape_first(shape) > 1, value, WTI_PART_SEVERAL);
}

static int64_t first_of(struct wti_scene *scene, const struct wti_value_row *value)
{
	return wti_shape_first(wti_symbol_text(scene->symbols, value->digest.shape));
}

/* A vector may be a batch of numbers or a single row: nothing tells which. */
static bool has_no_rows(struct wti_scene *scene, const struct wti_value_row *value)
{
	return wti_shape_ndim(wti_symbol_text(scene->symbols, value->digest.shape)) < 2;
}

void wti_say_tensors(struct wti_scene *scene, const struct wti_value_row *a,
		     const struct wti_value_row *b)
{
	if (a->digest.dtype == b->digest.dtype)
		wti_say(scene, WTI_FORM_SAME, wti_field(scene, a, WTI_PART_DTYPE),
			wti_field(scene, b, WTI_PART_DTYPE));
	if (a->digest.shape == b->digest.shape)
		wti_say(scene, WTI_FORM_SAME, wti_field(scene, a, WTI_PART_SHAPE),
			wti_field(scene, b, WTI_PART_SHAPE));
	if (has_no_rows(scene, a) && has_no_rows(scene, b))
		wti_say(scene, WTI_FORM_SAME, wti_field(scene, a, WTI_PART_FIRST_EXTENT),
			wti_field(scene, b, WTI_PART_FIRST_EXTENT));
	else if (first_of(scene, a) >= 0 && first_of(scene, a) == first_of(scene, b))
		wti_say(scene, WTI_FORM_SAME, wti_field(scene, a, WTI_PART_FIRST_EXTENT),
			wti_field(scene, b, WTI_PART_FIRST_EXTENT));
}

/* ---- Signatures ----------------------------------------------------------------------------- */

static bool is_in_signature(const struct wti_scene *scene, const struct wti_value_row *value,
			    bool with_results)
{
	return value->type == WTI_VALUE_TENSOR && (value->position >= 0 || with_results) &&
	       value->name != scene->self_word;
}

static void name_signature(struct wti_scene *scene, const struct wti_call *call, bool with_results,
			   char *text, size_t bytes)
{
	size_t at = 0;

	for (uint32_t i = 0; i < call->value_count && at < bytes; i++) {
		const struct wti_value_row *value = &call->values[i];
		const char *name;

		if (!is_in_signature(scene, value, with_results))
			continue;
		name = wti_symbol_text(scene->symbols, wti_field(scene, value, WTI_PART_ITSELF));
		at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", name);
	}
}

uint32_t wti_call_signature(struct wti_scene *scene, const struct wti_call *call, bool with_results)
{
	uint64_t key = with_results;
	char text[NAME_BYTES] = "";
	uint64_t *slot;

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (is_in_signature(scene, value, with_results))
			key = (key ^ ((uint64_t)value->name << 16 | (uint16_t)value->position)) *
			      0x9e3779b97f4a7c15u;
	}
	slot = wti_map_number(&scene->signatures, key);
	if (!slot)
		return WTI_SYMBOL_OTHER;
	if (!*slot) {
		name_signature(scene, call, with_results, text, sizeof(text));
		if (!*text)
			snprintf(text, sizeof(text), "%s", WTI_SIGNATURE_NONE);
		*slot = (uint64_t)wti_symbol_word(scene->symbols, text) + 1;
	}
	return (uint32_t)*slot - 1;
}

uint32_t wti_value_word(struct wti_scene *scene, const struct wti_value_row *value)
{
	switch (value->type) {
	case WT_VALUE_TYPE_BOOL:
	case WT_VALUE_TYPE_INT:
	case WT_VALUE_TYPE_FLOAT:
		return wti_scene_number(scene, value->type, value->bits);
	case WT_VALUE_TYPE_NONE:
		/* What is no value is recorded by its type: <dict of 9>. */
		return value->text ? 0 : scene->words[WTI_WORD_NONE];
	case WT_VALUE_TYPE_TEXT:
		return strlen(wti_symbol_text(scene->symbols, value->text)) <= WORD_BYTES_MAX
			       ? value->text
			       : 0;
	default:
		return 0;
	}
}

static bool ends_with(const char *name, const char *ending)
{
	size_t bytes = strlen(name), of_ending = strlen(ending);

	return bytes >= of_ending && !strcmp(name + bytes - of_ending, ending);
}

static enum wti_field_part part_of(const char *name)
{
	for (size_t i = WTI_PART_ITSELF + 1; i < WTI_PART_COUNT; i++)
		if (ends_with(name, parts[i].word))
			return (enum wti_field_part)i;
	return WTI_PART_ITSELF;
}

const char *wti_field_kind(const char *name)
{
	return parts[part_of(name)].word;
}

bool wti_field_is_of_contents(const char *name)
{
	return parts[part_of(name)].topic == WTI_TOPIC_CONTENTS;
}

const char *wti_field_text(const char *name, char *text, size_t bytes)
{
	enum wti_field_part part = part_of(name);

	if (!strcmp(parts[part].word, parts[part].text))
		return name;
	snprintf(text, bytes, "%.*s%s", (int)(strlen(name) - strlen(parts[part].word)), name,
		 parts[part].text);
	return text;
}

/* An argument that is a type is about types as well. */
enum wti_topic wti_field_topic(const char *name)
{
	return ends_with(name, "dtype") ? WTI_TOPIC_TYPES : parts[part_of(name)].topic;
}

/* ---- Consequences --------------------------------------------------------------------------- */

/* Integers and flags are finite whatever they are. */
static bool is_exact(const char *dtype)
{
	return *dtype == 'i' || *dtype == 'u' || !strcmp(dtype, "bool");
}

static bool part_implies(enum wti_field_part part, const char *value, enum wti_field_part follows)
{
	static const enum wti_field_part known[][2] = {
		{WTI_PART_FINITE, WTI_PART_NO_NAN},
		{WTI_PART_SPARSE, WTI_PART_NONZERO},
		{WTI_PART_NEGATIVE, WTI_PART_NONZERO},
		{WTI_PART_NEGATIVE, WTI_PART_NOT_DISTRIBUTION},
		{WTI_PART_SHAPE, WTI_PART_FIRST_EXTENT},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (part == known[i][0] && follows == known[i][1])
			return true;
	return part == WTI_PART_DTYPE && is_exact(value) &&
	       (follows == WTI_PART_NO_NAN || follows == WTI_PART_FINITE);
}

/* Whether both names are of the same tensor. */
static bool is_same_tensor(const char *a, const char *b)
{
	size_t bytes = strlen(a) - strlen(wti_field_kind(a));

	return bytes == strlen(b) - strlen(wti_field_kind(b)) && !strncmp(a, b, bytes);
}

bool wti_fact_implies(const struct wti_symbols *symbols, const struct wti_fact *fact,
		      const struct wti_fact *follows)
{
	const char *a = wti_symbol_text(symbols, fact->a), *b = wti_symbol_text(symbols, fact->b);
	const char *c = wti_symbol_text(symbols, follows->a);
	const char *d = wti_symbol_text(symbols, follows->b);
	enum wti_field_part part = part_of(a);

	if (part == WTI_PART_ITSELF || !is_same_tensor(a, c))
		return false;
	if (fact->form == WTI_FORM_SAME && follows->form == WTI_FORM_SAME)
		return is_same_tensor(b, d) && part_implies(part, "", part_of(c));
	if (follows->form != WTI_FORM_TRUE)
		return false;
	if (fact->form == WTI_FORM_IS)
		return part_implies(part, b, part_of(c));
	return fact->form == WTI_FORM_TRUE && part_implies(part, "", part_of(c));
}
