/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what runs can be asked for by name, and how a value is written. */
#include "run_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/text.h"
#include "tags.h"

#define SECOND_NS 1000000000LL

/* ---- Terms ----------------------------------------------------------------------------------- */

static enum wti_filter_op read_op(const char *text, size_t *ret_bytes)
{
	static const struct {
		const char *text;
		enum wti_filter_op op;
	} ops[] = {{"==", WTI_OP_EQUAL},    {"!=", WTI_OP_DIFFERS}, {"<=", WTI_OP_AT_MOST},
		   {">=", WTI_OP_AT_LEAST}, {"=", WTI_OP_EQUAL},    {"<", WTI_OP_BELOW},
		   {">", WTI_OP_ABOVE}};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		*ret_bytes = strlen(ops[i].text);
		if (!strncmp(text, ops[i].text, *ret_bytes))
			return ops[i].op;
	}
	return WTI_OP_PATTERN;
}

int wti_filter_parse(const char *word, struct wti_filter_term *ret_term, struct wt_err *err)
{
	/* In check:NAME and in patterns a '!' or '[' is ordinary: "[!a]*" is a glob. */
	size_t bytes = 0, op_bytes = 0;
	enum wti_filter_op op = WTI_OP_PATTERN;

	*ret_term = (struct wti_filter_term){.word = word, .value = word};
	if (!*word)
		return wti_err(err, WT_E_ARG, "a filter is empty; give one such as status=failed");
	while (word[bytes] && op == WTI_OP_PATTERN) {
		op = read_op(word + bytes, &op_bytes);
		bytes += op == WTI_OP_PATTERN;
	}
	if (op == WTI_OP_PATTERN)
		return 0;
	if (!bytes)
		return wti_err(err, WT_E_ARG,
			       "no name before '%.*s' in '%.200s'; write NAME%.*sVALUE, such as "
			       "status=failed",
			       (int)op_bytes, word, word, (int)op_bytes, word);
	if (!word[bytes + op_bytes])
		return wti_err(err, WT_E_ARG, "no value after '%.200s'", word);
	if (bytes >= WTI_FILTER_NAME_BYTES)
		return wti_err(err, WT_E_ARG, "the name in '%.60s...' is too long", word);
	memcpy(ret_term->name, word, bytes);
	ret_term->op = op;
	ret_term->value = word + bytes + op_bytes;
	return 0;
}

int wti_filter_read(char **words, size_t count, struct wti_run_filter *ret_filter,
		    struct wt_err *err)
{
	int r = 0;

	memset(ret_filter, 0, sizeof(*ret_filter));
	if (count > WTI_FILTER_TERMS_MAX)
		return wti_err(err, WT_E_ARG, "at most %u filters", WTI_FILTER_TERMS_MAX);
	for (size_t i = 0; i < count && !r; i++)
		r = wti_filter_parse(words[i], &ret_filter->terms[ret_filter->count++], err);
	return r;
}

void wti_filter_release(struct wti_run_filter *filter)
{
	for (size_t i = 0; i < filter->number_count; i++)
		wti_run_number_release(&filter->numbers[i]);
	filter->number_count = 0;
}

