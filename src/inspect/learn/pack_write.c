/* SPDX-License-Identifier: Apache-2.0 */
/* A pack as JSON: a line an invariant, always in the same order. */
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "level.h"
#include "phrases.h"
#include "relation.h"

#define SENTENCE_MAX 4096u

static void write_clause(struct wti_json *json, const struct wti_pack *pack,
			 const struct wti_clause *clause)
{
	wti_json_object(json);
	wti_json_key(json, "feature");
	wti_json_text(json, wti_features[clause->feature].name);
	wti_json_key(json, wti_clauses[clause->type]);
	switch (clause->type) {
	case WTI_CLAUSE_CONSTANT:
	case WTI_CLAUSE_NOT:
		wti_json_text(json, wti_symbol_text(&pack->symbols, clause->value));
		break;
	case WTI_CLAUSE_RANGE:
		wti_json_array(json);
		wti_json_u64(json, clause->low);
		if (clause->high < UINT32_MAX - 1)
			wti_json_u64(json, clause->high);
		wti_json_array_end(json);
		break;
	case WTI_CLAUSE_EQUAL:
	case WTI_CLAUSE_UNEQUAL:
		wti_json_text(json, wti_features[clause->other].name);
		break;
	default:
		wti_json_bool(json, true);
	}
	wti_json_object_end(json);
}

static void write_when(struct wti_json *json, const struct wti_pack *pack,
		       const struct wti_precondition *when)
{
	wti_json_key(json, when->is_inverted ? "unless" : "when");
	wti_json_array(json);
	for (uint32_t i = 0; i < when->count; i++) {
		wti_json_array(json);
		for (uint32_t j = 0; j < when->any[i].count; j++)
			write_clause(json, pack, &when->any[i].clauses[j]);
		wti_json_array_end(json);
	}
	wti_json_array_end(json);
}

static void write_fact(struct wti_json *json, const struct wti_pack *pack,
		       const struct wti_invariant *invariant)
{
	wti_json_key(json, "holds");
	wti_json_array(json);
	wti_json_text(json, wti_forms[invariant->fact.form]);
	wti_json_text(json, wti_symbol_text(&pack->symbols, invariant->fact.a));
	if (invariant->fact.form == WTI_FORM_RANGE) {
		wti_json_f64(json, invariant->low);
		wti_json_f64(json, invariant->high);
	} else if (invariant->fact.b) {
		wti_json_text(json, wti_symbol_text(&pack->symbols, invariant->fact.b));
	}
	for (uint32_t i = 0; i < invariant->then_count; i++)
		wti_json_text(json, wti_symbol_text(&pack->symbols, invariant->then[i]));
	wti_json_array_end(json);
}

static void write_support(struct wti_json *json, const struct wti_support *support)
{
	wti_json_key(json, "support");
	wti_json_object(json);
	wti_json_key(json, "for");
	wti_json_u64(json, support->for_count);
	wti_json_key(json, "against");
	wti_json_u64(json, support->against_count);
	wti_json_key(json, "steps");
	wti_json_u64(json, support->step_count);
	wti_json_key(json, "runs");
	wti_json_u64(json, support->run_count);
	wti_json_key(json, "programs");
	wti_json_u64(json, support->program_count);
	if (support->times_high) {
		wti_json_key(json, "times");
		wti_json_array(json);
		wti_json_u64(json, support->times_low);
		wti_json_u64(json, support->times_high);
		wti_json_array_end(json);
	}
	wti_json_object_end(json);
}

/* In the words of who published it. */
static void write_entry(struct wti_json *json, const struct wti_publication *publication,
			const char *text)
{
	struct wti_doc *doc;

	if (wti_json_parse("entry", text, strlen(text), &doc, NULL))
		return;
	wti_json_key(json, "entry");
	publication->write(json, doc);
	wti_doc_free(doc);
}

