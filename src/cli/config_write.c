/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration with every option of a verb, in our own format. The rows are all it knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "config.h"
#include "parse.h"

#define SELF "write-config" /* nobody wants that one in a file */
#define COMMENT_COLUMNS 98
#define WORDS_MAX 4096u

static void comment(struct wti_buf *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t bytes = strcspn(text, " ");

		if (!column || column + 1 + bytes > COMMENT_COLUMNS) {
			wti_buf_text(out, column ? "\n#" : "#");
			column = 1;
		}
		wti_buf_printf(out, " %.*s", (int)bytes, text);
		column += 1 + bytes;
		text += bytes + strspn(text + bytes, " ");
	}
	wti_buf_byte(out, '\n');
}

/* JSON's strings are TOML's. */
static void put_text(struct wti_buf *out, const char *text)
{
	struct wti_json json;

	wti_json_init(&json, out, false);
	wti_json_text(&json, text);
}

static void put_list(struct wti_buf *out, char *const *items, size_t count)
{
	wti_buf_byte(out, '[');
	for (size_t i = 0; i < count; i++) {
		wti_buf_text(out, i ? ", " : "");
		put_text(out, items[i]);
	}
	wti_buf_byte(out, ']');
}

static void put_value(struct wti_buf *out, const struct wti_option *option, const void *slot)
{
	const struct wti_list *list = slot;
	const char *text;

	switch (option->type) {
	case WTI_OPT_FLAG:
		wti_buf_text(out, *(const bool *)slot ? "true" : "false");
		break;
	case WTI_OPT_COUNT:
	case WTI_OPT_BYTES:
		wti_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)slot);
		break;
	case WTI_OPT_DURATION:
		wti_buf_printf(out, "\"%.9gs\"", (double)*(const int64_t *)slot / 1e9);
		break;
	case WTI_OPT_LIST:
		if (list->count)
			put_list(out, (char *const *)list->items, list->count);
		else
			wti_buf_printf(out, "[\"%s\"]", option->argument);
		break;
	default:
		text = *(const char *const *)slot;
		if (!text && option->type == WTI_OPT_CHOICE) /* what it takes, not what it means */
			wti_buf_printf(out, "\"%.*s\"", (int)strcspn(option->choices, "|"),
				       option->choices);
		else
			put_text(out, text ? text : option->argument);
	}
}

static size_t slot_bytes(enum wti_option_type type)
{
	switch (type) {
	case WTI_OPT_FLAG:
		return sizeof(bool);
	case WTI_OPT_LIST:
		return sizeof(struct wti_list);
	default:
		return sizeof(uint64_t);
	}
}

/* Words are compared as words: the same one may stand in two places. */
static bool is_usual(const struct wti_option *option, const char *slot, const char *usual)
{
	const char *words[2];

	if (!memcmp(slot, usual, slot_bytes(option->type)))
		return true;
	if (option->type != WTI_OPT_TEXT && option->type != WTI_OPT_CHOICE)
		return false;
	memcpy(&words[0], slot, sizeof(words[0]));
	memcpy(&words[1], usual, sizeof(words[1]));
	return words[0] && words[1] && !strcmp(words[0], words[1]);
}

static void put_option(struct wti_buf *out, const struct wti_verb *verb,
		       const struct wti_option *option, const void *options)
{
	const char *slot = (const char *)options + option->offset;
	const char *usual = (const char *)verb->defaults + option->offset;

	wti_buf_byte(out, '\n');
	comment(out, option->help);
	if (option->choices)
		wti_buf_printf(out, "# one of %s\n", option->choices);
	if (is_usual(option, slot, usual))
		wti_buf_byte(out, '#');
	wti_buf_printf(out, "%s = ", option->name);
	put_value(out, option, slot);
	wti_buf_byte(out, '\n');
}

void wti_config_write(struct wti_buf *out, const struct wti_verb *verb, const void *options,
		      char *const *program, size_t count)
{
	static char *const usual[] = {"python", "train.py"};

	wti_buf_printf(out,
		       "# Options of 'wheeltap %s', for 'wheeltap %s -c FILE'. Those with a # in "
		       "front have\n"
		       "# their default value.\n"
		       "[%s]\n",
		       verb->name, verb->name, verb->name);
	if (verb->rest_is_program) {
		wti_buf_text(out, "\n"
				  "# what to run, unless the command line gives it\n");
		wti_buf_text(out, count ? "program = " : "#program = ");
		put_list(out, count ? program : usual, count ? count : 2);
		wti_buf_byte(out, '\n');
	}
	for (const struct wti_option *o = verb->options; o->name; o++)
		if (o->type != WTI_OPT_CONFIG && strcmp(o->name, SELF) != 0)
			put_option(out, verb, o, options);
}

/* ---- As words -------------------------------------------------------------------------------- */

struct words {
	char **all;
	size_t count, capacity;
};

static bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Takes `word`, which may be NULL: out of memory. */
static int add_word(struct words *words, char *word)
{
	int r = word ? wti_grow_zeroed(&words->all, words->count + 2, &words->capacity, WORDS_MAX)
		     : WT_E_NOMEM;

	if (r)
		free(word);
	else
		words->all[words->count++] = word;
	return r;
}

static int add_option(struct words *words, const struct wti_option *option, const char *value)
{
	char *word = NULL;

	if (asprintf(&word, value ? "--%s=%s" : "--%s", option->name, value) < 0)
		word = NULL;
	return add_word(words, word);
}

static int add_slot(struct words *words, const struct wti_option *option, const char *slot)
{
	const struct wti_list *list = (const void *)slot;
	char number[40];
	const char *text;
	int r = 0;

	switch (option->type) {
	case WTI_OPT_FLAG:
		return add_option(words, option, NULL);
	case WTI_OPT_COUNT:
	case WTI_OPT_BYTES:
		snprintf(number, sizeof(number), "%llu",
			 (unsigned long long)*(const uint64_t *)slot);
		return add_option(words, option, number);
	case WTI_OPT_DURATION:
		snprintf(number, sizeof(number), "%.9gs", (double)*(const int64_t *)slot / 1e9);
		return add_option(words, option, number);
	case WTI_OPT_LIST:
		for (size_t i = 0; i < list->count && !r; i++)
			r = add_option(words, option, list->items[i]);
		return r;
	default:
		memcpy(&text, slot, sizeof(text));
		return text ? add_option(words, option, text) : 0;
	}
}

int wti_config_words(const struct wti_verb *verb, const void *options, const char *const *but,
		     char ***ret_words)
{
	struct words words = {0};
	int r = wti_grow_zeroed(&words.all, 1, &words.capacity, WORDS_MAX);

	for (const struct wti_option *at = verb->options; at->name && !r; at++) {
		const char *slot = (const char *)options + at->offset;

		if (!is_among(at->name, but) &&
		    !is_usual(at, slot, (const char *)verb->defaults + at->offset))
			r = add_slot(&words, at, slot);
	}
	if (r)
		wti_config_words_free(words.all);
	else
		*ret_words = words.all;
	return r;
}

void wti_config_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
