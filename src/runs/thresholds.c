/* SPDX-License-Identifier: Apache-2.0 */
/* Reading [thresholds.CODE] of wheeltap.toml. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/toml.h"
#include "inspect/judge/rule.h"
#include "thresholds.h"

#define SETTINGS_MAX 1024u

struct reading {
	const char *path;
	struct wti_setting *settings;
	size_t count;
	struct wt_err *err;
};

static int fail(const struct reading *reading, const struct wti_doc *at, const char *what,
		const char *which)
{
	return wti_doc_fail(at, reading->path, reading->err, WT_E_ARG, "%s '%.100s'", what, which);
}

static int read_value(struct reading *reading, const struct wti_rule *rule,
		      const struct wti_doc *value)
{
	unsigned i = 0;
	bool is_whole;
	double number;

	while (i < WTI_THRESHOLDS_MAX && rule->thresholds[i].name &&
	       strcmp(rule->thresholds[i].name, value->key))
		i++;
	if (i == WTI_THRESHOLDS_MAX || !rule->thresholds[i].name)
		return fail(reading, value,
			    "no such threshold; see `wheeltap explain` of the rule:", value->key);
	is_whole = rule->thresholds[i].value == floor(rule->thresholds[i].value);
	if (value->type == WTI_DOC_INT)
		number = (double)value->integer;
	else if (value->type == WTI_DOC_FLOAT && !is_whole)
		number = value->number;
	else
		number = -1;
	if (!(number >= 0 && isfinite(number)))
		return fail(reading, value,
			    is_whole ? "expected a whole number, 0 or above:"
				     : "expected a number, 0 or above:",
			    value->key);
	reading->settings[reading->count++] = (struct wti_setting){rule, i, number};
	return 0;
}

static int read_rule(struct reading *reading, const struct wti_doc *table)
{
	const struct wti_rule *rule = wti_rule_by_code(table->key);
	int r = 0;

	if (!rule || !rule->thresholds[0].name)
		return fail(reading, table, "no rule with thresholds has the code", table->key);
	if (table->type != WTI_DOC_TABLE)
		return fail(reading, table, "expected a table, [thresholds.CODE]:", table->key);
	for (const struct wti_doc *value = table->first; value && !r; value = value->next) {
		if (reading->count == SETTINGS_MAX)
			return fail(reading, value, "too many thresholds at", value->key);
		r = read_value(reading, rule, value);
	}
	return r;
}

static int read_document(struct reading *reading, const struct wti_doc *doc)
{
	const struct wti_doc *all = wti_doc_get(doc, "thresholds");
	int r = 0;

	if (!all)
		return 0;
	if (all->type != WTI_DOC_TABLE)
		return fail(reading, all, "expected tables, [thresholds.CODE]:", all->key);
	reading->settings = calloc(SETTINGS_MAX, sizeof(*reading->settings));
	if (!reading->settings)
		return wti_err(reading->err, WT_E_NOMEM, "out of memory");
	for (const struct wti_doc *table = all->first; table && !r; table = table->next)
		r = read_rule(reading, table);
	return r;
}

int wti_thresholds_read(const char *path, struct wti_setting **ret_settings, size_t *ret_count,
			struct wt_err *err)
{
	struct reading reading = {.path = path, .err = err};
	struct wti_doc *doc;
	int r;

	*ret_settings = NULL;
	*ret_count = 0;
	if (access(path, F_OK))
		return 0;
	r = wti_toml_load(path, &doc, err);
	if (r)
		return r;
	r = read_document(&reading, doc);
	wti_doc_free(doc);
	if (r) {
		free(reading.settings);
		return r;
	}
	*ret_settings = reading.settings;
	*ret_count = reading.count;
	return 0;
}
