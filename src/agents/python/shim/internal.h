/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the shim share. */
#ifndef WTI_PYTHON_SHIM_INTERNAL_H
#define WTI_PYTHON_SHIM_INTERNAL_H

#include <wheeltap/kinds.h>

#include "shim.h"

namespace wti
{

/* observer.cpp */
bool watch(const wti_shim_host *host, uint32_t what) noexcept;
uint64_t sequence() noexcept;
uint64_t thread() noexcept;

/* tensor.cpp */
bool look(const void *impl, wti_shim_tensor *ret) noexcept;
bool requires_grad(const void *impl) noexcept;
const void *grad(const void *impl) noexcept;
bool is_leaf(const void *impl) noexcept;
uint32_t modes() noexcept;

} // namespace wti

#endif
