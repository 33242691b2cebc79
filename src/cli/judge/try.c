/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb `try`: a training program that is silently wrong, and its right twin, recorded and
 * judged one after the other. The programs come with wheeltap; nothing but an interpreter with
 * torch is needed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/library.h"
#include "base/text.h"
#include "cli/report.h"
#include "cli/front.h"
#include "cli/record/python_ask.h"

#define HEAD_BYTES 4096u
#define TEXT_MAX (64u << 10)
#define NAMES_MAX 1024u

extern char **environ;

struct try_options {
	bool json;
	const char *python;
};

/* ---- The interpreter ------------------------------------------------------------------------- */

/*
 * The first that has torch of: the one beside the command that was typed, which is that of the
 * environment that pip installed it into; the first in the PATH; Debian's.
 */
static void choose_python(char out[PATH_MAX])
{
	const char *slash = strrchr(program_invocation_name, '/');
	char beside[PATH_MAX] = "";
	const char *const places[] = {beside, "python3", "/usr/bin/python3"};

	if (slash)
		snprintf(beside, sizeof(beside), "%.*s/python3",
			 (int)(slash - program_invocation_name), program_invocation_name);
	for (size_t i = slash ? 0 : 1; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(out, PATH_MAX, "%s", places[i]);
		if (wti_python_has(out, "torch"))
			return;
	}
}

/* ---- The programs --------------------------------------------------------------------------- */

/* Beside the program that runs: in a build, or as installed. */
static bool find_folder(char out[PATH_MAX], char self[PATH_MAX])
{
	static const char *const places[] = {"../corpus/faults", "../share/wheeltap/try"};
	ssize_t bytes = readlink("/proc/self/exe", self, PATH_MAX - 1);
	char *slash;

	if (bytes <= 0)
		return false;
	self[bytes] = 0;
	slash = strrchr(self, '/');
	for (size_t i = 0; slash && i < 2; i++)
		if (snprintf(out, PATH_MAX, "%.*s/%s", (int)(slash - self), self, places[i]) <
			    PATH_MAX &&
		    !access(out, R_OK | X_OK))
			return true;
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_names(const char *folder, char *names[NAMES_MAX])
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while (dir && count < NAMES_MAX && (entry = readdir(dir))) {
		size_t bytes = strlen(entry->d_name);

		if (bytes > 3 && !strcmp(entry->d_name + bytes - 3, ".py")) {
			names[count] = strndup(entry->d_name, bytes - 3);
			count += names[count] != NULL;
		}
	}
	if (dir)
		closedir(dir);
	if (count)
		qsort(names, count, sizeof(*names), by_text);
	return count;
}

/* What a program says of itself: the first line of the text in its first triple quotes. */
static void about(const char *folder, const char *name, struct wti_buf *out)
{
	char path[PATH_MAX + 300], head[HEAD_BYTES + 1];
	char *from, *to;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.py", folder, name);
	fd = wti_open_regular(path, NULL);
	if (fd < 0)
		return;
	bytes = wti_pread_all(fd, head, HEAD_BYTES, 0);
	close(fd);
	head[bytes > 0 ? bytes : 0] = 0;
	from = strstr(head, "\"\"\"");
	if (!from)
		return;
	from += 3;
	to = from + strcspn(from, "\n");
	*to = 0;
	to = strstr(from, "\"\"\"");
	wti_buf_append(out, from, to ? (size_t)(to - from) : strlen(from));
}

