/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training of three hours should not end with the words that nothing was recorded. Which
 * interpreter a command line starts can often be seen; that one is asked, and what is missing is
 * built at once. Where it cannot be seen, as behind a shell, the recorder says it at the end.
 */
#include "agent.h"

#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "collect/interpreter.h"
#include "python_ask.h"
#include "cli/report.h"

#define SCRIPT "wheeltap/_ready.py"
#define NOT_RECORDED "the program's Python will not be recorded"

extern char **environ;

static int build(const char *interpreter, const char *home, const char *option, const char *what,
		 const char *version)
{
	const struct wti_python_script script = {.interpreter = interpreter,
						 .home = home,
						 .name = "wheeltap/_build.py",
						 .option = option,
						 .to_errors = true};
	struct wt_err err = {.offset = -1};
	int r;

	wti_warn("there is no %s for %s (%s) yet: building it, once, before the program starts",
		 what, version, interpreter);
	r = wti_python_script(&script, &err);
	if (r < 0)
		wti_warn("%s", err.message);
	return r;
}

static void build_agent(const struct wti_record_agent *agent, const char *interpreter,
			const char *home, const char *version)
{
	if (build(interpreter, home, agent->with_shim ? NULL : "--no-shim", "agent", version))
		wti_warn(NOT_RECORDED ": there is no agent for %s; the cause is above. Build it "
				      "with: wheeltap python add %s",
			 version, interpreter);
}

/* What it observes is missing in the trace, and the rest is recorded; the script says why. */
static void add_shim(const struct wti_record_agent *agent, const char *interpreter,
		     const char *home, const char *version)
{
	if (agent->build)
		build(interpreter, home, "--only-shim", "shim", version);
	else
		wti_warn("what %s runs below Python will not be recorded: its shim is not there; "
			 "build it with: wheeltap python add %s",
			 version, interpreter);
}

/* What _ready.py answers: a word, and behind it a version or a reason. */
static void judge(const struct wti_record_agent *agent, const char *interpreter, const char *home,
		  char *line)
{
	char *rest = line + strcspn(line, " ");

	line[strcspn(line, "\n")] = 0;
	if (*rest)
		*rest++ = 0;
	if (!strcmp(line, "refused"))
		wti_warn(NOT_RECORDED ": %s (%s)", rest, interpreter);
	else if (!strcmp(line, "missing") && agent->build)
		build_agent(agent, interpreter, home, rest);
	else if (!strcmp(line, "missing"))
		wti_warn(NOT_RECORDED
			 ": there is no agent for %s; build it with: wheeltap python add %s",
			 rest, interpreter);
	else if (!strcmp(line, "shimless"))
		add_shim(agent, interpreter, home, rest);
}

void wti_record_agent_prepare(const struct wti_record_agent *agent)
{
	char interpreter[PATH_MAX], home[PATH_MAX], script[PATH_MAX + sizeof(SCRIPT)], letter[3];
	const char *quick[] = {"-E", "-S", "-B", script, home, NULL};
	const char *with_torch[] = {"-B", script, home, "--shim", NULL};
	const char *shut = NULL;
	char line[WTI_ANSWER_BYTES];

	if (wti_python_of(agent->argv, environ, interpreter, NULL))
		return;
	if (!agent->plan->additions[0] || !wti_python_home(home)) {
		if (!agent->others_suffice)
			wti_warn(NOT_RECORDED ": there is no agent beside this program; %s",
				 wti_library_cure("install wheeltap again"));
		return;
	}
	if (wti_is_python(agent->argv[0]))
		shut = wti_python_shut((const char *const *)agent->argv, letter);
	if (shut && !agent->others_suffice)
		wti_warn(NOT_RECORDED ": %s keeps the agent out; start it without that option",
			 shut);
	if (shut)
		return;
	snprintf(script, sizeof(script), "%s/" SCRIPT, home);
	if (!wti_python_ask(interpreter, agent->with_shim ? with_torch : quick, line))
		judge(agent, interpreter, home, line);
}
