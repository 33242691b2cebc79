/* SPDX-License-Identifier: Apache-2.0 */
/* The call stack at this moment. */
#include "common/agent.h"

#include <errno.h>

#include "common/stack.h"

bool wt_stack(void)
{
	const struct wti_here here = wti_here();
	struct wti_record_stack *record;
	int saved_errno = errno;
	uint32_t id;

	if (!here.ring)
		return false;
	id = wti_stack_capture(1);
	errno = saved_errno;
	record = wti_open(here, WT_KIND_STACK, sizeof(*record));
	if (!record)
		return false;
	record->stack = id;
	record->flags = 0;
	return wti_commit(here, sizeof(*record));
}
