/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which deviations are only that something was not seen, where it may have happened unseen.
 */
#include "deviation.h"

static unsigned about_of(enum wti_thing_type type)
{
	switch (type) {
	case WTI_THING_PEER:
		return WTI_ABOUT_NETWORK;
	case WTI_THING_PROGRAM:
	case WTI_THING_PROCESS:
		return WTI_ABOUT_PROGRAMS;
	case WTI_THING_KERNEL:
	case WTI_THING_FUNCTION:
		return WTI_ABOUT_CALLS;
	default:
		return WTI_ABOUT_FILES;
	}
}

/* All that is wrong with it is that something was not seen, or less often. */
static bool is_absence(const struct wti_deviation *d)
{
	if (!d->thing)
		return !d->instead;
	if (d->is_mode || d->is_via || d->off_more || !d->golden)
		return false;
	for (size_t i = 0; i < d->off_count; i++)
		if ((d->offs[i].tally ? d->offs[i].tally->total : 0) >= d->offs[i].total.low)
			return false;
	return d->off_count;
}

static bool is_in_doubt(const struct wti_checking *c, const struct wti_deviation *d, char *why,
			size_t why_bytes)
{
	return is_absence(d) && d->golden->type != WTI_THING_FUNCTION &&
	       wti_unseen(&c->run->unseen, about_of(d->golden->type), why, why_bytes);
}

bool wti_golden_in_doubt(const struct wti_checking *c, const struct wti_deviation *d)
{
	char why[512];

	return is_in_doubt(c, d, why, sizeof(why));
}

bool wti_golden_doubtful(const struct wti_checking *c, const struct wti_deviation *d)
{
	char why[512];

	if (!is_in_doubt(c, d, why, sizeof(why)))
		return false;
	wt_result_note(c->result, "not measured: whether '%s' is as it was: %s", d->golden->name,
		       why);
	return true;
}
