/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb `python`: what interpreters need of wheeltap. Each is served by itself: a file of the
 * package is run by the interpreter that it is for.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/library.h"
#include "python.h"
#include "python_ask.h"
#include "cli/report.h"

static const struct word {
	const char *name;
	const char *script; /* NULL: nothing is run, the folder of the package is printed */
	const char *did;
} words[] = {
	{"add", "wheeltap/_build.py", "added"},
	{"link", "wheeltap/_link.py", "linked"},
	{"path", NULL, "path"},
};

struct python_options {
	bool json;
};

/* Anything can be run, and some programs take all that we say for names of files. */
static int check_python(const char *interpreter, struct wt_err *err)
{
	struct wti_python_version version;
	int r = wti_python_ask_version(interpreter, &version);

	if (!r)
		return 0;
	if (r == ENOENT || r == EACCES || r == ENOTDIR)
		return wti_err(err, WT_E_MISSING,
			       "cannot run '%.200s': %s; give the path of an interpreter",
			       interpreter, strerror(r));
	if (r == ETIMEDOUT)
		return wti_err(err, WT_E_ARG,
			       "'%.200s' did not report its Python version within %d s; give the "
			       "path of an interpreter, such as ./venv/bin/python",
			       interpreter, WTI_ANSWER_PATIENCE_S);
	return wti_err(err, WT_E_ARG,
		       "'%.200s' is not a Python interpreter; give the path of one, such as "
		       "./venv/bin/python",
		       interpreter);
}

static int run_script(const char *interpreter, const char *home, const char *name, bool json,
		      struct wt_err *err)
{
	const struct wti_python_script script = {
		.interpreter = interpreter, .home = home, .name = name, .to_errors = json};
	int r = check_python(interpreter, err);

	return r ? r : wti_python_script(&script, err);
}

static const struct word *find_word(const char *name, size_t count, struct wt_err *err)
{
	const struct word *word = words;

	while (word < words + sizeof(words) / sizeof(words[0]) && strcmp(word->name, name) != 0)
		word++;
	if (word == words + sizeof(words) / sizeof(words[0])) {
		wti_err(err, WT_E_ARG, "unknown action '%.64s'; use add, link or path", name);
		return NULL;
	}
	if ((count > 1) != (word->script != NULL)) {
		wti_err(err, WT_E_ARG, "'%s' %s; use: wheeltap python %s%s", name,
			word->script ? "needs an interpreter" : "takes no more arguments", name,
			word->script ? " PYTHON" : "");
		return NULL;
	}
	return word;
}

/* `done` of the interpreters were served; where there are none, the folder is the answer. */
static bool print_json(const struct word *word, const char *home, char **interpreters, size_t count,
		       size_t done)
{
	struct wti_buf out;
	struct wti_json json;
	bool ok;

	wti_buf_init(&out, 1u << 20);
	wti_json_init(&json, &out, false);
	wti_json_object(&json);
	wti_json_key(&json, "verb");
	wti_json_text(&json, "python");
	wti_json_key(&json, "status");
	wti_json_text(&json, done == count ? "clean" : "not_measured");
	wti_json_key(&json, word->did);
	if (word->script)
		wti_json_array(&json);
	else
		wti_json_text(&json, home);
	for (size_t i = 0; i < done; i++)
		wti_json_text(&json, interpreters[i]);
	if (word->script)
		wti_json_array_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(&out, '\n');
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok;
}

static int print_path(const char *home)
{
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, PATH_MAX + 2);
	wti_buf_printf(&out, "%s\n", home);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? 0 : WTI_EXIT_ENVIRONMENT;
}

static int serve(const struct word *word, const char *home, char **interpreters, size_t count,
		 bool json)
{
	struct wt_err err = {0};
	size_t done = 0;
	int status = 0;

	while (done < count && status == 0) {
		status = run_script(interpreters[done], home, word->script, json, &err);
		done += status == 0;
	}
	if (status < 0)
		return wti_report_error("python", json, &err);
	if (json && !print_json(word, home, interpreters, count, done))
		return WTI_EXIT_ENVIRONMENT;
	return status ? WTI_EXIT_ENVIRONMENT : 0;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct python_options *options = opaque;
	struct wt_err err = {0};
	const struct word *word = find_word(arguments[0], count, &err);
	char home[PATH_MAX];

	if (!word)
		return wti_report_error("python", options->json, &err);
	if (!wti_python_home(home)) {
		wti_err(&err, WT_E_MISSING,
			"the Python agent is not installed with this wheeltap; %s",
			wti_library_cure("install wheeltap again"));
		return wti_report_error("python", options->json, &err);
	}
	if (word->script)
		return serve(word, home, arguments + 1, count - 1, options->json);
	if (options->json)
		return print_json(word, home, NULL, 0, 0) ? 0 : WTI_EXIT_ENVIRONMENT;
	return print_path(home);
}

static const struct wti_option options_of_python[] = {
	{"json", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print one JSON object; the rest goes to standard error",
	 offsetof(struct python_options, json)},
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_python = {
	.name = "python",
	.arguments = "add|link|path [PYTHON...]",
	.summary = "prepare other Python interpreters for recording and for import wheeltap",
	.description = "The Python agent is an extension of the interpreter, and each version "
		       "needs its own. `add` builds it, with the interpreter's own headers and a C "
		       "compiler, and puts it where `record` finds it: beside wheeltap, or in the "
		       "user's data folder. If a C++ compiler and torch are found, it also builds "
		       "the library that observes torch below Python, which takes minutes. "
		       "`record` builds a missing agent automatically. CPython 3.9 to 3.14. In a "
		       "recorded program `import wheeltap` always works; `link` makes it work in "
		       "the interpreter at any time, by one file (wheeltap.pth) in its "
		       "site-packages, and `path` prints the folder to add to PYTHONPATH.",
	.examples = "wheeltap python add ./venv/bin/python\tthe interpreter of an environment\n"
		    "wheeltap python link ./venv/bin/python\tread runs and annotate programs there",
	.options = options_of_python,
	.options_bytes = sizeof(struct python_options),
	.arguments_min = 1,
	.arguments_max = 64,
	.starts_programs = true,
	.group = "record",
	.run = run,
};
