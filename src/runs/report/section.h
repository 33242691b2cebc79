/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A section of a report: a row in sections.c and a file that collects it. A section only adds to
 * its result. What it does not find it adds as not recorded, with what would record it; it never
 * leaves a blank and never makes up a value.
 */
#ifndef WTI_RUNS_REPORT_SECTION_H
#define WTI_RUNS_REPORT_SECTION_H

#include "base/doc.h"
#include "runs/open.h"

/* What sections collect from. */
struct wti_report_source {
	const struct wti_front *front;
	const struct wti_opened_run *opened;
	const struct wti_doc *json; /* run.json; NULL: there is none */
	struct wt_result contents;  /* of the inspector `contents` */
};

struct wti_report_section {
	const char *key, *title;
	bool is_first; /* shown at once, not folded away */
	int (*collect)(struct wti_report_source *source, struct wt_result *result,
		       struct wt_err *err);
};

extern const struct wti_report_section wti_report_sections[]; /* ends with a key of NULL */

int wti_section_run(struct wti_report_source *source, struct wt_result *result, struct wt_err *err);
int wti_section_code(struct wti_report_source *source, struct wt_result *result,
		     struct wt_err *err);
int wti_section_host(struct wti_report_source *source, struct wt_result *result,
		     struct wt_err *err);
int wti_section_configuration(struct wti_report_source *source, struct wt_result *result,
			      struct wt_err *err);
int wti_section_findings(struct wti_report_source *source, struct wt_result *result,
			 struct wt_err *err);
int wti_section_checks(struct wti_report_source *source, struct wt_result *result,
		       struct wt_err *err);
int wti_section_metrics(struct wti_report_source *source, struct wt_result *result,
			struct wt_err *err);
int wti_section_time(struct wti_report_source *source, struct wt_result *result,
		     struct wt_err *err);
int wti_section_data(struct wti_report_source *source, struct wt_result *result,
		     struct wt_err *err);
int wti_section_model(struct wti_report_source *source, struct wt_result *result,
		      struct wt_err *err);
int wti_section_hyperparameters(struct wti_report_source *source, struct wt_result *result,
				struct wt_err *err);
int wti_section_artifacts(struct wti_report_source *source, struct wt_result *result,
			  struct wt_err *err);
int wti_section_history(struct wti_report_source *source, struct wt_result *result,
			struct wt_err *err);
int wti_section_reproduce(struct wti_report_source *source, struct wt_result *result,
			  struct wt_err *err);

/* ---- For sections ---------------------------------------------------------------------------- */

/* Something that is not known: `how` would have recorded it. */
void wti_not_recorded(struct wt_result *result, const char *what, const char *how);
/* A fact from run.json, or one without a value. */
void wti_fact_of_json(struct wt_result *result, const struct wti_doc *table, const char *key,
		      const char *title, enum wt_cell_type type);
/* What an inspector reports. A run that cannot be read to its end is no error, but a note. */
int wti_section_inspect(const struct wti_report_source *source, const char *inspector,
			const void *options, struct wt_result *result, struct wt_err *err);
/* Copies tables of that key, with a heading; false: there is none, or it is empty. */
bool wti_section_take(struct wt_result *into, const struct wt_result *from, const char *key,
		      const char *title);
/* SHA-256 of a file as it is now, as 64 digits, and its size; false: it cannot be read. */
#define WTI_SHA256_TEXT 65
bool wti_section_hash(const char *directory, const char *path, char ret_hash[WTI_SHA256_TEXT],
		      uint64_t *ret_bytes, int64_t *ret_changed_ns);

#endif
