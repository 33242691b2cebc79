/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of other programs as a run: a row for each format, and what is the same for all of them:
 * the folder, a stream or more for each file, run.json. What was begun is taken back if it cannot
 * be completed; what was read before a file is damaged is kept.
 */
#ifndef WTI_CONVERT_IMPORT_H
#define WTI_CONVERT_IMPORT_H

#include "convert/intake/intake.h"

/* What a reader found out about a file. */
struct wti_import_file {
	uint64_t records;  /* of the file, whatever it calls them */
	uint64_t bytes;    /* that were read, unpacked */
	uint64_t shift_ns; /* is added to all times */
	bool realtime;     /* with it they are ns since 1970 */
	int32_t rank;      /* -1: not known */
	uint32_t world;
	char group[32];       /* who the ranks talk through; empty: not known */
	struct wt_err damage; /* code 0: none */
};

struct wti_import_format {
	const char *name;
	int (*read)(const char *path, struct wti_intake *intake, struct wti_import_file *ret_file,
		    struct wt_err *err);
};

/* NULL: none of that name. */
const struct wti_import_format *wti_import_format(const char *name);

struct wti_import_report {
	uint64_t records, bytes;
	struct wti_intake_summary summary;
	struct wti_intake_reason reasons[64];
	size_t reason_count;
	uint32_t damaged;     /* files */
	struct wt_err damage; /* of the first of them */
};

int wti_import_run(const struct wti_import_format *format, char *const *paths, size_t count,
		   const char *folder, struct wti_import_report *ret_report, struct wt_err *err);

#endif
