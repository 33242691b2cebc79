/* SPDX-License-Identifier: Apache-2.0 */
/* From a document to a verb's options. Knows the rows of the verb, and nothing of any option. */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/text.h"
#include "base/toml.h"
#include "base/yaml_read.h"
#include "parse.h"

#define TEXTS_BYTES_MAX ((size_t)16 << 20)
#define KEYS_MAX 128
#define KEY_BYTES_MAX 128
#define IGNORED_BYTES_MAX 1024

/* ---- Saying what is wrong -------------------------------------------------------------------- */

int wti_config_fail(const struct wti_config *config, const struct wti_doc *value,
		    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	wti_doc_fail_of(value, config->path, config->err, WT_E_ARG, format, args);
	va_end(args);
	return WT_E_ARG;
}

static int unknown_key(const struct wti_config *config, const struct wti_doc *value,
		       const char *name, const char *const *known, size_t count)
{
	const char *near = wti_suggest(name, known, count);

	if (near)
		return wti_config_fail(config, value, "unknown key '%.64s'; did you mean '%s'?",
				       name, near);
	return wti_config_fail(config, value, "unknown key '%.64s'; docs/config.md lists them",
			       name);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool put_scalar(struct wti_buf *out, const struct wti_doc *value)
{
	switch (value->type) {
	case WTI_DOC_STRING:
		wti_buf_append(out, value->string.data, value->string.bytes);
		return !memchr(value->string.data, 0, value->string.bytes);
	case WTI_DOC_INT:
		wti_buf_printf(out, "%lld", (long long)value->integer);
		return true;
	case WTI_DOC_FLOAT:
		wti_buf_printf(out, "%.15g", value->number);
		return isfinite(value->number);
	case WTI_DOC_BOOL:
		wti_buf_text(out, value->boolean ? "yes" : "no");
		return true;
	default:
		return false;
	}
}

static bool put_value(struct wti_buf *out, const struct wti_doc *value)
{
	if (value->type != WTI_DOC_ARRAY)
		return put_scalar(out, value);
	for (const struct wti_doc *child = value->first; child; child = child->next) {
		if (child != value->first)
			wti_buf_byte(out, ',');
		if (!put_scalar(out, child))
			return false;
	}
	return true;
}

const char *wti_config_text(struct wti_config *config, const struct wti_doc *value)
{
	struct wti_buf text;
	const char *copy = NULL;

	wti_buf_init(&text, TEXTS_BYTES_MAX);
	if (!put_value(&text, value))
		wti_config_fail(config, value,
				"bad value for '%s'; expected text, a number, true or false, or a "
				"list of these",
				value->key ? value->key : "");
	else if (!wti_buf_status(&text))
		copy = wti_arena_text(&config->texts, text.data, text.bytes);
	if (!copy && !config->err->code)
		wti_err(config->err, WT_E_NOMEM, "out of memory reading '%s'", config->path);
	wti_buf_release(&text);
	return copy;
}

const char *wti_config_path(struct wti_config *config, const char *path)
{
	const char *slash = strrchr(config->path, '/');
	size_t folder = slash && path[0] != '/' ? (size_t)(slash - config->path) + 1 : 0;
	size_t bytes = folder + strlen(path);
	char *whole = wti_arena_alloc(&config->texts, bytes + 1);

	if (whole) {
		memcpy(whole, config->path, folder);
		memcpy(whole + folder, path, bytes - folder);
	} else {
		wti_err(config->err, WT_E_NOMEM, "out of memory reading '%s'", config->path);
	}
	return whole;
}

/* ---- Options --------------------------------------------------------------------------------- */

int wti_config_set(struct wti_config *config, const struct wti_doc *value, const char *option,
		   const char *text)
{
	const struct wti_option *row = wti_option_by_name(config->verb, option, strlen(option));
	struct wt_err err = {0};
	int r;

	if (!text && !config->err->code)
		return wti_err(config->err, WT_E_NOMEM, "out of memory reading '%s'", config->path);
	if (!text)
		return config->err->code;
	if (!row)
		return wti_config_fail(config, value,
				       "this key needs --%s, which this wheeltap does not have",
				       option);
	r = wti_option_store(row, config->options, text, &err);
	return r ? wti_config_fail(config, value, "%s", err.message) : 0;
}

/* Each element of a list for options that take several, all together for others. */
static int set_option(struct wti_config *config, const struct wti_doc *value,
		      const struct wti_option *option)
{
	int r = 0;

	if (option->type != WTI_OPT_LIST || value->type != WTI_DOC_ARRAY)
		return wti_config_set(config, value, option->name, wti_config_text(config, value));
	for (const struct wti_doc *child = value->first; child && !r; child = child->next)
		r = wti_config_set(config, child, option->name, wti_config_text(config, child));
	return r;
}

int wti_config_program(struct wti_config *config, const struct wti_doc *value,
		       const char *const *words, size_t count)
{
	char **program = wti_arena_alloc(&config->texts, (count + 1) * sizeof(*program));

	if (!program)
		return wti_err(config->err, WT_E_NOMEM, "out of memory reading '%s'", config->path);
	for (size_t i = 0; i < count; i++) {
		if (!words[i] || !words[i][0])
			return words[i] ? wti_config_fail(config, value, "the program is empty")
					: config->err->code;
		program[i] = (char *)words[i];
	}
	config->program = program;
	config->program_count = count;
	return 0;
}

/* ---- Our own: a table for each verb ---------------------------------------------------------- */

/* In keys a dash may be written as it is or as an underscore. */
static const struct wti_option *option_of_key(const struct wti_verb *verb, const char *key)
{
	char name[KEY_BYTES_MAX];
	size_t bytes = strlen(key);

	if (bytes >= sizeof(name))
		return NULL;
	for (size_t i = 0; i <= bytes; i++)
		name[i] = key[i] == '_' ? '-' : key[i];
	return wti_option_by_name(verb, name, bytes);
}

static int own_program(struct wti_config *config, const struct wti_doc *value)
{
	const char *words[KEYS_MAX];
	size_t count = 0;

	if (value->type != WTI_DOC_ARRAY)
		return wti_config_fail(config, value,
				       "bad value for 'program'; give a list of words: "
				       "[\"python\", \"train.py\"]");
	for (const struct wti_doc *child = value->first; child; child = child->next) {
		if (count == KEYS_MAX)
			return wti_config_fail(config, child, "the program has more than %d words",
					       KEYS_MAX);
		words[count++] = wti_config_text(config, child);
	}
	return wti_config_program(config, value, words, count);
}

static int own_key(struct wti_config *config, const struct wti_doc *value)
{
	const struct wti_option *option = option_of_key(config->verb, value->key);
	const char *known[KEYS_MAX];
	size_t count = 0;

	if (option && option->type != WTI_OPT_CONFIG)
		return set_option(config, value, option);
	if (config->verb->rest_is_program && !strcmp(value->key, "program"))
		return own_program(config, value);
	if (config->verb->rest_is_program)
		known[count++] = "program";
	for (const struct wti_option *o = config->verb->options; o->name && count < KEYS_MAX; o++)
		known[count++] = o->name;
	return unknown_key(config, value, value->key, known, count);
}

/* The table of another verb is its own business; anything else is a mistake. */
static int own_document(struct wti_config *config)
{
	const char *known[KEYS_MAX];
	size_t count = 0;

	for (size_t i = 0; wti_verbs[i] && count < KEYS_MAX; i++)
		known[count++] = wti_verbs[i]->name;
	for (const struct wti_doc *table = config->doc->first; table; table = table->next) {
		bool ours = !strcmp(table->key, config->verb->name);

		if (!wti_verb_by_name(table->key) && option_of_key(config->verb, table->key))
			return wti_config_fail(config, table,
					       "'%s' is outside of a table; write [%s] above it",
					       table->key, config->verb->name);
		if (!strcmp(table->key, "suppress") || !strcmp(table->key, "gate") ||
		    !strcmp(table->key, "thresholds"))
			continue; /* suppress.c, gate.c and thresholds.c read them */
		if (!wti_verb_by_name(table->key))
			return unknown_key(config, table, table->key, known, count);
		if (table->type != WTI_DOC_TABLE)
			return wti_config_fail(config, table, "'%s' must be a table: [%s]",
					       table->key, table->key);
		for (const struct wti_doc *value = table->first; value && ours; value = value->next)
			if (own_key(config, value))
				return config->err->code;
	}
	return 0;
}

/* ---- Those of others ------------------------------------------------------------------------- */

static const struct wti_dialect_key *foreign_key(const struct wti_dialect *dialect,
						 const char *name)
{
	for (const struct wti_dialect_key *key = dialect->keys; key->name; key++)
		if (!strcmp(key->name, name))
			return key;
	return NULL;
}

/* True if keys of the dialect stand below this one. */
static bool is_foreign_table(const struct wti_dialect *dialect, const char *name)
{
	size_t bytes = strlen(name);

	for (const struct wti_dialect_key *key = dialect->keys; key->name; key++)
		if (!strncmp(key->name, name, bytes) && key->name[bytes] == '.')
			return true;
	return false;
}

static int take_foreign(struct wti_config *config, const struct wti_dialect_key *key,
			const struct wti_doc *value)
{
	const struct wti_option *option =
		key->option ? wti_option_by_name(config->verb, key->option, strlen(key->option))
			    : NULL;

	/* Nothing to do for it here; a key without an option of ours may still be a program. */
	if (!option && (key->option || !key->take)) {
		wti_buf_printf(&config->ignored, "%s%s", config->ignored.bytes ? ", " : "",
			       key->name);
		return 0;
	}
	if (value->type == WTI_DOC_NULL) /* as if it were not there */
		return 0;
	return key->take ? key->take(config, key, value) : set_option(config, value, option);
}

static int unknown_foreign(const struct wti_config *config, const struct wti_doc *value,
			   const char *name)
{
	const char *known[KEYS_MAX];
	size_t count = 0;

	for (const struct wti_dialect_key *key = config->dialect->keys;
	     key->name && count < KEYS_MAX; key++)
		known[count++] = key->name;
	return unknown_key(config, value, name, known, count);
}

/* As deep as the names of keys have dots, however deep the document is. */
static int foreign_table(struct wti_config *config, const char *prefix, const struct wti_doc *table)
{
	int r = 0;

	for (const struct wti_doc *value = table->first; value && !r; value = value->next) {
		const struct wti_dialect_key *key;
		char name[KEY_BYTES_MAX];

		snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", value->key);
		key = foreign_key(config->dialect, name);
		if (key)
			r = take_foreign(config, key, value);
		else if (!is_foreign_table(config->dialect, name))
			r = unknown_foreign(config, value, name);
		else if (value->type == WTI_DOC_TABLE)
			r = foreign_table(config, name, value);
		else if (value->type != WTI_DOC_NULL)
			r = wti_config_fail(config, value, "bad value for '%s'; expected a table",
					    name);
	}
	return r;
}

/* ---- Whose it is ----------------------------------------------------------------------------- */

static size_t known_keys(const struct wti_dialect *dialect, const struct wti_doc *doc)
{
	size_t count = 0;

	for (const struct wti_doc *value = doc->first; value; value = value->next)
		count += foreign_key(dialect, value->key) || is_foreign_table(dialect, value->key);
	return count;
}

/* The dialect with the most keys that stand in the file; NULL: our own. */
static const struct wti_dialect *whose(const struct wti_config *config)
{
	const struct wti_dialect *best = NULL;
	size_t most = 0;

	for (size_t i = 0; config->verb->dialects && config->verb->dialects[i]; i++) {
		size_t count = known_keys(config->verb->dialects[i], config->doc);

		if (count > most) {
			most = count;
			best = config->verb->dialects[i];
		}
	}
	return best;
}

static int apply(struct wti_config *config)
{
	if (config->doc->type != WTI_DOC_TABLE)
		return wti_config_fail(config, config->doc,
				       "not a configuration; it must have keys and values");
	config->dialect = whose(config);
	return config->dialect ? foreign_table(config, "", config->doc) : own_document(config);
}

/* ---- How it is written ----------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *suffix)
{
	size_t bytes = strlen(path), tail = strlen(suffix);

	return bytes > tail && !strcmp(path + bytes - tail, suffix);
}

/* The first line that is neither blank nor a comment; its bytes. */
static size_t first_line(const char **text, const char *end)
{
	const char *at = *text;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		while (at < stop && strchr(" \t\r", *at))
			at++;
		if (at < stop && *at != '#') {
			*text = at;
			return (size_t)(stop - at);
		}
		at = stop + 1;
	}
	return 0;
}