static void write_invariant(struct wti_json *json, const struct wti_pack *pack,
			    const struct wti_invariant *invariant)
{
	const struct wti_publication *publication = wti_relations[invariant->relation]->publication;
	struct wti_buf sentence;

	wti_json_object(json);
	wti_json_key(json, "id");
	wti_json_text(json, invariant->id);
	wti_json_key(json, "relation");
	wti_json_text(json, wti_relations[invariant->relation]->name);
	wti_json_key(json, "subject");
	wti_json_array(json);
	for (size_t i = 0; i < (publication ? 1 : 2) && invariant->subject[i]; i++)
		wti_json_text(json, wti_symbol_text(&pack->symbols, invariant->subject[i]));
	wti_json_array_end(json);
	write_fact(json, pack, invariant);
	if (publication)
		write_entry(json, publication,
			    wti_symbol_text(&pack->symbols, invariant->subject[1]));
	if (invariant->when.count)
		write_when(json, pack, &invariant->when);
	wti_needs_write(json, pack, invariant);
	write_support(json, &invariant->support);
	wti_json_key(json, "confidence");
	wti_json_f64(json, (double)(int64_t)(invariant->confidence * 10000) / 10000);
	wti_json_key(json, "text");
	wti_buf_init(&sentence, SENTENCE_MAX);
	wti_invariant_words(&sentence, pack, invariant);
	wti_json_text(json, wti_buf_cstr(&sentence));
	wti_buf_release(&sentence);
	wti_json_object_end(json);
}

static void write_suppressions(struct wti_json *json, const struct wti_pack *pack)
{
	wti_json_array(json);
	for (size_t i = 0; i < pack->suppression_count; i++) {
		const struct wti_suppression *s = &pack->suppressions[i];

		wti_json_object(json);
		wti_json_key(json, "what");
		wti_json_text(json, s->pattern);
		wti_json_key(json, "reason");
		wti_json_text(json, s->reason);
		if (s->until) {
			wti_json_key(json, "until");
			wti_json_text(json, s->until);
		}
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
}

/* A value on a line of its own within what is otherwise written by hand. */
static void write_lines(struct wti_buf *out, const struct wti_pack *pack)
{
	for (size_t i = 0; i < pack->count; i++) {
		struct wti_json line;

		wti_buf_text(out, i ? ",\n    " : "\n    ");
		wti_json_init(&line, out, false);
		write_invariant(&line, pack, &pack->invariants[i]);
	}
}

static void write_levels(struct wti_buf *out, uint32_t levels)
{
	bool any = false;

	wti_buf_text(out, "\"recorded\": [");
	for (uint32_t i = 0; i < WTI_LEVELS; i++)
		if (levels >> i & 1) {
			wti_buf_printf(out, "%s\"%s\"", any ? ", " : "", wti_levels[i]);
			any = true;
		}
	wti_buf_text(out, "],\n  ");
}

void wti_pack_write(struct wti_buf *out, const struct wti_pack *pack)
{
	struct wti_json json;

	wti_buf_printf(out, "{\n  \"wheeltap\": \"pack\",\n  \"version\": %d,\n", WTI_PACK_VERSION);
	wti_buf_printf(out, "  \"runs\": %llu,\n  ", (unsigned long long)pack->run_count);
	if (pack->levels)
		write_levels(out, pack->levels);
	if (pack->source) {
		wti_buf_text(out, "\"source\": ");
		wti_json_init(&json, out, false);
		wti_json_text(&json, pack->source);
		wti_buf_text(out, ",\n  ");
	}
	if (pack->suppression_count) {
		wti_buf_text(out, "\"suppressed\": ");
		wti_json_init(&json, out, false);
		write_suppressions(&json, pack);
		wti_buf_text(out, ",\n  ");
	}
	wti_buf_text(out, "\"invariants\": [");
	write_lines(out, pack);
	wti_buf_text(out, pack->count ? "\n  ]\n}\n" : "]\n}\n");
}
