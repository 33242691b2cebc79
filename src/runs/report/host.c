/* SPDX-License-Identifier: Apache-2.0 */
/* Where it ran, and with which versions of what. */
#include <string.h>

#include "section.h"
#include "show/report/report.h"

/* What agents emit as a setting, and what that is called here. */
static const struct {
	const char *key, *title, *how;
} versions[] = {
	{"python_version", "Python", "record a Python program with this version of wheeltap"},
	{"torch_version", "torch", "the program imports torch while it is recorded"},
	{"numpy_version", "numpy", "the program imports numpy while it is recorded"},
};

static void add_versions(const struct wti_report_source *source, struct wt_result *result)
{
	const struct wt_table *agent = wti_report_table(&source->contents, "agent");

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		const char *found = NULL;

		for (size_t row = 0; agent && row < agent->row_count; row++) {
			const char *key = wti_report_cell_text(agent, row, "key");

			if (key && !strcmp(key, versions[i].key))
				found = wti_report_cell_text(agent, row, "value");
		}
		wt_result_fact_text(result, versions[i].key, versions[i].title, found);
		if (!found)
			wti_not_recorded(result, versions[i].title, versions[i].how);
	}
}

int wti_section_host(struct wti_report_source *source, struct wt_result *result, struct wt_err *err)
{
	const struct wti_doc *host = source->json ? wti_doc_get(source->json, "host") : NULL;

	wti_fact_of_json(result, host, "name", "host", WT_CELL_TEXT);
	wti_fact_of_json(result, host, "os", "system", WT_CELL_TEXT);
	wti_fact_of_json(result, host, "kernel", "kernel", WT_CELL_TEXT);
	wti_fact_of_json(result, host, "cpu", "CPU", WT_CELL_TEXT);
	wti_fact_of_json(result, host, "cpus", "cores it could use", WT_CELL_COUNT);
	wti_fact_of_json(result, host, "memory_bytes", "memory", WT_CELL_BYTES);
	wti_fact_of_json(result, host, "libc", "C library", WT_CELL_TEXT);
	wti_fact_of_json(result, source->json, "wheeltap", "wheeltap", WT_CELL_TEXT);
	add_versions(source, result);
	return 0;
}
