/* SPDX-License-Identifier: Apache-2.0 */
/* The command of a run, read again and looked at: see rerun.h. */
#include "rerun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "runjson.h"

#define WORDS_MAX 65536u
#define LINE_MAX_BYTES (16u << 20)
#define MASK "***" /* of what was taken for a secret */

struct words {
	char **all;
	size_t count, capacity;
};

static int add_word(struct words *words, const char *text)
{
	char *copy = strdup(text);
	int r = copy ? wti_grow_zeroed(&words->all, words->count + 2, &words->capacity, WORDS_MAX)
		     : WT_E_NOMEM;

	if (r) {
		free(copy);
		return r;
	}
	words->all[words->count++] = copy;
	return 0;
}

static int take_words(const struct wti_doc *list, char ***ret_words)
{
	struct words words = {0};
	int r = wti_grow_zeroed(&words.all, 1, &words.capacity, WORDS_MAX);

	for (const struct wti_doc *at = list ? list->first : NULL; at && !r; at = at->next)
		if (at->type == WTI_DOC_STRING)
			r = add_word(&words, at->string.data);
	*ret_words = words.all;
	return r;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* ---- How it was recorded --------------------------------------------------------------------- */

/* Options of `record` that say what is recorded; others run commands, write or remove files. */
static bool is_about_recording(const char *word)
{
	static const char *const names[] = {
		"arguments", "blobs-max", "budget",     "detail",     "elements",  "max-size",
		"modules",   "noise",     "noise-libm", "noise-only", "noise-run", "noise-skip",
		"on-full",   "only",      "opencl",     "operators",  "ring-size", "sample",
		"seed",      "skip",      "strings",    "tensors"};
	size_t bytes = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (bytes == strlen(names[i]) && !memcmp(word + 2, names[i], bytes))
			return true;
	return false;
}

static int take_options(const struct wti_doc *list, char ***ret_options)
{
	struct words words = {0};
	int r = wti_grow_zeroed(&words.all, 1, &words.capacity, WORDS_MAX);

	for (const struct wti_doc *at = list ? list->first : NULL; at && !r; at = at->next)
		if (at->type == WTI_DOC_STRING && is_about_recording(at->string.data))
			r = add_word(&words, at->string.data);
	*ret_options = words.all;
	return r;
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* What somebody else wrote in their place has no names. */
static const struct wti_doc *variables_of(const struct wti_doc *json)
{
	const struct wti_doc *table = wti_doc_get(json, "environment");

	return table && table->type == WTI_DOC_TABLE ? table : NULL;
}

static const char *value_of(char *const *environment, const char *name)
{
	size_t bytes = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, bytes) && (*environment)[bytes] == '=')
			return *environment + bytes + 1;
	return NULL;
}

static int take_variables(const struct wti_doc *recorded, char *const *environment,
			  bool (*allows)(const char *name, size_t bytes), char ***ret_variables)
{
	struct words words = {0};
	int r = wti_grow_zeroed(&words.all, 1, &words.capacity, WORDS_MAX);

	for (const struct wti_doc *at = recorded ? recorded->first : NULL; at && !r;
	     at = at->next) {
		const char *now = value_of(environment, at->key);
		char *text = NULL;

		if (at->type != WTI_DOC_STRING || !allows(at->key, strlen(at->key)) ||
		    strstr(at->string.data, MASK) || (now && !strcmp(now, at->string.data)))
			continue;
		if (asprintf(&text, "%s=%s", at->key, at->string.data) < 0)
			text = NULL;
		r = text ? add_word(&words, text) : WT_E_NOMEM;
		free(text);
	}
	*ret_variables = words.all;
	return r;
}

/* Those that are set now and were not then change how it computes. */
static void note_new_variables(const struct wti_doc *recorded, char *const *environment,
			       bool (*allows)(const char *name, size_t bytes),
			       struct wt_result *result)
{
	for (; recorded && *environment; environment++) {
		size_t bytes = strcspn(*environment, "=");
		char name[256];

		if (bytes >= sizeof(name) || !allows(*environment, bytes))
			continue;
		memcpy(name, *environment, bytes);
		name[bytes] = 0;
		if (!wti_doc_get(recorded, name))
			wt_result_note(result, "%s is set now and was not set in the run", name);
	}
}

/* ---- What is missing ------------------------------------------------------------------------- */

static bool is_there(const char *folder, const char *name, int mode)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : folder,
		     *name == '/' ? "" : "/", name) >= (int)sizeof(path))
		return false;
	/* An interpreter runs folders, too; the kernel does not. */
	return !access(path, mode) && (mode != X_OK || (!stat(path, &st) && S_ISREG(st.st_mode)));
}

