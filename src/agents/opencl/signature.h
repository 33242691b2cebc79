/* SPDX-License-Identifier: Apache-2.0 */
/* What the source of a program says about the arguments of its kernels. */
#ifndef WTI_AGENTS_OPENCL_SIGNATURE_H
#define WTI_AGENTS_OPENCL_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * The mode (enum wt_access_mode) of each argument of the kernel: read where it points to const or
 * constant memory or is a read_only image, write for a write_only one, otherwise both. False: the
 * declaration was not found, has another number of arguments, or is not plain (a macro).
 */
bool wti_cl_signature(const char *source, const char *kernel, uint32_t count, uint32_t *ret_modes);

#pragma GCC visibility pop

#endif
