/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the interpreter that would run the program: python/wheeltap/_plan.py imports the libraries,
 * lets the agent hook them, and answers in JSON. Nothing is recorded and nothing of the program's
 * runs.
 */
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wheeltap/result.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/library.h"
#include "collect/interpreter.h"
#include "cli/report.h"

#define ANSWER_BYTES_MAX (16u << 20)
#define SCRIPT "/wheeltap/_plan.py"

/* Understood by every Python, as the script itself is not. */
#define BEGINNING                                                                                  \
	"import sys\n"                                                                             \
	"if (3, 9) <= sys.version_info[:2] <= (3, 14):\n"                                          \
	"    import runpy\n"                                                                       \
	"    script = sys.argv[2]\n"                                                               \
	"    runpy.run_path(script, run_name='__main__')\n"                                        \
	"else:\n"                                                                                  \
	"    sys.stdout.write('{\"version\": \"%s\", \"problem\": \"it is not supported: '"        \
	"                     'CPython 3.9 to 3.14 are\"}' % sys.version.split()[0])\n"

extern char **environ;

/* ---- Asking ---------------------------------------------------------------------------------- */

struct question {
	char interpreter[PATH_MAX];
	char script[PATH_MAX + sizeof(SCRIPT)];
	char folder[64];        /* private, with the settings in it */
	char settings_file[96]; /* there */
	char *path;             /* PYTHONPATH=... as the program would get it */
};

static int leave_settings(struct question *question, const char *settings, struct wt_err *err)
{
	snprintf(question->folder, sizeof(question->folder), "/tmp/wheeltap-plan-XXXXXX");
	if (!mkdtemp(question->folder)) {
		question->folder[0] = 0;
		return wti_err_errno(err, "cannot make a folder in", "/tmp");
	}
	snprintf(question->settings_file, sizeof(question->settings_file), "%s/settings",
		 question->folder);
	return wti_file_replace(question->settings_file, settings, strlen(settings), err);
}

static void clear_settings(const struct question *question)
{
	if (!question->folder[0])
		return;
	unlink(question->settings_file);
	rmdir(question->folder);
}

/* The child: nothing of the answer's pipe but its end for writing is left open. */
static _Noreturn void become(const struct question *question, int answer)
{
	dup2(answer, STDOUT_FILENO);
	putenv(question->path);
	unsetenv("WHEELTAP_AGENT");
	execl(question->interpreter, question->interpreter, "-c", BEGINNING, question->folder,
	      question->script, (char *)NULL);
	_exit(127);
}

static int read_answer(int fd, struct wti_buf *out)
{
	for (;;) {
		uint8_t *room = wti_buf_reserve(out, 65536);
		ssize_t bytes = room ? read(fd, room, 65536) : -1;

		if (bytes < 0 && room && errno == EINTR)
			continue;
		if (bytes <= 0)
			return (int)bytes;
		wti_buf_added(out, (size_t)bytes);
	}
}

