/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two documents run.json, as far as they say how a run was started. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "diff_setup.h"
#include "runjson.h"

#define WORDS_MAX 4096u /* of a command line */
#define TEXT_BYTES 64

struct argument {
	const char *name; /* "--lr"; NULL: its value has a place instead of a name */
	size_t name_bytes;
	const char *value; /* NULL: it has none */
};

struct arguments {
	struct argument items[WORDS_MAX];
	size_t count;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put(struct wt_table *table, const char *text)
{
	wt_table_text(table, text ? text : "", text ? strlen(text) : 0);
}

/* NULL: that run has none. */
static void compare(struct wt_table *table, const char *what, const char *name, const char *a,
		    const char *b)
{
	if ((!a && !b) || (a && b && !strcmp(a, b)))
		return;
	wt_table_row(table);
	put(table, !a ? "+" : !b ? "-" : "~");
	put(table, what);
	put(table, name);
	put(table, a);
	put(table, b);
}

/* A value as text, in `scratch` or in the document; NULL: there is none. */
static const char *text_of(const struct wti_doc *value, char scratch[TEXT_BYTES])
{
	switch (value ? value->type : WTI_DOC_NULL) {
	case WTI_DOC_STRING:
		return value->string.data;
	case WTI_DOC_INT:
		snprintf(scratch, TEXT_BYTES, "%" PRId64, value->integer);
		return scratch;
	case WTI_DOC_FLOAT:
		snprintf(scratch, TEXT_BYTES, "%.9g", value->number);
		return scratch;
	case WTI_DOC_BOOL:
		return value->boolean ? "yes" : "no";
	default:
		return NULL;
	}
}

static void compare_key(struct wt_table *table, const char *what, const struct wti_doc *a,
			const struct wti_doc *b, const char *key)
{
	char left[TEXT_BYTES], right[TEXT_BYTES];

	compare(table, what, key, text_of(a ? wti_doc_get(a, key) : NULL, left),
		text_of(b ? wti_doc_get(b, key) : NULL, right));
}

static const struct wti_doc *table_of(const struct wti_doc *root, const char *key)
{
	const struct wti_doc *found = root ? wti_doc_get(root, key) : NULL;

	return found && found->type == WTI_DOC_TABLE ? found : NULL;
}

static void compare_all(struct wt_table *table, const char *what, const struct wti_doc *a,
			const struct wti_doc *b)
{
	for (const struct wti_doc *it = a ? a->first : NULL; it; it = it->next)
		compare_key(table, what, a, b, it->key);
	for (const struct wti_doc *it = b ? b->first : NULL; it; it = it->next)
		if (!a || !wti_doc_get(a, it->key))
			compare_key(table, what, a, b, it->key);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool is_number(const char *word)
{
	return word[0] == '-' && (word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
}

static bool is_option(const struct wti_doc *word)
{
	return word && word->type == WTI_DOC_STRING && word->string.data[0] == '-' &&
	       word->string.data[1] && !is_number(word->string.data);
}

/* "--lr 0.1", "--lr=0.1", "--verbose", "train.py": what follows an option is taken for its value.
 */
static void read_arguments(const struct wti_doc *root, struct arguments *out)
{
	const struct wti_doc *command = root ? wti_doc_get(root, "command") : NULL;
	const struct wti_doc *word =
		command && command->type == WTI_DOC_ARRAY ? command->first : NULL;

	out->count = 0;
	for (; word && out->count < WORDS_MAX; word = word->next) {
		struct argument *it = &out->items[out->count++];
		size_t bytes;

		*it = (struct argument){.value = word->type == WTI_DOC_STRING ? word->string.data
									      : ""};
		if (!is_option(word))
			continue;
		bytes = strcspn(it->value, "=");
		*it = (struct argument){.name = it->value,
					.name_bytes = bytes,
					.value = it->value[bytes] ? it->value + bytes + 1 : NULL};
		if (!it->value && word->next && word->next->type == WTI_DOC_STRING &&
		    !is_option(word->next)) {
			word = word->next;
			it->value = word->string.data;
		}
	}
}

static bool same_name(const struct argument *a, const struct argument *b)
{
	return a->name && b->name && a->name_bytes == b->name_bytes &&
	       !memcmp(a->name, b->name, a->name_bytes);
}

/* The option of that name that is as many-th of its name, as `--tag x --tag y`; or the word that
 * stands at the same place among those without a name. NULL: there is none. */
static const struct argument *partner(const struct arguments *list, const struct arguments *mine,
				      size_t index)
{
	const struct argument *it = &mine->items[index];
	size_t before = 0;

	for (size_t i = 0; i < index; i++)
		before += it->name ? same_name(&mine->items[i], it) : !mine->items[i].name;
	for (size_t i = 0; i < list->count; i++) {
		const struct argument *other = &list->items[i];

		if ((it->name ? same_name(other, it) : !other->name) && !before--)
			return other;
	}
	return NULL;
}

static const char *shown(const struct argument *argument)
{
	return !argument ? NULL : argument->value ? argument->value : "(given)";
}

static void name_of(const struct argument *argument, char out[256])
{
	snprintf(out, 256, "%.*s", argument->name ? (int)(argument->name_bytes % 256) : 0,
		 argument->name ? argument->name : "");
}

static void compare_arguments(struct wt_table *table, const struct arguments *a,
			      const struct arguments *b)
{
	char name[256];

	for (size_t i = 0; i < a->count; i++) {
		name_of(&a->items[i], name);
		compare(table, i ? "argument" : "program", name, shown(&a->items[i]),
			shown(partner(b, a, i)));
	}
	for (size_t i = 0; i < b->count; i++) {
		name_of(&b->items[i], name);
		if (!partner(a, b, i))
			compare(table, "argument", name, NULL, shown(&b->items[i]));
	}
}

/* ---- Versions -------------------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The part of a path that is the same wherever an environment lies: below its packages. Elsewhere
 * the name alone, as systems keep the same library in different folders. */
static const char *library_name(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		const char *found = NULL;

		for (const char *next = path; (next = strstr(next, folders[i]));)
			found = next++;
		if (found)
			return found + strlen(folders[i]);
	}
	return base_of(path);
}

static const char *library_path(const struct wti_doc *library)
{
	return library->type == WTI_DOC_TABLE ? wti_doc_text(library, "path") : NULL;
}

static const struct wti_doc *library_at(const struct wti_doc *list, const char *path)
{
	for (const struct wti_doc *it = list ? list->first : NULL; it; it = it->next)
		if (library_path(it) && !strcmp(library_path(it), path))
			return it;
	return NULL;
}

/* The same file, or one of the same name that the other run does not have as well. */
static const struct wti_doc *library_of(const struct wti_doc *list, const struct wti_doc *others,
					const char *path)
{
	const struct wti_doc *same = library_at(list, path);

	for (const struct wti_doc *it = list && !same ? list->first : NULL; it; it = it->next)
		if (library_path(it) && !library_at(others, library_path(it)) &&
		    !strcmp(library_name(library_path(it)), library_name(path)))
			return it;
	return same;
}

/* Of libraries that both have loaded: which ones were other files. */
static void compare_libraries(struct wt_table *table, const struct wti_doc *a,
			      const struct wti_doc *b)
{
	const struct wti_doc *mine = a ? wti_doc_get(a, "loaded") : NULL;
	const struct wti_doc *list = b ? wti_doc_get(b, "loaded") : NULL;

	for (const struct wti_doc *it = mine ? mine->first : NULL; it; it = it->next) {
		const char *path = library_path(it);
		const char *build = path ? wti_doc_text(it, "build_id") : NULL;
		const struct wti_doc *other = build ? library_of(list, mine, path) : NULL;
		const char *theirs = other ? wti_doc_text(other, "build_id") : NULL;

		if (theirs && strcmp(build, theirs) != 0)
			compare(table, "library", library_name(path), build, theirs);
	}
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int compare_commands(struct wt_table *table, const struct wti_doc *a,
			    const struct wti_doc *b, struct wt_err *err)
{
	struct arguments *both = calloc(2, sizeof(*both)); /* too large for a stack */

	if (!both)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	read_arguments(a, &both[0]);
	read_arguments(b, &both[1]);
	compare_arguments(table, &both[0], &both[1]);
	free(both);
	return 0;
}

static void compare_rest(struct wt_table *table, const struct wti_doc *a, const struct wti_doc *b)
{
	compare_all(table, "environment", table_of(a, "environment"), table_of(b, "environment"));
	compare_all(table, "seed", table_of(a, "seeds"), table_of(b, "seeds"));
	compare_all(table, "git", table_of(a, "git"), table_of(b, "git"));
	compare_all(table, "executable", table_of(a, "executable"), table_of(b, "executable"));
	compare_libraries(table, a, b);
	compare_key(table, "folder", a, b, "directory");
	compare_all(table, "machine", table_of(a, "host"), table_of(b, "host"));
	compare_all(table, "recording", table_of(a, "config"), table_of(b, "config"));
}

/* ---- One of them ----------------------------------------------------------------------------- */

struct each {
	int (*take)(void *self, const char *what, const char *name, const char *value);
	void *self;
};

static int each_value(const struct each *each, const char *what, const struct wti_doc *table)
{
	char scratch[TEXT_BYTES];
	int r = 0;

	for (const struct wti_doc *it = table ? table->first : NULL; it && !r; it = it->next) {
		const char *text = text_of(it, scratch);

		r = text ? each->take(each->self, what, it->key, text) : 0;
	}
	return r;
}

static int each_argument(const struct each *each, const struct arguments *list)
{
	size_t unnamed = 0;
	int r = 0;

	for (size_t i = 0; i < list->count && !r; i++) {
		const struct argument *it = &list->items[i];
		char name[256], numbered[280];
		size_t before = 0;

		name_of(it, name);
		for (size_t j = 0; j < i; j++)
			before += same_name(&list->items[j], it);
		if (!it->name)
			snprintf(numbered, sizeof(numbered), "%zu", unnamed++);
		else if (before)
			snprintf(numbered, sizeof(numbered), "%s #%zu", name, before + 1);
		else
			snprintf(numbered, sizeof(numbered), "%s", name);
		r = each->take(each->self, i ? "argument" : "program", i ? numbered : "",
			       shown(it));
	}
	return r;
}

static int each_library(const struct each *each, const struct wti_doc *root)
{
	const struct wti_doc *list = wti_doc_get(root, "loaded");
	int r = 0;

	for (const struct wti_doc *it = list ? list->first : NULL; it && !r; it = it->next) {
		const char *path = library_path(it);
		const char *build = path ? wti_doc_text(it, "build_id") : NULL;

		r = build ? each->take(each->self, "library", library_name(path), build) : 0;
	}
	return r;
}

int wti_setup_each(const struct wti_doc *root,
		   int (*take)(void *self, const char *what, const char *name, const char *value),
		   void *self, struct wt_err *err)
{
	static const struct {
		const char *what, *key;
	} tables[] = {{"environment", "environment"}, {"seed", "seeds"},   {"git", "git"},
		      {"executable", "executable"},   {"machine", "host"}, {"recording", "config"}};
	const struct each each = {take, self};
	struct arguments *list = calloc(1, sizeof(*list)); /* too large for a stack */
	const char *directory = wti_doc_text(root, "directory");
	int r;

	if (!list)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	read_arguments(root, list);
	r = each_argument(&each, list);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !r; i++)
		r = each_value(&each, tables[i].what, table_of(root, tables[i].key));
	if (!r && directory)
		r = take(self, "folder", "directory", directory);
	free(list);
	return r ? r : each_library(&each, root);
}

/* ---- Two of them ----------------------------------------------------------------------------- */

int wti_diff_setup(const struct wti_run *a, const struct wti_run *b, struct wt_result *result,
		   struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "setup", "setup");
	struct wti_doc *mine = NULL, *other = NULL;
	int r = 0;

	wt_table_column(table, "change", "", WT_CELL_TEXT);
	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "a", "in A", WT_CELL_TEXT);
	wt_table_column(table, "b", "in B", WT_CELL_TEXT);
	if (!a->is_folder || !b->is_folder)
		return 0;
	r = wti_runjson_read(a->path, &mine, err);
	r = r ? r : wti_runjson_read(b->path, &other, err);
	/* A description that is damaged was noted when the run was opened. */
	if (!r && mine && other) {
		r = compare_commands(table, mine, other, err);
		compare_rest(table, mine, other);
	}
	wti_doc_free(mine);
	wti_doc_free(other);
	return r == WT_E_NOMEM ? r : 0;
}
