/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be recorded for an invariant to be judged: `record --invariants` hooks and reads that
 * alone (src/cli/record/python_needs.c). States and values are a relation's own business; calls are
 * those that the invariant names, as patterns over full names, because one name in a pack stands
 * for all functions that do the same (scene.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "pack.h"
#include "relation.h"

#define PATTERN_BYTES 512

static const struct {
	uint32_t bit;
	const char *word;
} states[] = {
	{WTI_NEEDS_PARAMETERS, "parameters"},
	{WTI_NEEDS_GRADIENTS, "gradients"},
	{WTI_NEEDS_BUFFERS, "buffers"},
	{WTI_NEEDS_OPTIMIZER, "optimizer"},
	{WTI_NEEDS_MODES, "modes"},
	{WTI_NEEDS_LOSSES, "losses"},
	{WTI_NEEDS_DATA, "data"},
};

/* The calls that a term stands for. */
static void write_term(struct wti_json *json, const struct wti_term *term)
{
	for (const char *const *call = term->calls; call && *call; call++)
		wti_json_text(json, *call);
}

/* A role and a method, a layer, or a function by its full name; anything else is no call. */
static void write_call(struct wti_json *json, const char *name)
{
	const char *method = strrchr(name, '.');
	char pattern[PATTERN_BYTES];

	if (!method || !method[1] || strpbrk(name, " ,[\n"))
		return;
	if (!strncmp(name, "nn.", 3)) {
		snprintf(pattern, sizeof(pattern), "torch.nn.functional.%s*", name + 3);
		wti_json_text(json, pattern);
		wti_json_text(json, "*.forward");
	} else if (strchr(name, '.') == method && name[0] >= 'A' && name[0] <= 'Z') {
		snprintf(pattern, sizeof(pattern), "*%s", method);
		wti_json_text(json, pattern);
	} else {
		wti_json_text(json, name);
	}
}

/* Facts name functions where they say what is called, or how often. */
static bool names_functions(const struct wti_invariant *invariant)
{
	return invariant->fact.form == WTI_FORM_CALLS || invariant->fact.form == WTI_FORM_SINCE ||
	       invariant->fact.form == WTI_FORM_BEFORE || invariant->fact.form == WTI_FORM_RANGE;
}

static void write_calls(struct wti_json *json, const struct wti_pack *pack,
			const struct wti_invariant *invariant)
{
	const struct wti_relation *relation = wti_relations[invariant->relation];
	struct wti_words words;

	wti_invariant_read(&words, pack, invariant);
	if (words.subject_term[0] == WTI_NO_TERM)
		write_call(json, words.subject[0]);
	else
		write_term(json, &relation->terms[words.subject_term[0]]);
	if (!names_functions(invariant))
		return;
	if (words.a_term == WTI_NO_TERM)
		write_call(json, words.a);
	write_call(json, words.b);
	for (uint32_t i = 0; i < words.then_count; i++)
		write_call(json, words.then[i]);
}

static void write_function(void *self, const char *function)
{
	write_call(self, function);
}

void wti_needs_write(struct wti_json *json, const struct wti_pack *pack,
		     const struct wti_invariant *invariant)
{
	const struct wti_publication *publication = wti_relations[invariant->relation]->publication;
	const uint32_t measures = wti_relations[invariant->relation]->measures;

	wti_json_key(json, "needs");
	wti_json_object(json);
	wti_json_key(json, "calls");
	wti_json_array(json);
	write_calls(json, pack, invariant);
	if (publication)
		publication->functions(wti_symbol_text(&pack->symbols, invariant->subject[1]),
				       write_function, json);
	wti_json_array_end(json);
	wti_json_key(json, "states");
	wti_json_array(json);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (measures & states[i].bit)
			wti_json_text(json, states[i].word);
	wti_json_array_end(json);
	wti_json_key(json, "arguments");
	wti_json_bool(json, measures & WTI_NEEDS_ARGUMENTS);
	wti_json_key(json, "tensors");
	wti_json_bool(json, measures & WTI_NEEDS_TENSORS);
	wti_json_object_end(json);
}
