/* SPDX-License-Identifier: Apache-2.0 */
/* Files that say which Python functions are wanted: lists of names, and rules as Pytracer has them.
 */
#include "python_rules.h"

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/pattern.h"

#define FILE_BYTES_MAX (1u << 20)
#define WORD_BYTES_MAX 512u

struct place {
	const char *path;
	unsigned line;
	struct wt_err *err;
};

typedef int take_line(struct wti_buf *out, const struct place *place, const char *line,
		      const void *cookie);

/* Each line of a file that is neither blank nor a comment, without the space around it. */
static int each_line(const char *path, take_line *take, struct wti_buf *out, const void *cookie,
		     struct wt_err *err)
{
	struct place place = {path, 0, err};
	struct wti_buf text;
	char *at;
	int r;

	wti_buf_init(&text, FILE_BYTES_MAX + 1);
	r = wti_file_read(path, FILE_BYTES_MAX, &text, err);
	if (r && r != WT_E_NOMEM)
		err->code = r = WT_E_ARG; /* a mistake of the command line, not of a trace */
	wti_buf_byte(&text, 0);
	if (!r && strlen((char *)text.data) + 1 != text.bytes)
		r = wti_err(err, WT_E_ARG, "'%.200s' is not a text file: it contains a NUL byte",
			    path);
	at = (char *)text.data;
	while (!r && at && *at) {
		char *line = strsep(&at, "\n");
		char *end = line + strcspn(line, "#");

		place.line++;
		line += strspn(line, " \t\r");
		while (end > line && strchr(" \t\r", end[-1]))
			end--;
		if (end <= line)
			continue;
		*end = 0;
		r = take(out, &place, line, cookie);
	}
	wti_buf_release(&text);
	return r;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int take_name(struct wti_buf *out, const struct place *place, const char *line,
		     const void *cookie)
{
	if (line[strcspn(line, " \t,=")])
		return wti_err(place->err, WT_E_ARG,
			       "%.200s:%u: expected one name per line, not '%.64s'", place->path,
			       place->line, line);
	if (out->bytes && out->data[out->bytes - 1] != '=')
		wti_buf_byte(out, ',');
	wti_buf_text(out, line);
	return 0;
}

/* Of names between commas, whether one has nothing in it. */
static bool has_empty_name(const char *names)
{
	for (;;) {
		names += strspn(names, " \t");
		if (*names == ',' || !*names)
			return true;
		names = strchr(names, ',');
		if (!names++)
			return false;
	}
}

int wti_python_names(struct wti_buf *out, const char *key, const char *names, struct wt_err *err)
{
	int r = 0;
	size_t bytes = out->bytes;

	if (!names)
		return 0;
	if (names[0] != '@' && has_empty_name(names))
		return wti_err(err, WT_E_ARG,
			       "bad value '%.200s' for --%s; a name between its commas is empty",
			       names, key);
	if (strchr(names, '\n'))
		return wti_err(err, WT_E_ARG,
			       "bad value for --%s; names cannot contain line breaks", key);
	wti_buf_printf(out, "%s=", key);
	bytes = out->bytes;
	if (names[0] == '@')
		r = each_line(names + 1, take_name, out, NULL, err);
	else
		wti_buf_text(out, names);
	if (!r && names[0] == '@' && out->bytes == bytes)
		return wti_err(err, WT_E_ARG, "no names in '%s'; --%s needs one", names + 1, key);
	wti_buf_byte(out, '\n');
	return r;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

/* A star stands for anything, the rest is a regular expression: so Pytracer reads it. */
static bool is_pattern(const char *word)
{
	char expression[2 * WORD_BYTES_MAX + 1];
	char why[WTI_REGEX_WHY_BYTES];
	size_t bytes = 0;
	regex_t compiled;

	if (strlen(word) > WORD_BYTES_MAX)
		return false;
	for (; *word; word++) {
		if (*word == '*')
			expression[bytes++] = '.';
		expression[bytes++] = *word;
	}
	expression[bytes] = 0;
	if (wti_regex_compile(expression, &compiled, why))
		return false;
	regfree(&compiled);
	return true;
}

static int take_rule(struct wti_buf *out, const struct place *place, const char *line,
		     const void *cookie)
{
	char module[WORD_BYTES_MAX + 1] = "";
	size_t bytes = strcspn(line, " \t");
	const char *function = line + bytes + strspn(line + bytes, " \t");

	if (bytes > WORD_BYTES_MAX || !*function || function[strcspn(function, " \t")])
		return wti_err(place->err, WT_E_ARG,
			       "%.200s:%u: '%.64s' is not a rule; expected a module and a "
			       "function, such as: numpy.linalg *",
			       place->path, place->line, line);
	memcpy(module, line, bytes);
	if (!is_pattern(module) || !is_pattern(function))
		return wti_err(place->err, WT_E_ARG,
			       "%.200s:%u: '%.64s' is not a pattern; * matches anything",
			       place->path, place->line, line);
	wti_buf_printf(out, "%s=%s %s\n", (const char *)cookie, module, function);
	return 0;
}

int wti_python_rules(struct wti_buf *out, const char *key, const struct wti_list *files,
		     struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < files->count && !r; i++)
		r = each_line(files->items[i], take_rule, out, key, err);
	return r;
}
