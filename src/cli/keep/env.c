/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `env`: what works here, and what to do about the rest. */
#include <string.h>

#include "probe.h"
#include "cli/report.h"
#include "inspect/core/cells.h"

struct env_options {
	bool json;
};

struct rows {
	struct wt_result *result;
	struct wt_table *table;
	struct wt_table *cures;
	bool unusable;
	size_t interpreter_count; /* that can be used */
};

static void add_row(struct rows *rows, const char *group, const char *name, const char *state,
		    const char *detail, const char *cure)
{
	wt_table_row(rows->table);
	wti_table_word(rows->table, group);
	wti_table_word(rows->table, name);
	wti_table_word(rows->table, state);
	wti_table_word(rows->table, detail);
	if (!cure)
		return;
	wt_table_row(rows->cures);
	wti_table_word(rows->cures, name);
	wti_table_word(rows->cures, cure);
}

static const char *const states[] = {"ok", "limited", "missing"};

static void look(struct rows *rows, const struct wti_probe *probes)
{
	for (; probes->name; probes++) {
		struct wti_probed probed = {0};

		probes->look(&probed);
		add_row(rows, probes->group, probes->name, states[probed.state], probed.detail,
			probed.cure);
		rows->unusable |= probes->required && probed.state == WTI_PROBE_MISSING;
	}
}

static void found(void *cookie, const char *name, const struct wti_probed *probed)
{
	struct rows *rows = cookie;

	add_row(rows, "interpreter", name, states[probed->state], probed->detail, probed->cure);
	rows->interpreter_count += probed->state == WTI_PROBE_OK;
}

static void found_agent(void *cookie, const char *name, const struct wti_probed *probed)
{
	add_row(cookie, "agent", name, states[probed->state], probed->detail, probed->cure);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct env_options *options = opaque;
	struct wt_result result;
	struct rows rows = {.result = &result};
	int code;

	wt_result_init(&result, "env");
	rows.table = wt_result_table(&result, "features", "");
	wt_table_column(rows.table, "group", "group", WT_CELL_TEXT);
	wt_table_column(rows.table, "name", "what", WT_CELL_TEXT);
	wt_table_column(rows.table, "state", "state", WT_CELL_TEXT);
	wt_table_column(rows.table, "detail", "detail", WT_CELL_TEXT);
	rows.cures = wt_result_table(&result, "cures", "what to do");
	wt_table_column(rows.cures, "name", "what", WT_CELL_TEXT);
	wt_table_column(rows.cures, "cure", "cure", WT_CELL_TEXT);
	look(&rows, wti_probes_kernel);
	look(&rows, wti_probes_permission);
	look(&rows, wti_probes_library);
	wti_probe_interpreters(found, &rows);
	wti_probe_agents(found_agent, &rows);
	if (!rows.interpreter_count)
		add_row(&rows, "interpreter", "python", "missing",
			"no supported interpreter in the PATH", "apt install python3");
	wt_result_set_status(&result, rows.unusable ? "unusable" : "clean");
	code = wti_report_result(&result, options->json,
				 rows.unusable ? WTI_EXIT_ENVIRONMENT : WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	WTI_OPTION_JSON(struct env_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_env = {
	.name = "env",
	.arguments = "",
	.summary = "show what works on this machine and how to fix the rest",
	.description =
		"Looks at the kernel, at permissions and libraries, and runs each Python "
		"interpreter in the PATH to ask for its version. For a script that starts "
		"an interpreter, the interpreter is listed. Agents that were built for other "
		"interpreters are listed with the folder of the interpreter, also where it "
		"is not in the PATH, such as that of a virtual environment. For whatever is "
		"limited or "
		"missing, one line shows how to fix it. The exit status is 4 only if "
		"nothing can be recorded at all.",
	.options = options,
	.options_bytes = sizeof(struct env_options),
	.starts_programs = true,
	.group = "keep",
	.run = run,
};
