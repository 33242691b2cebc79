/* SPDX-License-Identifier: Apache-2.0 */
/* Reading set.json: which runs are in a set, and how they were made. */
#include "set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/text.h"
#include "trace/run_folder.h"
#include "runjson.h"

#define SETJSON_MAX (1u << 20)

void wti_set_release(struct wti_set *set)
{
	free(set->path);
	free(set->name);
	free(set->command);
	free(set->runs);
	*set = (struct wti_set){0};
}

/* NULL: there is none of ours. */
static struct wti_doc *read_root(const char *folder, struct wt_err *err)
{
	struct wti_doc *root = NULL;
	struct wti_buf text;
	char *path;

	if (asprintf(&path, "%s/" WTI_SET_JSON, folder) < 0) {
		wti_err(err, WT_E_NOMEM, "out of memory");
		return NULL;
	}
	wti_buf_init(&text, SETJSON_MAX);
	if (!wti_file_read(path, SETJSON_MAX, &text, err) &&
	    !wti_json_parse(path, (const char *)text.data, text.bytes, &root, err) &&
	    (wti_doc_count(root, "set") != WTI_SET_VERSION || !wti_doc_text(root, "status"))) {
		wti_err(err, WT_E_FORMAT, "'%s' is damaged, or was not written by wheeltap", path);
		wti_doc_free(root);
		root = NULL;
	}
	wti_buf_release(&text);
	free(path);
	return root;
}

/* The host of a run of the set, also of one that is over: the next may not have begun. */
static void note_host(const char *path, struct wti_run *set)
{
	struct wti_doc *root = NULL;
	const char *host;

	if (set->elsewhere[0] || wti_runjson_read(path, &root, NULL) || !root)
		return;
	host = wti_runjson_elsewhere(root);
	if (host)
		snprintf(set->elsewhere, sizeof(set->elsewhere), "%.64s", host);
	wti_doc_free(root);
}

/* Whether a run of it is being recorded here; if not, `elsewhere` is filled in. */
static bool is_recording(const char *folder, size_t runs_wanted, struct wti_run *set)
{
	char path[PATH_MAX];

	for (size_t i = 1; i <= runs_wanted && i <= WTI_SET_RUNS_MAX; i++) {
		if (snprintf(path, sizeof(path), "%s/%02zu", folder, i) >= (int)sizeof(path))
			continue;
		if (wti_run_is_recording(path)) {
			set->elsewhere[0] = '\0';
			return true;
		}
		note_host(path, set);
	}
	return false;
}

/* One that says it is running, but nothing in it is, was abandoned; of another host's that is not
 * known. */
static void copy_status(struct wti_run *set, const struct wti_doc *root, const char *folder)
{
	const int64_t wanted = wti_doc_count(root, "runs_wanted");

	snprintf(set->status, sizeof(set->status), "%s", wti_doc_text(root, "status"));
	if (!strcmp(set->status, "running") &&
	    !is_recording(folder, wanted > 0 ? wanted : 0, set) && !set->elsewhere[0])
		snprintf(set->status, sizeof(set->status), "abandoned");
}

static size_t count_of(const struct wti_doc *list)
{
	size_t count = 0;

	for (const struct wti_doc *at = list ? list->first : NULL; at; at = at->next)
		count++;
	return count < WTI_SET_RUNS_MAX ? count : WTI_SET_RUNS_MAX;
}

int wti_set_load(const char *folder, struct wti_run *run, struct wt_err *err)
{
	struct wti_doc *root = read_root(folder, NULL);
	const char *label = root ? wti_doc_text(root, "name") : NULL;
	int64_t start_ns;

	if (!root)
		return 0;
	start_ns = wti_doc_count(root, "start_ns");
	run->is_set = run->has_json = true;
	run->run_count = count_of(wti_doc_get(root, "runs"));
	run->start_ns = start_ns > 0 ? start_ns : 0;
	run->duration_ns = wti_doc_count(root, "duration_ns");
	run->command = wti_runjson_command(wti_doc_get(root, "command"));
	run->label = label ? strdup(label) : NULL;
	copy_status(run, root, folder);
	wti_doc_free(root);
	if (!run->command || (label && !run->label))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}

static void copy_text(char *out, size_t bytes, const struct wti_doc *table, const char *key)
{
	const char *text = wti_doc_text(table, key);

	snprintf(out, bytes, "%s", text ? text : "");
}

static uint64_t number_of(const struct wti_doc *table, const char *key)
{
	const char *text = wti_doc_text(table, key);
	uint64_t number = 0;

	return text && wti_parse_u64(text, &number) ? number : 0;
}

static void take_run(const struct wti_doc *from, struct wti_set_run *run)
{
	const int64_t code = wti_doc_count(from, "exit_code");

	copy_text(run->folder, sizeof(run->folder), from, "folder");
	copy_text(run->status, sizeof(run->status), from, "status");
	run->seed = number_of(from, "seed");
	run->exit_code = code >= 0 ? (int)code : -1;
}

static int take_set(const struct wti_doc *root, const struct wti_run *found, struct wti_set *set,
		    struct wt_err *err)
{
	const struct wti_doc *list = wti_doc_get(root, "runs");
	const int64_t wanted = wti_doc_count(root, "runs_wanted");

	set->path = strdup(found->path);
	set->name = strdup(found->name);
	set->command = strdup(found->command);
	set->runs = calloc(found->run_count + 1, sizeof(*set->runs));
	if (!set->path || !set->name || !set->command || !set->runs)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	snprintf(set->status, sizeof(set->status), "%s", found->status);
	copy_text(set->noise, sizeof(set->noise), root, "noise");
	copy_text(set->elements, sizeof(set->elements), root, "elements");
	set->seed = number_of(root, "seed");
	set->start_ns = found->start_ns;
	set->runs_wanted = wanted > 0 ? (size_t)wanted : 0;
	for (const struct wti_doc *at = list ? list->first : NULL;
	     at && set->run_count < found->run_count; at = at->next)
		take_run(at, &set->runs[set->run_count++]);
	return 0;
}

int wti_set_find(const struct wti_front *front, const char *word, struct wti_set *ret_set,
		 struct wt_err *err)
{
	struct wti_set set = {0};
	struct wti_doc *root = NULL;
	struct wti_run run;
	int r = wti_run_or_set_find(front, word, &run, err);

	if (r)
		return r;
	if (!run.is_set)
		r = wti_err(err, WT_E_MISSING, "'%s' is not a set of runs", run.path);
	else if (!(root = read_root(run.path, err)))
		r = err && err->code ? err->code : WT_E_FORMAT;
	if (!r)
		r = take_set(root, &run, &set, err);
	wti_doc_free(root);
	wti_run_release(&run);
	if (r)
		wti_set_release(&set);
	else
		*ret_set = set;
	return r;
}

/* The quantile of the chi-squared distribution after Wilson and Hilferty: good to a few per cent of
 * a bit for two degrees and more. */
static double chi_squared(double degrees, double normal)
{
	const double part = 2 / (9 * degrees);
	const double root = 1 - part + normal * sqrt(part);

	return degrees * root * root * root;
}

double wti_set_half_width(size_t runs)
{
	const double normal = 1.959963984540054; /* 97.5 % */

	if (runs < 3)
		return INFINITY;
	return log2(chi_squared((double)runs - 1, normal) /
		    chi_squared((double)runs - 1, -normal)) /
	       4;
}
