/* SPDX-License-Identifier: Apache-2.0 */
/* The one option parser of all verbs: it knows struct wti_option, and nothing of any verb. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "parse.h"

#define OPTIONS_MAX 64
#define CHOICES_BYTES 200

struct parser {
	const struct wti_verb *verb;
	char **words;
	size_t count;
	size_t at;
	struct wti_parsed *out;
	struct wt_err *err;
	bool config_only;       /* the first time through: only what names a file counts */
	bool seen[OPTIONS_MAX]; /* options that the words have given */
};

const struct wti_option *wti_option_by_name(const struct wti_verb *verb, const char *name,
					    size_t bytes)
{
	for (const struct wti_option *o = verb->options; o && o->name; o++) {
		if (strlen(o->name) == bytes && !memcmp(o->name, name, bytes))
			return o;
	}
	return NULL;
}

static const struct wti_option *option_by_letter(const struct wti_verb *verb, char letter)
{
	for (const struct wti_option *o = verb->options; o && o->name; o++) {
		if (o->letter == letter)
			return o;
	}
	return NULL;
}

static int unknown_option(const struct parser *p, const char *name, size_t bytes)
{
	const char *names[OPTIONS_MAX];
	size_t count = 0;
	char word[64];
	const char *near;

	for (const struct wti_option *o = p->verb->options; o && o->name; o++) {
		if (count < OPTIONS_MAX)
			names[count++] = o->name;
	}
	snprintf(word, sizeof(word), "%.*s", (int)(bytes < 63 ? bytes : 63), name);
	near = wti_suggest(word, names, count);
	if (near)
		return wti_err(p->err, WT_E_ARG, "unknown option '--%s'; did you mean --%s?", word,
			       near);
	return wti_err(p->err, WT_E_ARG, "unknown option '--%s'; 'wheeltap %s --help' lists them",
		       word, p->verb->name);
}

/* `choices` is "a|b|c"; a choice may be followed by '=' and anything. */
static bool is_choice(const char *choices, const char *value)
{
	size_t bytes = strcspn(value, "=");

	for (const char *c = choices; *c;) {
		size_t length = strcspn(c, "|");

		if (length == bytes && !memcmp(c, value, length))
			return true;
		c += length + (c[length] == '|');
	}
	return false;
}

static int store_list(struct wti_list *list, const char *value, struct wt_err *err)
{
	if (wti_grow(&list->items, list->count + 1, &list->capacity, WTI_NO_CEILING))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	list->items[list->count++] = value;
	return 0;
}

static int bad_value(const struct wti_option *option, const char *value, const char *expected,
		     struct wt_err *err)
{
	return wti_err(err, WT_E_ARG, "bad value '%.64s' for --%s; it takes %s", value,
		       option->name, expected);
}

static int store_flag(const struct wti_option *option, bool *slot, const char *value,
		      struct wt_err *err)
{
	bool yes = !strcmp(value, "yes") || !strcmp(value, "true");

	if (!yes && strcmp(value, "no") != 0 && strcmp(value, "false") != 0)
		return bad_value(option, value, "no value, or yes or no", err);
	*slot = yes;
	return 0;
}

