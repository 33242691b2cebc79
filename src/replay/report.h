/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay found, as a result: facts, findings with codes, tables. */
#ifndef WTI_REPLAY_REPORT_H
#define WTI_REPLAY_REPORT_H

#include "codes.h"
#include "replay.h"
#include "select.h"
#include "verdict.h"

/* All that is known of one process. */
struct wti_replayed {
	const struct wti_replay_plan *plan;
	const struct wti_replay_options *options;
	const struct wti_replay_races *races;
	const struct wti_replay_selection *selection;
	const struct wti_replay_session *session; /* NULL: nothing was executed */
	const struct wti_replay_pass *serial, *other;
	const struct wti_replay_uninitialised *uninitialised;
	const struct wti_replay_verdicts *verdicts;
};

/* Of all processes. */
struct wti_replay_total {
	uint64_t processes, operations, executed, extra, compared, compared_bytes, races;
	uint64_t needed, restored; /* of a selection */
	uint64_t counts[WTI_VERDICTS];
	bool is_all;
};

void wti_replay_report_total(const struct wti_replay_total *total, struct wt_result *result);

/* "operation 12, kernel 'add'" */
void wti_replay_name(const struct wti_replay_plan *plan, uint32_t op, char *out, size_t bytes);

void wti_replay_report_plan(const struct wti_replayed *replayed, struct wt_result *result);
void wti_replay_report_replayed(const struct wti_replayed *replayed, struct wt_result *result);
#endif
