/* SPDX-License-Identifier: Apache-2.0 */
/* From a document to assertions. Knows what keys there are, and which go together. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "gate_read.h"
#include "inspect/judge/rule.h"

#define KNOWN_MAX 64
#define LIST_BYTES 512
#define RULES_MAX 512

static const char *const types[WTI_GATE_TYPES] = {
	"duration", "count",      "bytes",  "memory", "forbidden",  "required",     "rule",
	"golden",   "expression", "slower", "metric", "span_count", "anti_pattern",
};
#define OWN_TYPES WTI_GATE_SPANS /* those before are ours */

const char *wti_gate_word(enum wti_gate_type type)
{
	return types[type];
}

/* ---- Saying what is wrong -------------------------------------------------------------------- */

int wti_gate_fail(const struct wti_gate_reading *reading, const struct wti_doc *at,
		  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	wti_doc_fail_of(at, reading->path, reading->err, WT_E_ARG, format, args);
	va_end(args);
	return WT_E_ARG;
}

int wti_gate_unknown(const struct wti_gate_reading *reading, const struct wti_doc *at,
		     const char *what, const char *word, const char *const *known, size_t count)
{
	const char *near = wti_suggest(word, known, count);
	struct wti_buf list;
	int r;

	if (near)
		return wti_gate_fail(reading, at, "unknown %s '%.64s'; did you mean '%s'?", what,
				     word, near);
	wti_buf_init(&list, LIST_BYTES);
	for (size_t i = 0; i < count; i++)
		wti_buf_printf(&list, "%s%s", i ? ", " : "", known[i]);
	r = wti_gate_fail(reading, at, "unknown %s '%.64s'; there are %s", what, word,
			  wti_buf_cstr(&list));
	wti_buf_release(&list);
	return r;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool is_text(const struct wti_doc *value)
{
	return value->type == WTI_DOC_STRING && value->string.bytes &&
	       !memchr(value->string.data, 0, value->string.bytes);
}

static int take_text(const struct wti_gate_reading *reading, const struct wti_doc *value,
		     const struct wti_gate_key *key, const char **ret)
{
	const char *known[KNOWN_MAX];
	char words[LIST_BYTES], *at = words, *word;
	size_t count = 0;

	if (!is_text(value))
		return wti_gate_fail(reading, value, "'%s' has to be a text in quotes", key->name);
	*ret = value->string.data;
	if (!key->choices)
		return 0;
	snprintf(words, sizeof(words), "%s", key->choices);
	while ((word = strsep(&at, "|")) && count < KNOWN_MAX) {
		if (!strcmp(word, *ret))
			return 0;
		known[count++] = word;
	}
	return wti_gate_unknown(reading, value, key->name, *ret, known, count);
}

static int take_words(const struct wti_gate_reading *reading, const struct wti_doc *value,
		      const struct wti_gate_key *key, struct wti_gate_words *ret)
{
	const struct wti_doc *first = value->type == WTI_DOC_ARRAY ? value->first : value;
	int r = 0;

	ret->count = 0;
	for (const struct wti_doc *at = first; at && !r; at = at->next) {
		if (ret->count == WTI_GATE_WORDS_MAX)
			return wti_gate_fail(reading, at, "'%s' has more than %d entries",
					     key->name, WTI_GATE_WORDS_MAX);
		r = take_text(reading, at, key, &ret->items[ret->count++]);
		if (at == value)
			break;
	}
	if (!r && !ret->count)
		return wti_gate_fail(reading, value, "'%s' is empty", key->name);
	return r;
}

static bool any_number(const struct wti_doc *value, double *ret)
{
	if (value->type == WTI_DOC_INT)
		*ret = (double)value->integer;
	else if (value->type == WTI_DOC_FLOAT)
		*ret = value->number;
	else
		return false;
	return isfinite(*ret);
}

static bool number_of(const struct wti_doc *value, double *ret)
{
	return any_number(value, ret) && *ret >= 0;
}

/* Times as on the command line ("1.5s"; a number is seconds), sizes ("10M"), numbers. */
static int take_limit(const struct wti_gate_reading *reading, const struct wti_doc *value,
		      const struct wti_assertion *assertion, const char *key, double *ret)
{
	bool is_time = assertion->type == WTI_GATE_DURATION;
	bool is_size = assertion->type == WTI_GATE_BYTES || assertion->type == WTI_GATE_MEMORY;
	int64_t ns;
	uint64_t bytes;

	/* A loss or a return may lie below zero. */
	if (assertion->type == WTI_GATE_METRIC)
		return any_number(value, ret)
			       ? 0
			       : wti_gate_fail(reading, value, "'%s' has to be a number", key);
	if (number_of(value, ret)) {
		if ((is_size || assertion->type == WTI_GATE_COUNT) && *ret != trunc(*ret))
			return wti_gate_fail(reading, value, "'%s' has to be a whole number", key);
		if (is_time) /* 0.004123457 times 1e9 is below 4123457 */
			*ret = round(*ret * 1e9);
		return 0;
	}
	if (is_time && is_text(value) && wti_parse_duration(value->string.data, &ns) && ns >= 0) {
		*ret = (double)ns;
		return 0;
	}
	if (is_size && is_text(value) && wti_parse_bytes(value->string.data, &bytes)) {
		*ret = (double)bytes;
		return 0;
	}
	return wti_gate_fail(reading, value, "'%s' has to be %s", key,
			     is_time   ? "a time such as \"1.5s\" or \"20ms\""
			     : is_size ? "a size such as \"10M\", or a number"
				       : "a number that is not negative");
}

static int take_truth(const struct wti_gate_reading *reading, const struct wti_doc *value,
		      const char *key, bool *ret)
{
	if (value->type != WTI_DOC_BOOL)
		return wti_gate_fail(reading, value, "'%s' has to be true or false", key);
	*ret = value->boolean;
	return 0;
}

static int take(const struct wti_gate_reading *reading, const struct wti_doc *value,
		const struct wti_gate_key *key, struct wti_assertion *assertion)
{
	void *place = (char *)assertion + key->offset;
	bool fails = true;
	int r;

	switch (key->form) {
	case WTI_FORM_TEXT:
		return take_text(reading, value, key, place);
	case WTI_FORM_WORDS:
		return take_words(reading, value, key, place);
	case WTI_FORM_TRUTH:
		return take_truth(reading, value, key->name, place);
	case WTI_FORM_WARNS:
		r = take_truth(reading, value, key->name, &fails);
		assertion->severity = fails ? assertion->severity : WT_WARNING;
		return r;
	case WTI_FORM_MIN:
		assertion->has_min = true;
		return take_limit(reading, value, assertion, key->name, &assertion->min);
	case WTI_FORM_MAX:
		assertion->has_max = true;
		return take_limit(reading, value, assertion, key->name, &assertion->max);
	default:
		if (!number_of(value, place))
			return wti_gate_fail(reading, value,
					     "'%s' has to be a number that is not negative",
					     key->name);
		if (key->form == WTI_FORM_MAX_MS) {
			assertion->has_max = true;
			assertion->max *= 1e6;
		}
		return 0;
	}
}

/* ---- Tables ---------------------------------------------------------------------------------- */

int wti_gate_keys(const struct wti_gate_reading *reading, const struct wti_doc *table,
		  const struct wti_gate_key *keys, struct wti_assertion *assertion)
{
	int r = 0;

	for (const struct wti_doc *value = table->first; value && !r; value = value->next) {
		const struct wti_gate_key *key = keys;
		const char *known[KNOWN_MAX] = {"type"};
		size_t count = 1;

		if (!strcmp(value->key, "type"))
			continue;
		for (; key->name &&
		       (strcmp(key->name, value->key) != 0 || !(key->types >> assertion->type & 1));
		     key++)
			if (key->types >> assertion->type & 1 && count < KNOWN_MAX)
				known[count++] = key->name;
		r = key->name ? take(reading, value, key, assertion)
			      : wti_gate_unknown(reading, value, "key", value->key, known, count);
	}
	return r;
}

const char *wti_gate_text(const struct wti_gate_reading *reading, const struct wti_doc *table,
			  const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	if (value && is_text(value))
		return value->string.data;
	wti_gate_fail(reading, value ? value : table,
		      value ? "'%s' has to be a text in quotes" : "'%s' is missing", key);
	return NULL;
}

int wti_gate_formula(const struct wti_gate_reading *reading, const struct wti_doc *table,
		     struct wti_assertion *assertion)
{
	const struct wti_doc *value = wti_doc_get(table, "expression");
	struct wt_err err = {.offset = 0};

	if (!wti_formula_compile(assertion->expression, &assertion->formula, &err))
		return 0;
	return wti_gate_fail(reading, value, "at character %lld of the expression: %s",
			     (long long)err.offset + 1, err.message);
}

#define AT(member) offsetof(struct wti_assertion, member)
#define IS(type) (1u << WTI_GATE_##type)
#define MEASURED (IS(DURATION) | IS(COUNT) | IS(BYTES) | IS(MEMORY) | IS(METRIC))

/* Keys whose choices differ by type come once for each. */
static const struct wti_gate_key own_keys[] = {
	{"name", WTI_GATE_ALL_TYPES, WTI_FORM_TEXT, AT(name), NULL},
	{"severity", WTI_GATE_ALL_TYPES, WTI_FORM_TEXT, AT(severity_word), "error|warning|note"},
	{"enabled", WTI_GATE_ALL_TYPES, WTI_FORM_TRUTH, AT(is_enabled), NULL},
	{"may_fail", WTI_GATE_ALL_TYPES, WTI_FORM_TRUTH, AT(may_fail), NULL},
	{"may_be_absent", IS(DURATION) | IS(COUNT) | IS(BYTES) | IS(REQUIRED) | IS(EXPRESSION),
	 WTI_FORM_TRUTH, AT(may_be_absent), NULL},
	{"max", MEASURED | IS(SLOWER), WTI_FORM_MAX, 0, NULL},
	{"min", MEASURED, WTI_FORM_MIN, 0, NULL},
	{"of", IS(DURATION), WTI_FORM_TEXT, AT(of), "run|step|critical_path"},
	{"of", IS(SLOWER), WTI_FORM_TEXT, AT(of), "run|step"},
	{"of", IS(BYTES), WTI_FORM_TEXT, AT(of), "read|written|all"},
	{"of", IS(MEMORY), WTI_FORM_TEXT, AT(of), "peak_rss|mapped|faults|major_faults"},
	{"of", IS(METRIC), WTI_FORM_TEXT, AT(of), "last|first|min|max|mean"},
	{"metric", IS(METRIC), WTI_FORM_TEXT, AT(metric), NULL},
	{"per", IS(COUNT) | IS(BYTES), WTI_FORM_TEXT, AT(per), "run|step"},
	{"quantile", IS(DURATION), WTI_FORM_NUMBER, AT(quantile), NULL},
	{"span", IS(DURATION), WTI_FORM_TEXT, AT(span), NULL},
	{"call", IS(COUNT), WTI_FORM_TEXT, AT(call), NULL},
	{"errors", IS(COUNT), WTI_FORM_TRUTH, AT(errors_only), NULL},
	{"file", IS(COUNT) | IS(BYTES) | IS(REQUIRED), WTI_FORM_TEXT, AT(file), NULL},
	{"stage", IS(COUNT) | IS(BYTES), WTI_FORM_TEXT, AT(stage), NULL},
	{"effect", IS(FORBIDDEN), WTI_FORM_WORDS, AT(effects), "network|exec|write|remove"},
	{"effect", IS(REQUIRED), WTI_FORM_WORDS, AT(effects), "fsync|atomic_rename"},
	{"allow", IS(FORBIDDEN), WTI_FORM_WORDS, AT(allow), NULL},
	{"outside", IS(FORBIDDEN), WTI_FORM_TEXT, AT(outside), NULL},
	{"code", IS(RULE), WTI_FORM_TEXT, AT(code), NULL},
	{"golden", IS(GOLDEN), WTI_FORM_TEXT, AT(golden), NULL},
	{"folder", IS(GOLDEN), WTI_FORM_TEXT, AT(folder), NULL},
	{"expression", IS(EXPRESSION), WTI_FORM_TEXT, AT(expression), NULL},
	{"table", IS(EXPRESSION), WTI_FORM_TEXT, AT(table), "run|syscalls|profile"},
	{"rows", IS(EXPRESSION), WTI_FORM_TEXT, AT(rows), NULL},
	{"sum", IS(EXPRESSION), WTI_FORM_TRUTH, AT(is_sum), NULL},
	{"confidence", IS(SLOWER), WTI_FORM_NUMBER, AT(confidence), NULL},
	{NULL, 0, 0, 0, NULL},
};

/* What has to be there for the type, and what does not go together. */
static const char *complaint(const struct wti_assertion *a)
{
	bool needs_limit = 1u << a->type & (MEASURED | IS(SLOWER));
	bool has_effect = a->type == WTI_GATE_FORBIDDEN || a->type == WTI_GATE_REQUIRED;

	if (needs_limit && !a->has_min && !a->has_max)
		return a->type == WTI_GATE_SLOWER ? "it needs max = 0.05, or another share"
						  : "it needs max or min";
	if (a->has_min && a->has_max && a->min > a->max)
		return "min is greater than max: nothing could pass";
	if (has_effect && !a->effects.count)
		return "it needs effect = \"...\"";
	if (a->type == WTI_GATE_REQUIRED && !a->file)
		return "it needs file = \"...\", a glob such as \"$CWD/model*\"";
	if (a->type == WTI_GATE_RULE && !a->code)
		return "it needs code = \"WT-...\"";
	if (a->type == WTI_GATE_METRIC && !a->metric)
		return "it needs metric = \"loss\", or another name that `wheeltap stat` shows";
	if (a->type == WTI_GATE_GOLDEN && !a->golden)
		return "it needs golden = \"NAME\"";
	if (a->type == WTI_GATE_EXPRESSION && !a->expression)
		return "it needs expression = \"...\"";
	if (a->file && a->stage)
		return "file and stage do not go together: give one of them";
	if (a->quantile > 1 || a->confidence >= 1 || a->confidence < 0.5)
		return "quantile is a share up to 1, confidence one from 0.5 to below 1";
	if (a->span && a->of)
		return "span and of do not go together: give one of them";
	return NULL;
}

static void use_severity(struct wti_assertion *a)
{
	static const char *const words[] = {"note", "warning", "error"};

	for (int i = WT_NOTE; a->severity_word && i <= WT_ERROR; i++)
		if (!strcmp(words[i], a->severity_word))
			a->severity = (enum wt_severity)i;
}

static int check_call(const struct wti_gate_reading *reading, const struct wti_doc *table,
		      const struct wti_assertion *a)
{
	struct wti_call_set set;
	struct wt_err err = {.offset = -1};

	if (!a->call || !wti_expr_compile(WTI_ARCH_X86_64, a->call, &set, &err) ||
	    !wti_expr_compile(WTI_ARCH_AARCH64, a->call, &set, &err))
		return 0;
	return wti_gate_fail(reading, wti_doc_get(table, "call"), "%s", err.message);
}

/* A code, or a glob that fits some. */
static int check_code(const struct wti_gate_reading *reading, const struct wti_doc *table,
		      const struct wti_assertion *a)
{
	const char *codes[RULES_MAX], *near;
	size_t count = 0;

	if (a->type != WTI_GATE_RULE)
		return 0;
	for (; wti_rules[count] && count < RULES_MAX; count++) {
		codes[count] = wti_rules[count]->code;
		if (wti_glob(a->code, codes[count], strlen(codes[count])))
			return 0;
	}
	near = wti_suggest(a->code, codes, count);
	return wti_gate_fail(reading, wti_doc_get(table, "code"),
			     "no rule '%.64s'%s%s%s `wheeltap explain` lists them", a->code,
			     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ";");
}

static int read_own(const struct wti_gate_reading *reading, const struct wti_doc *table,
		    struct wti_assertion *a)
{
	const char *type = wti_gate_text(reading, table, "type");
	const char *wrong;
	size_t i = 0;
	int r;

	if (!type)
		return WT_E_ARG;
	while (i < OWN_TYPES && strcmp(types[i], type) != 0)
		i++;
	if (i == OWN_TYPES)
		return wti_gate_unknown(reading, wti_doc_get(table, "type"), "type", type, types,
					OWN_TYPES);
	a->type = (enum wti_gate_type)i;
	r = wti_gate_keys(reading, table, own_keys, a);
	if (r)
		return r;
	use_severity(a);
	wrong = complaint(a);
	if (wrong)
		return wti_gate_fail(reading, table, "type \"%s\": %s", type, wrong);
	r = check_call(reading, table, a);
	r = r ? r : check_code(reading, table, a);
	return r || !a->expression ? r : wti_gate_formula(reading, table, a);
}

static int read_one(const struct wti_gate_reading *reading, const struct wti_doc *table,
		    const struct wti_gate_dialect *dialect, struct wti_assertion *a)
{
	int r;

	*a = (struct wti_assertion){.severity = WT_ERROR,
				    .is_enabled = true,
				    .line = table->line,
				    .column = table->column,
				    .quantile = 0.5,
				    .confidence = 0.95};
	if (table->type != WTI_DOC_TABLE)
		return wti_gate_fail(reading, table, "this has to be a table: [[%s]]",
				     dialect ? dialect->table : "gate");
	r = dialect ? dialect->read(reading, table, a) : read_own(reading, table, a);
	if (!r && !a->name)
		a->name = a->golden   ? a->golden
			  : a->metric ? a->metric
			  : a->code   ? a->code
				      : types[a->type];
	return r;
}

/* ---- Documents ------------------------------------------------------------------------------- */

/* Counters are made when all is read, as assertions point to them. */
static int add_counters(struct wti_gate *gate, struct wt_err *err)
{
	static const char read[] = "read,pread64,readv,preadv,preadv2,recvfrom,recvmsg";
	static const char written[] = "write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,"
				      "sendfile,copy_file_range,splice";
	static const char all[] = "read,pread64,readv,preadv,preadv2,recvfrom,recvmsg,"
				  "write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,"
				  "sendfile,copy_file_range,splice";

	gate->counters = calloc(gate->count + 1, sizeof(*gate->counters));
	if (!gate->counters)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < gate->count; i++) {
		struct wti_assertion *a = &gate->assertions[i];
		struct wti_counter *counter = &gate->counters[gate->counter_count];
		bool is_bytes = a->type == WTI_GATE_BYTES;

		if ((a->type != WTI_GATE_COUNT && !is_bytes) || a->file)
			continue;
		*counter = (struct wti_counter){.call = a->call,
						.stage = a->stage,
						.errors_only = a->errors_only,
						.counts_bytes = is_bytes};
		if (is_bytes)
			counter->call = a->of && !strcmp(a->of, "read")      ? read
					: a->of && !strcmp(a->of, "written") ? written
									     : all;
		a->counter = counter;
		gate->counter_count++;
	}
	return 0;
}

