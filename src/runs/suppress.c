/* SPDX-License-Identifier: Apache-2.0 */
/* [[suppress]] of wheeltap.toml, and what it does to findings. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/toml.h"
#include "suppress.h"

#define ENTRIES_MAX 1024u

struct entry {
	const char *code; /* patterns; of the document */
	const char *path; /* NULL: anywhere */
	const char *reason;
	const char *until; /* NULL: for ever */
	uint64_t count;    /* of findings that it has taken out */
};

struct wti_suppressions {
	struct wti_doc *doc;
	size_t count;
	struct entry entries[];
};

/* ---- Reading -------------------------------------------------------------------------------- */

static int fail(struct wt_err *err, const char *path, const struct wti_doc *at, const char *what)
{
	return wti_doc_fail(at, path, err, WT_E_ARG, "%s", what);
}

static bool is_day(const char *text)
{
	static const char shape[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(shape); i++)
		if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
			return false;
	return true;
}

static int read_entry(const char *path, const struct wti_doc *table, struct entry *ret,
		      struct wt_err *err)
{
	const struct {
		const char *key;
		const char **place;
	} keys[] = {
		{"code", &ret->code},
		{"path", &ret->path},
		{"reason", &ret->reason},
		{"until", &ret->until},
	};
	const size_t key_count = sizeof(keys) / sizeof(keys[0]);

	if (table->type != WTI_DOC_TABLE)
		return fail(err, path, table, "'suppress' has to be tables: [[suppress]]");
	for (const struct wti_doc *value = table->first; value; value = value->next) {
		size_t i = 0;

		while (i < key_count && strcmp(keys[i].key, value->key))
			i++;
		if (i == key_count)
			return fail(err, path, value,
				    "unknown key in [[suppress]]; known keys are code, path, "
				    "reason, until");
		if (value->type != WTI_DOC_STRING || !value->string.bytes)
			return fail(err, path, value, "expected text in quotes");
		*keys[i].place = value->string.data;
	}
	if (!ret->code || !ret->reason)
		return fail(err, path, table,
			    "[[suppress]] needs code = \"WT-...\" and reason = \"...\"");
	if (ret->until && !is_day(ret->until))
		return fail(err, path, table, "'until' must be a day such as \"2026-12-31\"");
	return 0;
}

static int read_entries(const char *path, struct wti_doc *doc, struct wti_suppressions **ret,
			struct wt_err *err)
{
	const struct wti_doc *list = wti_doc_get(doc, "suppress");
	struct wti_suppressions *made;
	size_t count = 0;
	int r = 0;

	if (list && list->type != WTI_DOC_ARRAY)
		return fail(err, path, list, "'suppress' has to be tables: [[suppress]]");
	for (const struct wti_doc *at = list ? list->first : NULL; at; at = at->next)
		count++;
	if (count > ENTRIES_MAX)
		return fail(err, path, list, "more than 1024 suppressions");
	made = count ? calloc(1, sizeof(*made) + count * sizeof(made->entries[0])) : NULL;
	if (!made)
		return count ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
	for (const struct wti_doc *at = list->first; at && !r; at = at->next)
		r = read_entry(path, at, &made->entries[made->count++], err);
	if (r) {
		free(made);
		return r;
	}
	made->doc = doc;
	*ret = made;
	return 0;
}

int wti_suppressions_read(const char *path, struct wti_suppressions **ret, struct wt_err *err)
{
	struct wti_doc *doc;
	int r;

	*ret = NULL;
	if (access(path, F_OK))
		return 0;
	r = wti_toml_load(path, &doc, err);
	if (r)
		return r;
	r = read_entries(path, doc, ret, err);
	if (!*ret)
		wti_doc_free(doc);
	return r;
}

void wti_suppressions_free(struct wti_suppressions *suppressions)
{
	if (!suppressions)
		return;
	wti_doc_free(suppressions->doc);
	free(suppressions);
}

const char *wti_today(char out[16])
{
	time_t now = time(NULL);
	struct tm day;

	localtime_r(&now, &day);
	strftime(out, 16, "%Y-%m-%d", &day);
	return out;
}

/* ---- Findings ------------------------------------------------------------------------------- */

static bool has_ended(const struct entry *entry, const char *today)
{
	return entry->until && strcmp(entry->until, today) < 0;
}

static bool concerns(const struct entry *entry, const struct wt_finding *finding)
{
	return !fnmatch(entry->code, finding->code, 0) &&
	       (!entry->path || (finding->file && !fnmatch(entry->path, finding->file, 0)));
}

static struct entry *entry_of(struct wti_suppressions *suppressions,
			      const struct wt_finding *finding, const char *today)
{
	for (size_t i = 0; i < suppressions->count; i++)
		if (!has_ended(&suppressions->entries[i], today) &&
		    concerns(&suppressions->entries[i], finding))
			return &suppressions->entries[i];
	return NULL;
}

void wti_suppress(struct wti_suppressions *suppressions, struct wt_result *result,
		  const char *today)
{
	bool had_some = result->finding_count;

	for (size_t i = 0; suppressions && i < result->finding_count;) {
		struct entry *entry = entry_of(suppressions, &result->findings[i], today);

		if (!entry) {
			i++;
			continue;
		}
		entry->count++;
		wt_result_finding_remove(result, i);
	}
	if (had_some && !result->finding_count && result->status &&
	    !strcmp(result->status, "findings"))
		wt_result_set_status(result, "clean");
}

void wti_suppress_say(const struct wti_suppressions *suppressions, struct wt_result *result,
		      const char *today)
{
	for (size_t i = 0; suppressions && i < suppressions->count; i++) {
		const struct entry *entry = &suppressions->entries[i];

		if (has_ended(entry, today))
			wt_result_note(result,
				       "the suppression of '%s' in " WTI_SUPPRESS_FILE
				       " ended on %s",
				       entry->code, entry->until);
		else if (entry->count)
			wt_result_note(result, "'%s' is suppressed in " WTI_SUPPRESS_FILE ": %s",
				       entry->code, entry->reason);
		else
			wt_result_note(result,
				       "the suppression of '%s' in " WTI_SUPPRESS_FILE
				       " matches nothing here",
				       entry->code);
	}
}