static int run(const struct question *question, struct wti_buf *answer, struct wt_err *err)
{
	int ends[2], status = 0, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return wti_err_errno(err, "cannot make a pipe for", question->interpreter);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(question, ends[1]);
	close(ends[1]);
	r = pid < 0 ? -1 : read_answer(ends[0], answer);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return wti_err_errno(err, "cannot start", question->interpreter);
	if (r || !WIFEXITED(status) || WEXITSTATUS(status))
		return wti_err(err, WT_E_IO,
			       "'%.200s' gave no answer (status %d); its output is above",
			       question->interpreter,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

static int ask(struct question *question, const struct wti_python_plan *plan,
	       struct wti_doc **ret_answer, struct wt_err *err)
{
	char home[PATH_MAX];
	struct wti_buf answer;
	int r;

	if (!wti_python_home(home) || !plan->additions[0])
		return wti_err(err, WT_E_IO,
			       "the Python agent is not installed with this wheeltap; %s",
			       wti_library_cure("install wheeltap again"));
	snprintf(question->script, sizeof(question->script), "%s" SCRIPT, home);
	question->path = plan->additions[0];
	r = leave_settings(question, plan->settings, err);
	if (r)
		return r;
	wti_buf_init(&answer, ANSWER_BYTES_MAX);
	r = run(question, &answer, err);
	if (!r)
		r = wti_json_parse("the answer of the interpreter", (char *)answer.data,
				   answer.bytes, ret_answer, err);
	wti_buf_release(&answer);
	return r;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static const char *text_of(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	return value && value->type == WTI_DOC_STRING ? value->string.data : "";
}

static uint64_t count_of(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	return value && value->type == WTI_DOC_INT && value->integer > 0 ? (uint64_t)value->integer
									 : 0;
}

static const struct wti_doc *rows_of(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	return value && value->type == WTI_DOC_ARRAY ? value->first : NULL;
}

static void cell(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

static void show_libraries(struct wt_result *result, const struct wti_doc *answer)
{
	struct wt_table *table = wt_result_table(result, "libraries", "libraries");

	wt_table_column(table, "name", "library", WT_CELL_TEXT);
	wt_table_column(table, "version", "version", WT_CELL_TEXT);
	wt_table_column(table, "problem", "problem", WT_CELL_TEXT);
	for (const struct wti_doc *row = rows_of(answer, "libraries"); row; row = row->next) {
		wt_table_row(table);
		cell(table, text_of(row, "name"));
		cell(table, text_of(row, "version"));
		cell(table, text_of(row, "problem"));
	}
}

static void join_actions(struct wti_buf *out, const struct wti_doc *row)
{
	for (const struct wti_doc *name = rows_of(row, "actions"); name; name = name->next) {
		if (name->type == WTI_DOC_STRING)
			wti_buf_printf(out, "%s%s", out->bytes ? ", " : "", name->string.data);
	}
}

/* How many callables there are altogether. */
static uint64_t show_modules(struct wt_result *result, const struct wti_doc *answer)
{
	struct wt_table *table = wt_result_table(result, "modules", "what would be hooked");
	struct wti_buf actions;
	uint64_t whole = 0;

	wti_buf_init(&actions, 1u << 20);
	wt_table_column(table, "name", "module", WT_CELL_TEXT);
	wt_table_column(table, "c", "in C", WT_CELL_COUNT);
	wt_table_column(table, "python", "in Python", WT_CELL_COUNT);
	wt_table_column(table, "actions", "record more than the call", WT_CELL_TEXT);
	for (const struct wti_doc *row = rows_of(answer, "modules"); row; row = row->next) {
		wti_buf_clear(&actions);
		join_actions(&actions, row);
		wt_table_row(table);
		cell(table, text_of(row, "name"));
		wt_table_count(table, count_of(row, "c"));
		wt_table_count(table, count_of(row, "python"));
		cell(table, wti_buf_cstr(&actions));
		whole += count_of(row, "c") + count_of(row, "python");
	}
	wti_buf_release(&actions);
	return whole;
}

static void show_left(struct wt_result *result, const struct wti_doc *answer)
{
	struct wt_table *table;

	if (!rows_of(answer, "left"))
		return;
	table = wt_result_table(result, "left", "what cannot be hooked");
	wt_table_column(table, "module", "module", WT_CELL_TEXT);
	wt_table_column(table, "count", "callables", WT_CELL_COUNT);
	wt_table_column(table, "why", "why", WT_CELL_TEXT);
	for (const struct wti_doc *row = rows_of(answer, "left"); row; row = row->next) {
		wt_table_row(table);
		cell(table, text_of(row, "module"));
		wt_table_count(table, count_of(row, "count"));
		cell(table, text_of(row, "why"));
	}
}

static int show(const struct wti_doc *answer, const char *interpreter, const char *problem,
		bool json)
{
	struct wt_result result;
	uint64_t whole = 0;
	int code;

	wt_result_init(&result, "record");
	wt_result_fact_text(&result, "interpreter", "interpreter", interpreter);
	wt_result_fact_text(&result, "version", "version", text_of(answer, "version"));
	if (!problem[0]) {
		wt_result_fact_text(&result, "detail", "detail", text_of(answer, "detail"));
		show_libraries(&result, answer);
		whole = show_modules(&result, answer);
		show_left(&result, answer);
	}
	wt_result_fact_count(&result, "callables", "callables", WT_CELL_COUNT, whole);
	wt_result_set_status(&result, problem[0] || !whole ? "not_measured" : "clean");
	if (problem[0])
		wt_result_note(&result, "no Python would be recorded: %s", problem);
	else if (!whole)
		wt_result_note(&result, "nothing would be hooked; see --modules, --only, --skip "
					"and --detail");
	code = problem[0] || !whole ? WTI_EXIT_TRACE : WTI_EXIT_CLEAN;
	code = wti_report_result(&result, json, code);
	wt_result_release(&result);
	return code;
}

int wti_record_plan(char *const *argv, const struct wti_python_plan *plan, bool json)
{
	struct question question = {.path = NULL};
	struct wti_doc *answer = NULL;
	struct wt_err err = {.offset = -1};
	const char *shut = NULL, *problem;
	char letter[3], why[160];
	int r = wti_python_of(argv, environ, question.interpreter, &err);

	if (!r)
		r = ask(&question, plan, &answer, &err);
	clear_settings(&question);
	if (r) {
		if (r == WT_E_FORMAT || r == WT_E_MISSING)
			err.code = WT_E_ARG;
		wti_report_error("record", json, &err);
		return WTI_EXIT_NOT_RUN;
	}
	if (wti_is_python(argv[0]))
		shut = wti_python_shut((const char *const *)argv, letter);
	snprintf(why, sizeof(why),
		 "%s keeps the agent out; start the interpreter without that option",
		 shut ? shut : "");
	problem = shut ? why : text_of(answer, "problem");
	r = show(answer, question.interpreter, problem, json);
	wti_doc_free(answer);
	return r;
}