static int read_list(const struct wti_gate_reading *reading, const struct wti_doc *list,
		     const struct wti_gate_dialect *dialect, struct wti_gate *gate)
{
	size_t count = 0;
	int r = 0;

	if (list->type != WTI_DOC_ARRAY)
		return wti_gate_fail(reading, list, "'%s' has to be tables: [[%s]]", list->key,
				     list->key);
	for (const struct wti_doc *at = list->first; at; at = at->next)
		count++;
	if (gate->count + count > WTI_GATE_ASSERTIONS_MAX)
		return wti_gate_fail(reading, list, "more than %d assertions",
				     WTI_GATE_ASSERTIONS_MAX);
	if (wti_grow(&gate->assertions, gate->count + count, &gate->capacity,
		     WTI_GATE_ASSERTIONS_MAX))
		return wti_err(reading->err, WT_E_NOMEM, "out of memory");
	for (const struct wti_doc *at = list->first; at && !r; at = at->next)
		r = read_one(reading, at, dialect, &gate->assertions[gate->count++]);
	return r;
}

static bool is_ignored(const struct wti_gate_dialect *dialect, const char *key)
{
	for (size_t i = 0; dialect->ignored[i]; i++)
		if (!strcmp(dialect->ignored[i], key))
			return true;
	return false;
}