static int list(const char *folder, char *const *names, size_t count, bool json)
{
	struct wt_result result;
	struct wt_table *table;
	int code;

	wt_result_init(&result, "try");
	table = wt_result_table(&result, "programs", "");
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "about", "what it trains", WT_CELL_TEXT);
	for (size_t i = 0; i < count; i++) {
		struct wti_buf text;

		wti_buf_init(&text, HEAD_BYTES);
		about(folder, names[i], &text);
		wt_table_row(table);
		wt_table_text(table, names[i], strlen(names[i]));
		wt_table_text(table, wti_buf_cstr(&text), text.bytes);
		wti_buf_release(&text);
	}
	code = wti_report_result(&result, json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

/* ---- Running them --------------------------------------------------------------------------- */

/* The exit status, or -1. */
static int spawn(char *const words[])
{
	pid_t pid;
	int status;

	fflush(NULL);
	if (posix_spawn(&pid, words[0], NULL, NULL, words, environ))
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int judge_twin(char *self, char *python, char *program, const char *name, const char *twin,
		      struct wt_err *err)
{
	char run[PATH_MAX], word[16];
	char *record[] = {self, "record", "-q", "-o", run, "--", python, program, word, NULL};
	char *doctor[] = {self, "doctor", run, NULL};
	struct wti_buf text;
	int status;

	snprintf(run, sizeof(run), "%s/try-%s-%s-%d", wti_home(), name, twin, (int)getpid());
	snprintf(word, sizeof(word), "%s", twin);
	wti_buf_init(&text, TEXT_MAX);
	wti_textf(&text, "\nThe %s one:\n\n$ wheeltap record -- %s %s %s\n", twin, python, program,
		  twin);
	wti_print_lines(&text, wti_style_stdout().width);
	wti_buf_release(&text);
	status = spawn(record);
	if (status)
		return wti_err(err, WT_E_MISSING,
			       "the program could not be run (status %d): does '%s' have torch? "
			       "choose another with --python",
			       status, python);
	wti_print("\n$ wheeltap doctor\n", sizeof("\n$ wheeltap doctor\n") - 1);
	status = spawn(doctor);
	return status > WTI_EXIT_FINDINGS ? wti_err(err, WT_E_FORMAT, "the run could not be judged")
					  : 0;
}

static int try_one(const struct try_options *options, char *self, const char *folder,
		   const char *name, struct wt_err *err)
{
	char program[PATH_MAX + 300], python[PATH_MAX];
	struct wti_buf text;
	int r = wti_mkdirs(wti_home(), 0700, err);

	if (r)
		return r;
	snprintf(program, sizeof(program), "%s/%s.py", folder, name);
	if (options->python)
		snprintf(python, sizeof(python), "%s", options->python);
	else
		choose_python(python);
	wti_buf_init(&text, TEXT_MAX);
	about(folder, name, &text);
	wti_buf_text(&text,
		     "\nTwice: once with a fault that no error message shows, once without.\n");
	wti_print_lines(&text, wti_style_stdout().width);
	wti_buf_release(&text);
	r = judge_twin(self, python, program, name, "wrong", err);
	return r ? r : judge_twin(self, python, program, name, "right", err);
}

static int unknown(const char *word, char *const *names, size_t count, struct wt_err *err)
{
	const char *near = wti_suggest(word, (const char *const *)names, count);

	return wti_err(err, WT_E_ARG, "no program '%s'%s%s%s; `wheeltap try` lists them", word,
		       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool is_known(const char *word, char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], word))
			return true;
	return false;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct try_options *options = opaque;
	char folder[PATH_MAX], self[PATH_MAX];
	char *names[NAMES_MAX];
	struct wt_err err = {.offset = -1};
	size_t name_count;
	int code = WTI_EXIT_CLEAN, r = 0;

	if (!find_folder(folder, self)) {
		wti_err(&err, WT_E_MISSING,
			"the programs to try are not installed with this wheeltap; %s",
			wti_library_cure("install wheeltap again"));
		return wti_report_error("try", options->json, &err);
	}
	name_count = list_names(folder, names);
	if (!count)
		code = list(folder, names, name_count, options->json);
	else if (!is_known(arguments[0], names, name_count))
		r = unknown(arguments[0], names, name_count, &err);
	else
		r = try_one(options, self, folder, arguments[0], &err);
	for (size_t i = 0; i < name_count; i++)
		free(names[i]);
	return r ? wti_report_error("try", options->json, &err) : code;
}

static const struct wti_option options[] = {
	{"python", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "the interpreter that runs it; it needs torch. Default: the one of the "
	 "environment that wheeltap is installed in, the first in the PATH, or "
	 "/usr/bin/python3, whichever has torch",
	 offsetof(struct try_options, python)},
	WTI_OPTION_JSON(struct try_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_try = {
	.name = "try",
	.arguments = "[NAME]",
	.summary = "see how a silent error is found: bundled faulty and correct twins",
	.description = "Records and judges two small training programs that differ in one fault, "
		       "the faulty one first: its loss falls, and no message shows that anything "
		       "is wrong. Without a name it lists the programs. The runs are kept with "
		       "your other runs, for you to inspect.",
	.examples = "wheeltap try\tlist the programs\n"
		    "wheeltap try left_in_eval\ta model that stays in evaluation mode",
	.options = options,
	.options_bytes = sizeof(struct try_options),
	.arguments_max = 1,
	.starts_programs = true,
	.group = "judge",
	.run = run,
};
