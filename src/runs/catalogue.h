/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue of runs: a SQLite file beside them, with a row a run, a metric, a finding, a test
 * and a setting. It is derived: whatever is in it stands in the folders of the runs, in their files
 * `tags`, and of runs that were removed in the file of what is kept (kept.h). So it can be deleted,
 * is made anew when it is damaged, and lives in memory where it cannot be written.
 *
 * Opening it compares it with the folders: what is missing is added, what has changed is read
 * again, what is gone leaves. That takes a stat() or two a run. Reading traces is another matter:
 * wti_catalogue_summarise() does it, once a run.
 *
 * docs/catalogue.md describes the tables.
 */
#ifndef WTI_RUNS_CATALOGUE_H
#define WTI_RUNS_CATALOGUE_H

#include <wheeltap/result.h>

#include "base/map.h"
#include "summary.h"

#define WTI_CATALOGUE_FILE ".catalogue.sqlite" /* below the home */

struct wti_catalogue;

/* A run or a set. Texts are never NULL, numbers that are not known -1. */
struct wti_catalogue_run {
	int64_t id;
	const char *folder;  /* below the home */
	const char *label;   /* what it is called */
	const char *status;  /* as in struct wti_run */
	const char *command; /* words as a shell would take them */
	const char *program; /* what was run, without interpreter and folders: "train.py" */
	const char *directory;
	const char *commit; /* of the program's repository; "": it has none */
	const char *diff_hash;
	const char *host;
	const char *config; /* a hash of command, environment, seeds and executable */
	const char *tags;   /* words with a blank between */
	int64_t start_ns, written_ns, duration_ns;
	int64_t events, lost, stream_bytes, disk_bytes;
	int64_t exit_status;
	int64_t run_count;  /* of a set */
	int64_t removed_ns; /* when `clean` removed it; -1: it is there */
	bool is_set;
	bool is_dirty;
	bool is_summarised; /* metrics, findings and tests are known */
	bool is_damaged;    /* as far as the trace could be read */
};

/*
 * Of the runs below front->home, up to date. `notes` gets what a person should know: that it was
 * damaged and is made anew. No home is no error.
 */
int wti_catalogue_open(const struct wti_front *front, struct wti_catalogue **ret_catalogue,
		       struct wt_result *notes, struct wt_err *err);
void wti_catalogue_free(struct wti_catalogue *catalogue);

/* Newest first; valid until the next call that changes something. */
const struct wti_catalogue_run *wti_catalogue_runs(const struct wti_catalogue *catalogue,
						   size_t *ret_count);
/* By folder, or the newest of that name; "latest" is the newest. NULL: there is none. */
const struct wti_catalogue_run *wti_catalogue_find(const struct wti_catalogue *catalogue,
						   const char *word);

/*
 * Reads the traces of runs that are over and not summarised yet; of those in `wanted` alone, by
 * their place, unless it is NULL. Each is done once, and is kept.
 */
int wti_catalogue_summarise(const struct wti_front *front, struct wti_catalogue *catalogue,
			    const bool *wanted, struct wt_err *err);
/* Of a run that is summarised; an empty one otherwise. */
int wti_catalogue_summary(struct wti_catalogue *catalogue, const struct wti_catalogue_run *run,
			  struct wti_run_summary *ret_summary, struct wt_err *err);

/* A statistic of a metric of every run, by its place; NAN where there is none or where it is NAN,
 * which `ret_has` tells apart (or NULL). */
int wti_catalogue_metric(struct wti_catalogue *catalogue, const char *name,
			 enum wti_statistic statistic, double *ret_values, bool *ret_has,
			 struct wt_err *err);
/* All names of metrics, with how many runs have them. */
int wti_catalogue_metric_names(struct wti_catalogue *catalogue, struct wti_map *ret_names,
			       struct wt_err *err);
/* The same of settings; and the value of one in every run that has it, by the place of the run. */
int wti_catalogue_setting_names(struct wti_catalogue *catalogue, struct wti_map *ret_names,
				struct wt_err *err);
int wti_catalogue_settings(struct wti_catalogue *catalogue, const char *name,
			   int (*take)(void *self, size_t place, const char *value), void *self,
			   struct wt_err *err);
/* Of every run that has such a test, in time order of the runs: what `take` wants to know. `name`
 * NULL: all tests. */
struct wti_catalogue_test {
	const struct wti_catalogue_run *run;
	struct wti_test test;
};
int wti_catalogue_tests(struct wti_catalogue *catalogue, const char *name,
			int (*take)(void *self, const struct wti_catalogue_test *test), void *self,
			struct wt_err *err);

/* Every save to that path, or with that digest or anchor, in time order of the runs. */
struct wti_catalogue_saved {
	const struct wti_catalogue_run *run;
	struct wti_run_saved saved;
};
int wti_catalogue_saved(struct wti_catalogue *catalogue, const struct wti_run_saved *like,
			int (*take)(void *self, const struct wti_catalogue_saved *saved),
			void *self, struct wt_err *err);

/*
 * A run below the home has ended: its row, and if it is small its summary, are added. Only where
 * there is a catalogue already; who needs one makes it. Failures are of no interest: it is found by
 * the next that opens the catalogue.
 */
void wti_catalogue_add(const struct wti_front *front, const char *folder);

#endif
