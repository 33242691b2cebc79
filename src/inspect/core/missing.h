/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What agents say that they were asked for and could not record, with what to do about it: a
 * sentence in a `setting` of the key not_measured. Several processes say the same, which is
 * reported once.
 */
#ifndef WTI_INSPECT_MISSING_H
#define WTI_INSPECT_MISSING_H

#include <stddef.h>

#include <wheeltap/inspect.h>

#define WTI_MISSING_MAX 8

struct wti_missing {
	char *sentences[WTI_MISSING_MAX];
	size_t count;
};

void wti_missing_take(struct wti_missing *missing, const struct wt_event *event);
void wti_missing_note(const struct wti_missing *missing, struct wt_result *result);
void wti_missing_release(struct wti_missing *missing);

/* Of a question to system calls, where there is none: not measured. */
void wti_missing_calls(struct wt_result *result);

#endif
