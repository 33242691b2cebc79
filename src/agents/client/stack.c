/* SPDX-License-Identifier: Apache-2.0 */
/* The call stack at this moment. */
#include "common/agent.h"

#include <errno.h>

#include "common/stack.h"
#include "emit.h"

bool wt_stack(void)
{
	const struct wti_here here = wti_here();
	int saved_errno = errno;
	uint32_t id;

	if (!here.ring)
		return false;
	id = wti_stack_capture(1);
	errno = saved_errno;
	return wti_emit_stack(here, &(struct wti_record_stack){.stack = id});
}