static bool is_in_path(const char *program, const char *path)
{
	while (path && *path) {
		size_t bytes = strcspn(path, ":");
		char folder[PATH_MAX];

		if (bytes && bytes < sizeof(folder)) {
			memcpy(folder, path, bytes);
			folder[bytes] = 0;
			if (is_there(folder, program, X_OK))
				return true;
		}
		path += bytes + (path[bytes] == ':');
	}
	return false;
}

/* python, python3, python3.13: what else begins so is another program. */
static bool is_python(const char *program)
{
	const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;

	return !strncmp(base, "python", 6) && !base[6 + strspn(base + 6, "0123456789.")];
}

enum source { SOURCE_OTHER, SOURCE_INPUT, SOURCE_SCRIPT };

/* Options that stand in one word after its dash. Their value is the rest of it or the next word. */
static enum source read_letters(const char *letters, bool *ret_has_value)
{
	size_t plain = strcspn(letters, "mcXWVh?");

	*ret_has_value = letters[plain] && strchr("XW", letters[plain]) && !letters[plain + 1];
	return letters[plain] && strchr("mcVh?", letters[plain]) ? SOURCE_OTHER : SOURCE_INPUT;
}

/* Where an interpreter takes its program from: without script, module or code from its input. */
static enum source source_of(char *const *command, const char **ret_script)
{
	bool has_options = true, has_value;

	if (!is_python(command[0]))
		return SOURCE_OTHER;
	for (size_t i = 1; command[i]; i++) {
		const char *word = command[i];

		if (!strcmp(word, "-"))
			return SOURCE_INPUT;
		if (!has_options || *word != '-') {
			*ret_script = word;
			return SOURCE_SCRIPT;
		}
		if (!strcmp(word, "--"))
			has_options = has_value = false;
		else if (!strcmp(word, "--check-hash-based-pycs"))
			has_value = true;
		else if (word[1] == '-' || read_letters(word + 1, &has_value) == SOURCE_OTHER)
			return SOURCE_OTHER; /* or it prints help, or its version */
		i += has_value && command[i + 1];
	}
	return SOURCE_INPUT;
}

static int refuse_unkept(char *const *command, struct wt_err *err)
{
	const char *script = NULL;

	if (source_of(command, &script) != SOURCE_INPUT)
		return 0;
	return wti_err(err, WT_E_MISSING,
		       "'%s' read its program from standard input, which is not recorded: save "
		       "the program in a file, record that twice, and compare with `wheeltap diff "
		       "--tensors`",
		       command[0]);
}

static int refuse_masked(char *const *words, struct wt_err *err)
{
	for (size_t i = 0; words[i]; i++)
		if (strstr(words[i], MASK))
			return wti_err(err, WT_E_MISSING,
				       "the command has the masked word '%s', so it cannot be run "
				       "again: record the program and compare with `wheeltap diff "
				       "--tensors`",
				       words[i]);
	return 0;
}

static int find_missing(const struct wti_rerun_plan *plan, char *const *environment,
			struct wt_err *err)
{
	const char *directory = plan->run.directory, *program = plan->command[0];
	const char *script = NULL;
	struct stat st;

