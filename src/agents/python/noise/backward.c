/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that torch runs within a node of backward, as the shim tells them: on whatever thread,
 * with or without the interpreter's lock. So nothing here touches an
 * object of Python's but the patterns, which never change. What a hook
 * sees, because the node is written in Python, is the hook's.
 */
#include "own.h"

#include <string.h>

void wti_noise_below(const char *node, const char *op, const struct wti_shim_tensor *seen,
		     uint32_t position)
{
	struct wti_noise_thread *thread = &wti_noise_thread;
	struct wti_noise_key key = {.value = position};
	struct wti_tensor tensor;

	if (!__atomic_load_n(&wti_python.is_on, __ATOMIC_RELAXED) || wti_python_thread.inside ||
	    thread->depth || thread->silent)
		return;
	if (position == 0)
		thread->below_count++;
	if (!wti_rounds_below(op) || !wti_noise_wants_below(node, op) ||
	    !wti_seen_tensor(seen, &tensor) || !tensor.data || !tensor.count ||
	    !wti_noise_takes(tensor.dtype))
		return;
	key.site = wti_noise_hash(wti_noise_hash(0, node, strlen(node)), op, strlen(op));
	key.call = thread->below_count;
	wti_noise_memory(&tensor, &key);
}
