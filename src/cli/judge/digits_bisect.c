/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that were recorded are candidates. The program is run again with noise at the inputs
 * (mode pb) of some of them, and whether the digits are as few as with all decides. Perturbed
 * inputs show where errors are amplified; perturbed outputs would show where they come from.
 */
#include "digits_bisect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/text.h"
#include "inspect/digits/bisect.h"
#include "runs/digits_runs.h"
#include "runs/remove.h"
#include "runs/set.h"

#define SITES_MAX 512u
#define TESTS_MAX 200u
#define WORDS_MAX 4096u
#define SET_BYTES_MAX (1u << 20)
#define AS_FEW 2. /* bits: a set of lines that loses all but so many is enough */
#define RUNS_MIN 3u

struct search {
	const struct wti_bisection *bisection;
	struct wti_set set;
	struct wti_doc *json; /* set.json: the words of the command */
	char *sites[SITES_MAX];
	size_t site_count;
	char folder[PATH_MAX]; /* of the runs being made */
	char directory[PATH_MAX];
	double all; /* digits with noise at all of the lines */
	uint64_t tests;
};

/* ---- Running --------------------------------------------------------------------------------- */

/* "wheeltap record --runs 5 --noise pb --noise-only a.py:3,a.py:4 -o DIR -- python a.py" */
static size_t words_of(const struct search *search, char *only, char *runs, char **words)
{
	const struct wti_doc *command = wti_doc_get(search->json, "command");
	char *const fixed[] = {
		"wheeltap", "record", "--quiet",      "--force", "--runs", runs,
		"--noise",  "pb",     "--noise-only", only,      "-o",     (char *)search->folder,
		"--"};
	size_t count = sizeof(fixed) / sizeof(fixed[0]);

	memcpy(words, fixed, sizeof(fixed));
	for (const struct wti_doc *at = command ? command->first : NULL; at; at = at->next) {
		if (at->type == WTI_DOC_STRING && count < WORDS_MAX - 1)
			words[count++] = (char *)at->string.data;
	}
	words[count] = NULL;
	return count;
}

