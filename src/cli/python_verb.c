/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `python`: builds the Python agent for an interpreter, by that interpreter itself. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "python.h"
#include "report.h"

#define BUILDER "/wheeltap/_build.py"

struct python_options {
	bool json;
};

/* Its output is the user's to see. Returns its status, or a negative code. */
static int run_builder(const char *interpreter, const char *home, bool json, struct wt_err *err)
{
	char builder[PATH_MAX + sizeof(BUILDER)];
	int status;
	pid_t pid;

	snprintf(builder, sizeof(builder), "%s%s", home, BUILDER);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return wti_err_errno(err, "cannot start", interpreter);
	if (pid == 0) {
		if (json) /* standard output is for the object */
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp(interpreter, interpreter, "-I", builder, home, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return wti_err_errno(err, "cannot wait for", interpreter);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return wti_err(err, WT_E_MISSING,
			       "cannot run '%.200s'; give the path of an interpreter", interpreter);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void print_json(char **arguments, size_t count, size_t added)
{
	struct wti_buf out;
	struct wti_json json;

	wti_buf_init(&out, 1u << 20);
	wti_json_init(&json, &out, false);
	wti_json_object(&json);
	wti_json_key(&json, "verb");
	wti_json_text(&json, "python");
	wti_json_key(&json, "status");
	wti_json_text(&json, added + 1 == count ? "clean" : "not_measured");
	wti_json_key(&json, "added");
	wti_json_array(&json);
	for (size_t i = 1; i <= added; i++)
		wti_json_text(&json, arguments[i]);
	wti_json_array_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(&out, '\n');
	fwrite(out.data, 1, out.bytes, stdout);
	wti_buf_release(&out);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct python_options *options = opaque;
	char home[PATH_MAX];
	struct wt_err err = {0};
	size_t added = 0;
	int status = 0;

	if (strcmp(arguments[0], "add") != 0) {
		wti_err(&err, WT_E_ARG, "unknown word '%.64s'; say: wheeltap python add PYTHON",
			arguments[0]);
		return wti_report_error("python", options->json, &err);
	}
	if (!wti_python_home(home)) {
		wti_err(&err, WT_E_MISSING, "the Python agent is not installed with this wheeltap");
		return wti_report_error("python", options->json, &err);
	}
	while (added + 1 < count && status == 0) {
		status = run_builder(arguments[added + 1], home, options->json, &err);
		added += status == 0;
	}
	if (status < 0)
		return wti_report_error("python", options->json, &err);
	if (options->json)
		print_json(arguments, count, added);
	return status ? WTI_EXIT_ENVIRONMENT : 0;
}

static const struct wti_option options_of_python[] = {
	{"json", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print one JSON object; the rest goes to standard error",
	 offsetof(struct python_options, json)},
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_python = {
	.name = "python",
	.arguments = "add PYTHON...",
	.summary = "let other Python interpreters be recorded",
	.description =
		"The Python agent is an extension of the interpreter, and each version needs its "
		"own. `add` builds it, with the interpreter's own headers and a C compiler, and "
		"puts it where `record` finds it: beside wheeltap, or in the user's data folder. "
		"CPython 3.9 to 3.13.",
	.examples = "wheeltap python add ./venv/bin/python\tthe interpreter of an environment",
	.options = options_of_python,
	.options_bytes = sizeof(struct python_options),
	.arguments_min = 2,
	.arguments_max = 64,
	.group = "record",
	.run = run,
};
