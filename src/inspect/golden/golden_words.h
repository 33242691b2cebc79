/* SPDX-License-Identifier: Apache-2.0 */
/* Between golden_report.c, which makes findings, and golden_words.c, which has the words. */
#ifndef WTI_EFFECTS_GOLDEN_WORDS_H
#define WTI_EFFECTS_GOLDEN_WORDS_H

#include "deviation.h"

/* NULL if that count of it is as it was. */
const struct wti_off *wti_deviation_off(const struct wti_deviation *deviation, const char *word);
/* The count that explains the others; NULL: it is not a count. */
const struct wti_off *wti_deviation_cause(const struct wti_checking *checking,
					  const struct wti_deviation *deviation);
enum wt_severity wti_deviation_severity(const struct wti_deviation *deviation);
/* "'$CWD/log.txt' is opened 101 times instead of once": one line. */
void wti_say_title(const struct wti_checking *checking, const struct wti_deviation *deviation,
		   const struct wti_off *cause, struct wti_buf *out);
/* "101 times instead of once; 1 a step instead of 0" */
void wti_say_instead(struct wti_buf *out, const struct wti_off *off);
/* "reads", "connects to": what the run does with it, the most important first. */
const char *wti_say_verb(const struct wti_effects *run, const struct wti_thing *thing);

/* The count is of processes that ended with some status, or by some signal. */
bool wti_off_is_end(const struct wti_off *off);

#endif