/* The program's output is not wanted again. */
static int run_words(const struct search *search, char **words, struct wt_err *err)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return wti_err(err, WT_E_IO, "cannot start a process: %s", strerror(errno));
	if (!child) {
		int null = open("/dev/null", O_RDWR);

		if (*search->directory && chdir(search->directory))
			_exit(127);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execv("/proc/self/exe", words);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return wti_err(err, WT_E_IO, "cannot wait: %s", strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return wti_err(err, WT_E_IO, "cannot run '%s' again", search->set.command);
	return 0;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static double named_digits(const struct wt_result *result, const char *name)
{
	double worst = NAN;

	for (size_t i = 0; i < result->table_count; i++) {
		const struct wt_table *table = result->tables[i];
		size_t out = 0;

		if (strcmp(table->key, "values"))
			continue;
		while (out < table->column_count && strcmp(table->columns[out].key, "digits_out"))
			out++;
		for (size_t row = 0; row < table->row_count && out < table->column_count; row++) {
			const struct wt_cell *cells = &table->cells[row * table->column_count];

			if (cells[0].type == WT_CELL_TEXT && !strcmp(cells[0].text, name) &&
			    cells[out].type == WT_CELL_NUMBER)
				worst = fmin(worst, cells[out].number);
		}
	}
	return worst;
}

/* Bits of the value that is watched; all of them where nothing varied. */
static int digits_in(const struct search *search, const char *word, struct wt_result *result,
		     double *ret_digits, struct wt_err *err)
{
	struct wti_digits_options how = *search->bisection->how;
	const char *value = search->bisection->value;
	char *words[] = {(char *)word};
	const struct wt_fact *worst;
	struct wti_digits_runs runs;
	int r = wti_digits_runs_open(search->bisection->front, words, 1, &runs, result, err);

	if (r)
		return r;
	how.base = 2;
	how.all_tables = true;
	how.rows_max = 0;
	how.has_noise = true;
	how.noise_bits = runs.noise_bits;
	how.tolerances = NULL;
	r = wti_digits(runs.runs, runs.count, &how, result, err);
	wti_digits_runs_close(&runs);
	worst = wt_result_fact(result, "worst_digits");
	*ret_digits = value ? named_digits(result, value) : worst ? worst->value.number : INFINITY;
	return r;
}

static int test(void *opaque, const bool *chosen, struct wt_err *err)
{
	struct search *search = opaque;
	char *words[WORDS_MAX], runs[24];
	struct wt_result result;
	struct wti_buf only;
	double digits = NAN;
	int r;

	wti_buf_init(&only, SET_BYTES_MAX);
	for (size_t i = 0; i < search->site_count; i++) {
		if (chosen[i])
			wti_buf_printf(&only, "%s%s", only.bytes ? "," : "", search->sites[i]);
	}
	snprintf(runs, sizeof(runs), "%zu",
		 search->set.run_count > RUNS_MIN ? search->set.run_count : RUNS_MIN);
	words_of(search, (char *)wti_buf_cstr(&only), runs, words);
	wt_result_init(&result, "digits");
	search->tests++;
	r = run_words(search, words, err);
	r = r ? r : digits_in(search, search->folder, &result, &digits, err);
	wt_result_release(&result);
	wti_buf_release(&only);
	if (isnan(search->all) && !r)
		search->all = digits;
	return r ? r : digits <= search->all + AS_FEW;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static void take_sites(struct search *search, const struct wt_result *result)
{
	for (size_t i = 0; i < result->table_count; i++) {
		const struct wt_table *table = result->tables[i];

		if (strcmp(table->key, "sites"))
			continue;
		for (size_t row = 0; row < table->row_count && search->site_count < SITES_MAX;
		     row++) {
			const struct wt_cell *cells = &table->cells[row * table->column_count];
			char *site;

			/* function, file, line; a comma would part the pattern */
			if (!cells[1].text_bytes || strchr(cells[1].text, ',') ||
			    asprintf(&site, "%s:%llu", cells[1].text,
				     (unsigned long long)cells[2].count) < 0)
				continue;
			search->sites[search->site_count++] = site;
		}
	}
}

static int read_set(struct search *search, struct wt_err *err)
{
	char path[PATH_MAX + 16];
	struct wti_run first;
	struct wti_buf text;
	int r = wti_set_find(search->bisection->front, search->bisection->word, &search->set, err);

	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/" WTI_SET_JSON, search->set.path);
	wti_buf_init(&text, SET_BYTES_MAX);
	r = wti_file_read(path, SET_BYTES_MAX, &text, err);
	r = r ? r : wti_json_parse(path, (const char *)text.data, text.bytes, &search->json, err);
	wti_buf_release(&text);
	snprintf(path, sizeof(path), "%s/01", search->set.path);
	if (!r && !wti_run_find_path(path, &first, NULL)) {
		snprintf(search->directory, sizeof(search->directory), "%s",
			 first.directory ? first.directory : "");
		wti_run_release(&first);
	}
	if (!r && snprintf(search->folder, sizeof(search->folder), "%s.bisect", search->set.path) >=
			  (int)sizeof(search->folder))
		r = wti_err(err, WT_E_LIMIT, "the path of the set is too long");
	return r;
}

static void release(struct search *search)
{
	for (size_t i = 0; i < search->site_count; i++)
		free(search->sites[i]);
	wti_doc_free(search->json);
	wti_set_release(&search->set);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void show(const struct search *search, const bool *chosen, int outcome,
		 struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "bisect", "Lines that lose the digits");

	wt_table_column(table, "site", "site", WT_CELL_TEXT);
	for (size_t i = 0; i < search->site_count; i++) {
		if (!chosen[i])
			continue;
		wt_table_row(table);
		wt_table_text(table, search->sites[i], strlen(search->sites[i]));
	}
	wt_result_fact_count(result, "bisect_tests", "program recorded again", WT_CELL_COUNT,
			     search->tests);
	wt_result_fact_number(result, "bisect_digits", "bits with noise at all lines",
			      WT_CELL_NUMBER, search->all);
	if (outcome > 0)
		wt_result_note(result, "stopped after %u tests: fewer lines may be enough",
			       TESTS_MAX);
}

static int bisect(struct search *search, struct wt_result *result, struct wt_err *err)
{
	bool chosen[SITES_MAX] = {false};
	struct wti_run made;
	int r;

	for (size_t i = 0; i < search->site_count; i++)
		chosen[i] = true;
	search->all = NAN;
	r = test(search, chosen, err); /* of all: what is to be reached */
	if (r >= 0 && isnan(search->all))
		return wti_err(err, WT_E_MISSING, "there is no value '%s' in the runs",
			       search->bisection->value ? search->bisection->value : "");
	r = r < 0 ? r : wti_bisect(search->site_count, test, search, TESTS_MAX, chosen, err);
	if (r >= 0)
		show(search, chosen, r, result);
	if (!wti_run_or_set_find(search->bisection->front, search->folder, &made, NULL)) {
		wti_run_remove(&made, false, NULL);
		wti_run_release(&made);
	}
	return r < 0 ? r : 0;
}

int wti_digits_bisect(const struct wti_bisection *bisection, struct wt_result *result,
		      struct wt_err *err)
{
	struct search search = {.bisection = bisection};
	struct wt_result first;
	double digits;
	int r = read_set(&search, err);

	wt_result_init(&first, "digits");
	r = r ? r : digits_in(&search, search.set.path, &first, &digits, err);
	if (!r) {
		take_sites(&search, &first);
		if (!search.site_count)
			r = wti_err(err, WT_E_MISSING,
				    "no line of the program was measured in '%s'", search.set.path);
	}
	if (!r && !bisection->is_allowed) {
		wt_result_note(
			result,
			"--bisect runs the program up to %u times, %zu times each, with noise at "
			"some of %zu lines: %s; --yes starts it",
			TESTS_MAX, search.set.run_count, search.site_count, search.set.command);
		r = 1;
	}
	r = r ? r : bisect(&search, result, err);
	wt_result_release(&first);
	release(&search);
	return r;
}