int wti_gate_read(const char *path, const struct wti_doc *doc, const char *const *known,
		  size_t known_count, const struct wti_gate_dialect *dialect,
		  struct wti_gate *ret_gate, struct wt_err *err)
{
	struct wti_gate_reading reading = {path, err};
	bool is_dialect = dialect && wti_doc_get(doc, dialect->table);
	int r = 0;

	*ret_gate = (struct wti_gate){.count = 0};
	wti_buf_init(&ret_gate->ignored, LIST_BYTES);
	for (const struct wti_doc *table = doc->first; table && !r; table = table->next) {
		bool is_known = false;

		for (size_t i = 0; i < known_count; i++)
			is_known |= !strcmp(known[i], table->key);
		if (!strcmp(table->key, "gate"))
			r = read_list(&reading, table, NULL, ret_gate);
		else if (is_dialect && !strcmp(table->key, dialect->table))
			r = read_list(&reading, table, dialect, ret_gate);
		else if (is_dialect && is_ignored(dialect, table->key))
			wti_buf_printf(&ret_gate->ignored, "%s[%s]",
				       ret_gate->ignored.bytes ? ", " : "", table->key);
		else if (!is_known)
			r = wti_gate_unknown(&reading, table, "key", table->key, known,
					     known_count);
	}
	if (!r && !ret_gate->count)
		r = wti_err(err, WT_E_ARG, "'%s' asserts nothing: add a [[gate]] (docs/gate.md)",
			    path);
	return r ? r : add_counters(ret_gate, err);
}

void wti_gate_release(struct wti_gate *gate)
{
	free(gate->assertions);
	free(gate->counters);
	wti_buf_release(&gate->ignored);
	*gate = (struct wti_gate){.count = 0};
}