	source_of(plan->command, &script);
	if (!directory)
		return wti_err(err, WT_E_MISSING, "the folder in which '%s' ran was not recorded",
			       plan->run.name);
	if (stat(directory, &st) || !S_ISDIR(st.st_mode))
		return wti_err(err, WT_E_MISSING,
			       "the folder '%s' in which the program ran is missing", directory);
	if (strchr(program, '/') ? !is_there(directory, program, X_OK)
				 : !is_in_path(program, value_of(environment, "PATH")))
		return wti_err(err, WT_E_MISSING,
			       "the program '%s' is missing, or cannot be executed", program);
	if (script && !is_there(directory, script, R_OK))
		return wti_err(err, WT_E_MISSING, "the script '%s' is missing in '%s'", script,
			       directory);
	return 0;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static int make_line(struct wti_rerun_plan *plan)
{
	struct wti_buf out;
	int r;

	wti_buf_init(&out, LINE_MAX_BYTES);
	for (size_t i = 0; plan->variables[i]; i++) {
		wti_runjson_word(&out, plan->variables[i]);
		wti_buf_byte(&out, ' ');
	}
	for (size_t i = 0; plan->command[i]; i++) {
		wti_buf_text(&out, i ? " " : "");
		wti_runjson_word(&out, plan->command[i]);
	}
	r = wti_buf_status(&out);
	plan->line = r ? NULL : strdup(wti_buf_cstr(&out));
	wti_buf_release(&out);
	return plan->line ? 0 : WT_E_NOMEM;
}

static int read_plan(struct wti_rerun_plan *plan, char *const *environment,
		     bool (*allows)(const char *name, size_t bytes), struct wt_err *err)
{
	const struct wti_doc *config = wti_doc_get(plan->json, "config");
	int r = take_words(wti_doc_get(plan->json, "command"), &plan->command);

	r = r ? r : take_options(config ? wti_doc_get(config, "options") : NULL, &plan->options);
	r = r ? r : take_variables(variables_of(plan->json), environment, allows, &plan->variables);
	if (r == WT_E_LIMIT)
		return wti_err(err, r, "'%s' has more than %u words in its command or options",
			       plan->run.name, WORDS_MAX);
	if (r)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (!plan->command[0])
		return wti_err(err, WT_E_MISSING, "the command of '%s' was not recorded",
			       plan->run.name);
	r = refuse_masked(plan->command, err);
	r = r ? r : refuse_masked(plan->options, err);
	r = r ? r : refuse_unkept(plan->command, err);
	r = r ? r : find_missing(plan, environment, err);
	return !r && make_line(plan) ? wti_err(err, WT_E_NOMEM, "out of memory") : r;
}

int wti_rerun_plan(const struct wti_front *front, const char *word, char *const *environment,
		   bool (*allows)(const char *name, size_t bytes), struct wti_rerun_plan *ret_plan,
		   struct wt_result *result, struct wt_err *err)
{
	struct wti_rerun_plan plan = {.json = NULL};
	int r = wti_run_find(front, word, &plan.run, err);

	if (r)
		return r;
	r = wti_runjson_read(plan.run.path, &plan.json, err);
	if (!r && !plan.json)
		r = wti_err(err, WT_E_MISSING,
			    "'%s' has no run.json with the command: it cannot be run again",
			    plan.run.name);
	r = r ? r : read_plan(&plan, environment, allows, err);
	if (r) {
		wti_rerun_plan_release(&plan);
		return r;
	}
	note_new_variables(variables_of(plan.json), environment, allows, result);
	*ret_plan = plan;
	return 0;
}

void wti_rerun_plan_release(struct wti_rerun_plan *plan)
{
	free_words(plan->command);
	free_words(plan->options);
	free_words(plan->variables);
	free(plan->line);
	wti_doc_free(plan->json);
	wti_run_release(&plan->run);
	*plan = (struct wti_rerun_plan){.json = NULL};
}

/* ---- Grades ---------------------------------------------------------------------------------- */

const char *wti_grade_name(enum wti_grade grade)
{
	static const char *const names[] = {"R0", "R1", "R2", "R3", "R4"};

	return names[grade];
}

const char *wti_grade_words(enum wti_grade grade)
{
	static const char *const words[] = {
		"recorded only",
		"bit-identical when run again on the same machine with the same interpreter",
		"bit-identical when run again on another machine",
		"within the tolerances when run again",
		"in bits it differs; the metric lies where those of such runs lie",
	};

	return words[grade];
}

static bool same_text(const struct wti_doc *a, const struct wti_doc *b, const char *table,
		      const char *key)
{
	const struct wti_doc *in_a = wti_doc_get(a, table), *in_b = wti_doc_get(b, table);
	const char *x = in_a && in_a->type == WTI_DOC_TABLE ? wti_doc_text(in_a, key) : NULL;
	const char *y = in_b && in_b->type == WTI_DOC_TABLE ? wti_doc_text(in_b, key) : NULL;

	return x && y ? !strcmp(x, y) : x == y;
}

enum wti_grade wti_grade_identical(const char *a, const char *b)
{
	struct wti_doc *in_a = NULL, *in_b = NULL;
	bool is_same = !wti_runjson_read(a, &in_a, NULL) && !wti_runjson_read(b, &in_b, NULL) &&
		       in_a && in_b && same_text(in_a, in_b, "host", "name") &&
		       same_text(in_a, in_b, "host", "cpu") &&
		       same_text(in_a, in_b, "executable", "path") &&
		       same_text(in_a, in_b, "executable", "build_id");

	wti_doc_free(in_a);
	wti_doc_free(in_b);
	return is_same ? WTI_GRADE_R1 : WTI_GRADE_R2;
}
