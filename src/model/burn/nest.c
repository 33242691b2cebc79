/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of maps and lists in forms that say how many entries these have. */
#include "base/err.h"
#include "model/burn/record.h"

static int close_full(struct wti_burn_nest *nest, uint64_t at, struct wt_err *err)
{
	struct wti_burn_event end = {.type = WTI_BURN_END, .at = at};
	int r = 0;

	while (!r && nest->depth && !nest->left[nest->depth - 1]) {
		r = nest->take(nest->self, &end, err);
		nest->depth--;
		if (nest->depth)
			nest->left[nest->depth - 1]--;
	}
	return r;
}

int wti_burn_nest_take(struct wti_burn_nest *nest, const struct wti_burn_event *event,
		       uint64_t entries, bool *ret_done, struct wt_err *err)
{
	int r = nest->take(nest->self, event, err);

	if (r)
		return r;
	if (event->type == WTI_BURN_MAP || event->type == WTI_BURN_LIST) {
		if (nest->depth == WTI_DOC_DEPTH_MAX)
			return wti_err_at(err, WT_E_FORMAT, (int64_t)event->at,
					  "nested too deeply at byte %llu",
					  (unsigned long long)event->at);
		nest->left[nest->depth++] = event->type == WTI_BURN_MAP ? 2 * entries : entries;
	} else if (nest->depth) {
		nest->left[nest->depth - 1]--;
	}
	r = close_full(nest, event->at, err);
	*ret_done = !nest->depth;
	return r;
}
