/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [[assertion]] as renacer.toml has it. Renacer reads its five types and evaluates none of them on
 * a run; here each becomes one of ours, with the same keys.
 */
#include "renacer_gate.h"

#include <string.h>

#include "base/pattern.h"
#include "inspect/gate/gate_read.h"

#define AT(member) offsetof(struct wti_assertion, member)
#define IS(type) (1u << WTI_GATE_##type)

static const struct {
	const char *name;
	enum wti_gate_type type;
	const char *required; /* a key that has to be there */
} types[] = {
	{"critical_path", WTI_GATE_DURATION, "max_duration_ms"},
	{"anti_pattern", WTI_GATE_PATTERN, "threshold"},
	{"span_count", WTI_GATE_SPANS, "max_spans"},
	{"memory_usage", WTI_GATE_MEMORY, "max_bytes"},
	{"custom", WTI_GATE_EXPRESSION, "expression"},
};
#define TYPES (sizeof(types) / sizeof(*types))

static const struct wti_gate_key keys[] = {
	{"name", WTI_GATE_ALL_TYPES, WTI_FORM_TEXT, AT(name), NULL},
	{"enabled", WTI_GATE_ALL_TYPES, WTI_FORM_TRUTH, AT(is_enabled), NULL},
	{"fail_on_violation", WTI_GATE_ALL_TYPES, WTI_FORM_WARNS, 0, NULL},
	{"max_duration_ms", IS(DURATION), WTI_FORM_MAX_MS, AT(max), NULL},
	{"trace_name_pattern", IS(DURATION), WTI_FORM_TEXT, AT(span), NULL},
	{"pattern", IS(PATTERN), WTI_FORM_TEXT, AT(of), "GodProcess|TightLoop|PcieBottleneck"},
	{"threshold", IS(PATTERN), WTI_FORM_NUMBER, AT(threshold), NULL},
	{"process_name_pattern", IS(PATTERN), WTI_FORM_TEXT, AT(span), NULL},
	{"max_spans", IS(SPANS), WTI_FORM_MAX, 0, NULL},
	{"span_name_pattern", IS(SPANS), WTI_FORM_TEXT, AT(span), NULL},
	{"max_bytes", IS(MEMORY), WTI_FORM_MAX, 0, NULL},
	{"tracking_mode", IS(MEMORY), WTI_FORM_TEXT, AT(of), "allocations|rss"},
	{"expression", IS(EXPRESSION), WTI_FORM_TEXT, AT(expression), NULL},
	{NULL, 0, 0, 0, NULL},
};

static int check_regex(const struct wti_gate_reading *reading, const struct wti_doc *table,
		       const struct wti_assertion *a)
{
	char why[WTI_REGEX_WHY_BYTES];
	regex_t regex;

	if (!a->span)
		return 0;
	if (wti_regex_compile(a->span, &regex, why))
		return wti_gate_fail(reading, table,
				     "'%.100s' cannot be used as a regular expression: %s", a->span,
				     why);
	regfree(&regex);
	return 0;
}

static int read_assertion(const struct wti_gate_reading *reading, const struct wti_doc *table,
			  struct wti_assertion *a)
{
	const char *word = wti_gate_text(reading, table, "type");
	const char *known[TYPES];
	size_t i = 0;
	int r;

	if (!word || !wti_gate_text(reading, table, "name"))
		return WT_E_ARG;
	for (size_t j = 0; j < TYPES; j++)
		known[j] = types[j].name;
	while (i < TYPES && strcmp(types[i].name, word) != 0)
		i++;
	if (i == TYPES)
		return wti_gate_unknown(reading, wti_doc_get(table, "type"), "type", word, known,
					TYPES);
	a->type = types[i].type;
	a->span_is_regex = true;
	r = wti_gate_keys(reading, table, keys, a);
	if (!r && !wti_doc_get(table, types[i].required))
		r = wti_gate_fail(reading, table, "type \"%s\": it needs %s", word,
				  types[i].required);
	if (!r && a->type == WTI_GATE_PATTERN && !a->of)
		r = wti_gate_fail(reading, table, "type \"%s\": it needs pattern", word);
	if (!r && a->type == WTI_GATE_PATTERN && a->span && strcmp(a->of, "GodProcess") != 0)
		r = wti_gate_fail(reading, wti_doc_get(table, "process_name_pattern"),
				  "'process_name_pattern' is only for GodProcess");
	r = r ? r : check_regex(reading, table, a);
	if (a->type == WTI_GATE_MEMORY)
		a->of = a->of && !strcmp(a->of, "rss") ? "peak_rss" : "mapped";
	if (a->type == WTI_GATE_DURATION && !a->span)
		a->of = "critical_path";
	return r || !a->expression ? r : wti_gate_formula(reading, table, a);
}

/* Tables that Renacer's users keep in renacer.toml, and that Renacer never reads. */
static const char *const ignored[] = {
	"semantic_equivalence", "lamport_clock", "compression", "otlp", "ci", NULL};

const struct wti_gate_dialect wti_renacer_gate = {
	.table = "assertion",
	.read = read_assertion,
	.ignored = ignored,
};
