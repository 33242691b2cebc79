/* SPDX-License-Identifier: Apache-2.0 */
/* The door of the shim: the one symbol that the agent looks for. */
#include "internal.h"

#ifndef WTI_SHIM_TORCH
#error "WTI_SHIM_TORCH says which torch this is built for; see python/wheeltap/_build.py"
#endif

extern "C" __attribute__((visibility("default"))) const wti_shim *wt_torch_shim(void)
{
	static const wti_shim shim = {
		WTI_SHIM_VERSION, WTI_SHIM_TORCH,     wti::watch, wti::sequence, wti::thread,
		wti::look,        wti::requires_grad, wti::grad,  wti::is_leaf,  wti::modes,
	};

	return &shim;
}