/* ---- Texts of a run -------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text)
{
	return wti_glob(pattern, text, strlen(text));
}

static bool is_status(const struct wti_catalogue_run *run, const char *value)
{
	return matches(value, run->status) || (run->removed_ns >= 0 && !strcmp(value, "removed"));
}

static bool is_named(const struct wti_catalogue_run *run, const char *value)
{
	return matches(value, run->folder) || (*run->label && matches(value, run->label));
}

static bool has_tag(const struct wti_catalogue_run *run, const char *value)
{
	const char *at = run->tags;

	while (*at) {
		size_t bytes = strcspn(at, " ");

		if (wti_glob(value, at, bytes))
			return true;
		at += bytes + (at[bytes] == ' ');
	}
	return false;
}

static bool is_commit(const struct wti_catalogue_run *run, const char *value)
{
	return !strncmp(run->commit, value, strlen(value));
}

static bool is_program(const struct wti_catalogue_run *run, const char *value)
{
	return matches(value, run->program);
}

static bool is_command(const struct wti_catalogue_run *run, const char *value)
{
	return matches(value, run->command) || strstr(run->command, value);
}

static bool is_host(const struct wti_catalogue_run *run, const char *value)
{
	return matches(value, run->host);
}

static bool is_directory(const struct wti_catalogue_run *run, const char *value)
{
	return matches(value, run->directory);
}

static bool is_config(const struct wti_catalogue_run *run, const char *value)
{
	return !strncmp(run->config, value, strlen(value));
}

static bool is_yes(bool truth, const char *value)
{
	return truth == (!strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "1"));
}

static bool is_dirty(const struct wti_catalogue_run *run, const char *value)
{
	return is_yes(run->is_dirty, value);
}

static bool is_removed(const struct wti_catalogue_run *run, const char *value)
{
	return is_yes(run->removed_ns >= 0, value);
}

static const struct field {
	const char *name;
	bool (*holds)(const struct wti_catalogue_run *run, const char *value);
	const char *words; /* that the value may be; NULL: any */
} fields[] = {
	{"status", is_status,
	 "running|abandoned|finished|failed|killed|interrupted|unknown|removed"},
	{"name", is_named, NULL},
	{"tag", has_tag, NULL},
	{"commit", is_commit, NULL},
	{"program", is_program, NULL},
	{"command", is_command, NULL},
	{"host", is_host, NULL},
	{"directory", is_directory, NULL},
	{"config", is_config, NULL},
	{"dirty", is_dirty, "yes|no"},
	{"removed", is_removed, "yes|no"},
};
#define FIELDS (sizeof(fields) / sizeof(*fields))

size_t wti_filter_fields(const char *ret_names[WTI_FILTER_FIELDS_MAX])
{
	_Static_assert(FIELDS + 2 <= WTI_FILTER_FIELDS_MAX, "room for all");
	for (size_t j = 0; j < FIELDS; j++)
		ret_names[j] = fields[j].name;
	ret_names[FIELDS] = "since";
	ret_names[FIELDS + 1] = "until";
	return FIELDS + 2;
}

static const struct field *field_of(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

/* One of "a|b|c", or a glob. */
static int check_word(const struct field *field, const char *value, struct wt_err *err)
{
	const char *words[16], *near;
	char copy[128], *next;
	size_t count = 0;

	if (!field->words || strpbrk(value, "*?["))
		return 0;
	snprintf(copy, sizeof(copy), "%s", field->words);
	for (char *word = strtok_r(copy, "|", &next); word && count < 16;
	     word = strtok_r(NULL, "|", &next)) {
		if (!strcmp(word, value))
			return 0;
		words[count++] = word;
	}
	near = wti_suggest(value, words, count);
	return near ? wti_err(err, WT_E_ARG, "%s is never '%.100s'; did you mean '%s'?",
			      field->name, value, near)
		    : wti_err(err, WT_E_ARG, "%s is never '%.100s', but one of %s", field->name,
			      value, field->words);
}

static int apply_text(const struct wti_catalogue *c, const struct field *field,
		      const struct wti_filter_term *term, bool *keep, struct wt_err *err)
{
	const struct wti_catalogue_run *runs;
	size_t count;

	if (term->op != WTI_OP_EQUAL && term->op != WTI_OP_DIFFERS)
		return wti_err(err, WT_E_ARG, "'%.200s': %s is a text; use = or !=", term->word,
			       field->name);
	if (check_word(field, term->value, err))
		return WT_E_ARG;
	runs = wti_catalogue_runs(c, &count);
	for (size_t i = 0; i < count; i++)
		keep[i] &= field->holds(&runs[i], term->value) == (term->op == WTI_OP_EQUAL);
	return 0;
}

/* ---- Moments --------------------------------------------------------------------------------- */

/* "2d", "36h": so long ago; "2026-03-01", "2026-03-01 12:30": local time. */
static bool read_moment(const char *text, int64_t *ret_ns)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
					    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
	int64_t ago_ns;

	if (strcspn(text, "0123456789") == 0 && !strchr(text, '-') &&
	    wti_parse_duration(text, &ago_ns) && ago_ns >= 0) {
		*ret_ns = (int64_t)time(NULL) * SECOND_NS - ago_ns;
		return true;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds = end && !*end ? mktime(&tm) : -1;

		if (seconds < 0)
			continue;
		*ret_ns = (int64_t)seconds * SECOND_NS;
		return true;
	}
	return false;
}

