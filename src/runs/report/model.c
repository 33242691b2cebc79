/* SPDX-License-Identifier: Apache-2.0 */
/* What was trained, and with what: models and their tensors, optimizers, schedulers. */
#include <string.h>

#include "section.h"
#include "show/report/report.h"

static const char how_torch[] =
	"record a training with torch by its Python agent, or emit objects and members yourself";

int wti_section_model(struct wti_report_source *source, struct wt_result *result,
		      struct wt_err *err)
{
	bool has_models = wti_section_take(result, &source->contents, "models", "Models");

	wti_section_take(result, &source->contents, "tensors", "Tensors");
	wti_section_take(result, &source->contents, "module_settings", "Settings of modules");
	if (!has_models)
		wti_not_recorded(result, "model architecture and parameter counts", how_torch);
	return 0;
}

/* Objects but models, which have a section of their own. */
static void add_objects(const struct wt_table *objects, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "objects", "Objects");

	wt_table_column(table, "name", "object", WT_CELL_TEXT);
	wt_table_column(table, "type", "is a", WT_CELL_TEXT);
	wt_table_column(table, "class", "class", WT_CELL_TEXT);
	wt_table_column(table, "of", "of", WT_CELL_TEXT);
	for (size_t i = 0; i < objects->row_count; i++) {
		static const char *const keys[] = {"name", "type", "class", "of"};
		const char *type = wti_report_cell_text(objects, i, "type");

		if (type && !strcmp(type, "module"))
			continue;
		wt_table_row(table);
		for (size_t j = 0; j < sizeof(keys) / sizeof(*keys); j++) {
			const char *text = wti_report_cell_text(objects, i, keys[j]);

			if (text)
				wt_table_text(table, text, strlen(text));
			else
				wt_table_empty(table);
		}
	}
}

int wti_section_hyperparameters(struct wti_report_source *source, struct wt_result *result,
				struct wt_err *err)
{
	const struct wt_table *objects = wti_report_table(&source->contents, "objects");

	if (!wti_section_take(result, &source->contents, "settings",
			      "Settings of optimizers and schedulers"))
		wti_not_recorded(result, "settings of optimizers and schedulers", how_torch);
	if (objects && objects->row_count)
		add_objects(objects, result);
	return 0;
}