typedef int reader(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err);

/* What it begins with: a brace is JSON, a table or `key =` is TOML, `key:` or --- is YAML. */
static reader *reader_of(const char *path, const char *text, size_t bytes)
{
	const char *line = text;
	size_t length, key;

	if (bytes >= 3 && !memcmp(line, "\xef\xbb\xbf", 3))
		line += 3;
	length = first_line(&line, text + bytes);
	if (!length)
		return wti_toml_parse;
	if (*line == '{')
		return ends_in(path, ".yml") || ends_in(path, ".yaml") ? wti_yaml_parse
								       : wti_json_parse;
	for (key = 0; key < length && line[key] != '=' && line[key] != ':'; key++)
		;
	if (*line == '[' || (key < length && line[key] == '='))
		return wti_toml_parse;
	return wti_yaml_parse;
}

static int read_file(struct wti_config *config)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, WTI_DOC_FILE_MAX);
	r = wti_file_read(config->path, WTI_DOC_FILE_MAX, &text, config->err);
	if (!r)
		r = reader_of(config->path, (char *)text.data, text.bytes)(
			config->path, (char *)text.data, text.bytes, &config->doc, config->err);
	wti_buf_release(&text);
	if (r && r != WT_E_NOMEM)
		config->err->code = r =
			WT_E_ARG; /* a mistake of the command line, not of a trace */
	return r;
}

int wti_config_load(const struct wti_verb *verb, const char *path, void *options,
		    struct wti_config **ret_config, struct wt_err *err)
{
	struct wti_config *config = calloc(1, sizeof(*config));
	int r;

	if (!config)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	*config = (struct wti_config){.verb = verb, .path = path, .options = options, .err = err};
	wti_arena_init(&config->texts, TEXTS_BYTES_MAX);
	wti_buf_init(&config->ignored, IGNORED_BYTES_MAX);
	r = read_file(config);
	if (!r)
		r = apply(config);
	config->err = NULL;
	if (r)
		wti_config_free(config);
	else
		*ret_config = config;
	return r;
}

void wti_config_free(struct wti_config *config)
{
	if (!config)
		return;
	wti_doc_free(config->doc);
	wti_arena_release(&config->texts);
	wti_buf_release(&config->ignored);
	free(config);
}
