/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of the profile something counts for: what it is called by name, by step, by site ... */
#ifndef WTI_INSPECT_STAT_ROWS_H
#define WTI_INSPECT_STAT_ROWS_H

#include <wheeltap/trace.h>

#include "base/map.h"
#include "inspect/core/roles.h"
#include "inspect/core/steps.h"
#include "profile.h"
#include "stat.h"

#define WTI_STAT_NO_ROW UINT64_MAX

/* A thing as the event shows it. */
struct wti_subject {
	const char *kind;
	enum wti_profile_side side;
	struct wt_text name;
	uint32_t name_id; /* in the stream; of a system call its number */
	uint32_t module;  /* of calls */
	uint32_t site;
	uint32_t op;    /* of device operations */
	uint32_t track; /* that it counts for */
	bool is_call;
};

struct wti_stat_rows {
	const struct wti_roles *roles;
	enum wti_stat_by by;
	struct wti_profile *profile;
	const struct wti_steps *steps;
	struct wti_map cache; /* what a subject's ids meant last time: row plus one */
};

void wti_stat_rows_init(struct wti_stat_rows *rows, const struct wti_roles *roles,
			enum wti_stat_by by, struct wti_profile *profile,
			const struct wti_steps *steps);
void wti_stat_rows_release(struct wti_stat_rows *rows);
/* The row, or WTI_STAT_NO_ROW if such things have none here. WT_E_NOMEM. */
int wti_stat_row(struct wti_stat_rows *rows, const struct wt_event *event,
		 const struct wti_subject *subject, uint64_t *ret_row);

#endif
