/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that all rooms share, as it is before the Python side configures it.
 */
#include "pyagent.h"

struct wti_python wti_python;
__thread struct wti_python_thread wti_python_thread WTI_THREAD_STATE;

void wti_python_init(void)
{
	wti_python.is_ready = true;
	wti_python.detail = WTI_DETAIL_NORMAL;
	wti_python.tensors = WTI_TENSORS_DIGEST;
	wti_python.code_extra = -1;
}