static int unknown_choice(const struct wti_option *option, const char *value, struct wt_err *err)
{
	char words[CHOICES_BYTES], expected[CHOICES_BYTES + 64], *at = words, *word;
	const char *names[OPTIONS_MAX], *near;
	size_t count = 0;

	snprintf(words, sizeof(words), "%s", option->choices);
	while ((word = strsep(&at, "|")) && count < OPTIONS_MAX)
		names[count++] = word;
	near = wti_suggest(value, names, count);
	snprintf(expected, sizeof(expected), "one of %s%s%s%s", option->choices,
		 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return bad_value(option, value, expected, err);
}

static int store_choice(const struct wti_option *option, const char **slot, const char *value,
			struct wt_err *err)
{
	if (!is_choice(option->choices, value))
		return unknown_choice(option, value, err);
	*slot = value;
	return 0;
}

int wti_option_store(const struct wti_option *option, void *options, const char *value,
		     struct wt_err *err)
{
	void *slot = (char *)options + option->offset;

	switch (option->type) {
	case WTI_OPT_FLAG:
		return store_flag(option, slot, value, err);
	case WTI_OPT_MAYBE:
	case WTI_OPT_TEXT:
	case WTI_OPT_CONFIG:
		*(const char **)slot = value;
		return 0;
	case WTI_OPT_COUNT:
		if (!wti_parse_u64(value, slot))
			return bad_value(option, value, "a whole number such as 100", err);
		return 0;
	case WTI_OPT_BYTES:
		if (!wti_parse_bytes(value, slot))
			return bad_value(option, value, "a size such as 64k or 2G", err);
		return 0;
	case WTI_OPT_DURATION:
		if (!wti_parse_duration(value, slot))
			return bad_value(option, value, "a time such as 20ms, 1.5s, 2m, 36h or 7d",
					 err);
		return 0;
	case WTI_OPT_CHOICE:
		return store_choice(option, slot, value, err);
	case WTI_OPT_LIST:
		return store_list(slot, value, err);
	}
	return wti_err(err, WT_E_ARG, "option '--%s' has no type", option->name);
}

/* What the words say of a list replaces what the file said. */
static void begin_option(struct parser *p, const struct wti_option *option)
{
	size_t index = (size_t)(option - p->verb->options);

	if (option->type == WTI_OPT_LIST && index < OPTIONS_MAX && !p->seen[index])
		((struct wti_list *)((char *)p->out->options + option->offset))->count = 0;
	if (index < OPTIONS_MAX)
		p->seen[index] = true;
}

static int store(struct parser *p, const struct wti_option *option, const char *value)
{
	if (p->config_only && option->type != WTI_OPT_CONFIG)
		return 0;
	begin_option(p, option);
	return wti_option_store(option, p->out->options, value, p->err);
}

/*
 * Whether a word that stands where a value is expected ends the options or is one of them: the
 * value was forgotten. What is meant as a value in spite of that is written --name=VALUE.
 */
static bool is_option_word(const struct parser *p, const char *word)
{
	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] != '-')
		return !word[2] && (word[1] == 'h' || option_by_letter(p->verb, word[1]));
	return !word[2] || !strcmp(word, "--help") ||
	       wti_option_by_name(p->verb, word + 2, strcspn(word + 2, "="));
}

/* `value` is what came with the option itself, or NULL: then the next word. */
static int take(struct parser *p, const struct wti_option *option, const char *value)
{
	if (option->type == WTI_OPT_FLAG || option->type == WTI_OPT_MAYBE)
		return store(p, option, value ? value : "yes");
	if (!value) {
		if (p->at >= p->count)
			return wti_err(p->err, WT_E_ARG, "option '--%s' needs a value: --%s %s",
				       option->name, option->name, option->argument);
		if (is_option_word(p, p->words[p->at]))
			return wti_err(p->err, WT_E_ARG,
				       "option '--%s' needs a value before '%.64s': --%s %s",
				       option->name, p->words[p->at], option->name,
				       option->argument);
		value = p->words[p->at++];
	}
	return store(p, option, value);
}

static int take_long(struct parser *p, const char *word)
{
	const char *name = word + 2;
	size_t bytes = strcspn(name, "=");
	const struct wti_option *option = wti_option_by_name(p->verb, name, bytes);

	if (bytes == 4 && !memcmp(name, "help", 4) && !option) {
		p->out->help = true;
		return 0;
	}
	if (!option)
		return unknown_option(p, name, bytes);
	return take(p, option, name[bytes] == '=' ? name + bytes + 1 : NULL);
}

static int take_letters(struct parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		const struct wti_option *option = option_by_letter(p->verb, *c);
		int r;

		if (!option && *c == 'h') {
			p->out->help = true;
			return 0;
		}
		if (!option)
			return wti_err(p->err, WT_E_ARG,
				       "unknown option '%.32s'; 'wheeltap %s --help' lists them",
				       word, p->verb->name);
		if (option->type != WTI_OPT_FLAG && option->type != WTI_OPT_MAYBE)
			return take(p, option, c[1] ? c + 1 : NULL);
		r = take(p, option, NULL);
		if (r)
			return r;
	}
	return 0;
}