static bool is_moment(const char *name)
{
	return !strcmp(name, "since") || !strcmp(name, "until");
}

static int apply_moment(const struct wti_catalogue *c, const struct wti_filter_term *term,
			bool *keep, struct wt_err *err)
{
	const struct wti_catalogue_run *runs;
	bool is_since = !strcmp(term->name, "since");
	int64_t moment_ns;
	size_t count;

	if (term->op != WTI_OP_EQUAL)
		return wti_err(err, WT_E_ARG, "'%.200s': write %s=VALUE", term->word, term->name);
	if (!read_moment(term->value, &moment_ns))
		return wti_err(err, WT_E_ARG,
			       "'%.100s' is no time; give how long ago (36h, 2d) or a date "
			       "(2026-03-01, '2026-03-01 12:30')",
			       term->value);
	runs = wti_catalogue_runs(c, &count);
	for (size_t i = 0; i < count; i++)
		keep[i] &= is_since ? runs[i].start_ns >= moment_ns : runs[i].start_ns < moment_ns;
	return 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* "0.2", "200ms" of times, "2G" of sizes; "nan". */
static bool read_value(const char *text, const char *unit, double *ret_value)
{
	char *end;
	uint64_t bytes;
	int64_t ns;

	*ret_value = strtod(text, &end);
	if (end != text && !*end)
		return true;
	if (!strcmp(unit, "bytes") && wti_parse_bytes(text, &bytes)) {
		*ret_value = (double)bytes;
		return true;
	}
	if (strcmp(unit, "s") != 0 || !wti_parse_duration(text, &ns))
		return false;
	*ret_value = (double)ns * 1e-9;
	return true;
}

static bool holds(enum wti_filter_op op, double a, double b)
{
	bool same = a == b || (isnan(a) && isnan(b));

	switch (op) {
	case WTI_OP_EQUAL:
		return same;
	case WTI_OP_DIFFERS:
		return !same;
	case WTI_OP_BELOW:
		return a < b;
	case WTI_OP_AT_MOST:
		return a <= b;
	case WTI_OP_ABOVE:
		return a > b;
	default:
		return a >= b;
	}
}

static int apply_number(const struct wti_front *front, struct wti_catalogue *c,
			struct wti_run_filter *filter, const struct wti_filter_term *term,
			bool *keep, struct wt_err *err)
{
	struct wti_run_number *number = &filter->numbers[filter->number_count];
	double value;
	size_t count;
	int r = wti_run_number(front, c, term->name, keep, number, err);

	if (r)
		return r;
	filter->number_count++;
	if (!read_value(term->value, number->unit, &value))
		return wti_err(err, WT_E_ARG,
			       "'%.100s' is no number: '%.100s' is compared with one%s",
			       term->value, term->name,
			       !strcmp(number->unit, "s")       ? ", such as 0.2 or 200ms"
			       : !strcmp(number->unit, "bytes") ? ", such as 2G"
								: "");
	wti_catalogue_runs(c, &count);
	for (size_t i = 0; i < count; i++)
		keep[i] &= number->has[i] && holds(term->op, number->values[i], value);
	return 0;
}

/* ---- Settings -------------------------------------------------------------------------------- */

struct settings {
	const struct wti_filter_term *term;
	bool *holds; /* by the place of the run */
};

static int take_setting(void *opaque, size_t place, const char *value)
{
	struct settings *s = opaque;

	s->holds[place] = matches(s->term->value, value) == (s->term->op == WTI_OP_EQUAL);
	return 0;
}

/* A value that is no number, of a setting: a pattern. */
static int apply_setting(struct wti_catalogue *c, const struct wti_filter_term *term, bool *keep,
			 struct wt_err *err)
{
	struct settings s = {.term = term};
	char key[WTI_FILTER_NAME_BYTES];
	size_t count;
	int r;

	if (term->op != WTI_OP_EQUAL && term->op != WTI_OP_DIFFERS)
		return wti_err(err, WT_E_ARG,
			       "'%.200s': '%.100s' is no number; use = or !=", term->word,
			       term->value);
	r = wti_setting_find(c, term->name, key, err);
	wti_catalogue_runs(c, &count);
	s.holds = calloc(count + 1, sizeof(*s.holds));
	if (!s.holds)
		r = r ? r : wti_err(err, WT_E_NOMEM, "out of memory");
	r = r ? r : wti_catalogue_settings(c, key, take_setting, &s, err);
	for (size_t i = 0; i < count && !r; i++)
		keep[i] &= s.holds[i];
	free(s.holds);
	return r;
}

static bool is_setting(const char *name)
{
	return !strncmp(name, WTI_FILTER_CONFIG, strlen(WTI_FILTER_CONFIG));
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* A run may be called "lr=0.1". */
static bool is_name(const struct wti_catalogue *c, const char *word)
{
	const struct wti_catalogue_run *runs;
	size_t count;

	runs = wti_catalogue_runs(c, &count);
	for (size_t i = 0; i < count; i++)
		if (is_named(&runs[i], word))
			return true;
	return false;
}

static void apply_patterns(const struct wti_catalogue *c, const struct wti_run_filter *filter,
			   bool *keep)
{
	const struct wti_catalogue_run *runs;
	size_t count, patterns = 0;

	runs = wti_catalogue_runs(c, &count);
	for (size_t j = 0; j < filter->count; j++)
		patterns += filter->terms[j].op == WTI_OP_PATTERN;
	for (size_t i = 0; i < count && patterns; i++) {
		bool any = false;

		for (size_t j = 0; j < filter->count; j++)
			any |= filter->terms[j].op == WTI_OP_PATTERN &&
			       is_named(&runs[i], filter->terms[j].word);
		keep[i] &= any;
	}
}

/* Whether somebody asks for runs that are removed: then they are not left out. */
static bool asks_for_removed(const struct wti_run_filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct wti_filter_term *term = &filter->terms[i];

		if (!strcmp(term->name, "removed") ||
		    (!strcmp(term->name, "status") && !strcmp(term->value, "removed")))
			return true;
	}
	return false;
}

static int apply_term(const struct wti_front *front, struct wti_catalogue *c,
		      struct wti_run_filter *filter, struct wti_filter_term *term, bool cheap,
		      bool *keep, struct wt_err *err)
{
	const struct field *field = field_of(term->name);

	if (term->op == WTI_OP_PATTERN)
		return 0;
	if (field)
		return cheap ? apply_text(c, field, term, keep, err) : 0;
	if (is_moment(term->name))
		return cheap ? apply_moment(c, term, keep, err) : 0;
	if (cheap)
		return 0;
	if (is_setting(term->name) && !wti_configured_number(term->value, &(double){0})) {
		int r = wti_catalogue_summarise(front, c, keep, err);

		return r ? r : apply_setting(c, term, keep, err);
	}
	return apply_number(front, c, filter, term, keep, err);
}

int wti_filter_apply(const struct wti_front *front, struct wti_catalogue *c,
		     struct wti_run_filter *filter, bool *keep, struct wt_err *err)
{
	const struct wti_catalogue_run *runs;
	size_t count;
	int r = 0;

	runs = wti_catalogue_runs(c, &count);
	filter->with_removed |= asks_for_removed(filter);
	for (size_t i = 0; i < count; i++)
		keep[i] = filter->with_removed || runs[i].removed_ns < 0;
	for (size_t i = 0; i < filter->count; i++) {
		struct wti_filter_term *term = &filter->terms[i];

		if (term->op != WTI_OP_PATTERN && !field_of(term->name) && is_name(c, term->word))
			term->op = WTI_OP_PATTERN;
	}
	for (int cheap = 1; cheap >= 0; cheap--) {
		for (size_t i = 0; i < filter->count && !r; i++)
			r = apply_term(front, c, filter, &filter->terms[i], cheap, keep, err);
		if (cheap && !r)
			apply_patterns(c, filter, keep);
	}
	return r;
}