static int take_words(struct parser *p)
{
	bool options_over = false;

	while (p->at < p->count && !p->out->help) {
		char *word = p->words[p->at++];
		int r = 0;

		if (!options_over && !strcmp(word, "--")) {
			options_over = true;
		} else if (!options_over && word[0] == '-' && word[1] == '-') {
			r = take_long(p, word);
		} else if (!options_over && word[0] == '-' && word[1]) {
			r = take_letters(p, word);
		} else {
			p->out->arguments[p->out->argument_count++] = word;
			options_over |= p->verb->rest_is_program;
		}
		if (r)
			return r;
	}
	return 0;
}

/* The file that an option names, before all else. */
static int read_config(struct parser *p)
{
	const struct wti_option *option = p->verb->options;
	const char *path;
	int r;

	while (option && option->name && option->type != WTI_OPT_CONFIG)
		option++;
	if (!option || !option->name)
		return 0;
	p->config_only = true;
	r = take_words(p);
	p->config_only = false;
	p->at = p->out->argument_count = 0;
	path = *(const char **)((char *)p->out->options + option->offset);
	if (r || !path || p->out->help)
		return r;
	return wti_config_load(p->verb, path, p->out->options, &p->out->config, p->err);
}

/* A program that the file names, where the words name none. */
static int take_program(struct parser *p)
{
	const struct wti_option *directory = wti_option_by_name(p->verb, "directory", 9);
	const struct wti_config *config = p->out->config;
	char **arguments;

	if (!config || !config->program_count || p->out->argument_count)
		return 0;
	if (directory && config->program_directory && !p->seen[directory - p->verb->options])
		*(const char **)((char *)p->out->options + directory->offset) =
			config->program_directory;
	arguments = calloc(config->program_count + 1, sizeof(*arguments));
	if (!arguments)
		return wti_err(p->err, WT_E_NOMEM, "out of memory");
	memcpy(arguments, config->program, config->program_count * sizeof(*arguments));
	free(p->out->arguments);
	p->out->arguments = arguments;
	p->out->argument_count = config->program_count;
	return 0;
}

static int check_arguments(const struct parser *p)
{
	size_t count = p->out->argument_count;

	if (count < p->verb->arguments_min)
		return wti_err(p->err, WT_E_ARG, "'wheeltap %s' needs %s; see 'wheeltap %s --help'",
			       p->verb->name, p->verb->arguments, p->verb->name);
	if (!p->verb->rest_is_program && count > p->verb->arguments_max)
		return wti_err(p->err, WT_E_ARG,
			       "unexpected argument '%.64s'; usage: wheeltap %s [OPTIONS]%s%s",
			       p->out->arguments[p->verb->arguments_max], p->verb->name,
			       *p->verb->arguments ? " " : "", p->verb->arguments);
	return 0;
}

int wti_parse(const struct wti_verb *verb, char **words, size_t count,
	      struct wti_parsed *ret_parsed, struct wt_err *err)
{
	struct wti_parsed parsed = {0};
	struct parser p = {
		.verb = verb, .words = words, .count = count, .out = &parsed, .err = err};
	int r;

	parsed.options = calloc(1, verb->options_bytes ? verb->options_bytes : 1);
	parsed.arguments = calloc(count + 1, sizeof(*parsed.arguments));
	if (!parsed.options || !parsed.arguments) {
		wti_parsed_release(verb, &parsed);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	if (verb->defaults)
		memcpy(parsed.options, verb->defaults, verb->options_bytes);
	r = read_config(&p);
	if (!r)
		r = take_words(&p);
	if (!r && !parsed.help)
		r = take_program(&p);
	if (!r && !parsed.help)
		r = check_arguments(&p);
	if (r) {
		wti_parsed_release(verb, &parsed);
		return r;
	}
	*ret_parsed = parsed;
	return 0;
}

void wti_parsed_release(const struct wti_verb *verb, struct wti_parsed *parsed)
{
	for (const struct wti_option *o = verb->options; parsed->options && o && o->name; o++) {
		if (o->type == WTI_OPT_LIST)
			free(((struct wti_list *)((char *)parsed->options + o->offset))->items);
	}
	wti_config_free(parsed->config);
	free(parsed->options);
	free(parsed->arguments);
	*parsed = (struct wti_parsed){0};
}
