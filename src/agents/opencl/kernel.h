/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel, as far as its launches need it: its arguments as they are set now. */
#ifndef WTI_AGENTS_OPENCL_KERNEL_H
#define WTI_AGENTS_OPENCL_KERNEL_H

#include "own.h"

enum {
	WTI_CL_ARGUMENTS_MAX = 1024,
	WTI_CL_LAUNCHES_MAX = 16, /* work-group sizes that are known to have been launched */
	WTI_CL_INDIRECT_MAX = 64, /* pointers that a kernel finds by itself */
};

enum wti_cl_argument_type {
	WTI_CL_ARGUMENT_NONE,
	WTI_CL_ARGUMENT_VALUE,
	WTI_CL_ARGUMENT_LOCAL,
	WTI_CL_ARGUMENT_MEMORY,
};

struct wti_cl_argument {
	uint32_t type; /* enum wti_cl_argument_type */
	uint32_t mode; /* of memory: enum wt_access_mode, as the kernel declares it; 0: it does not
			*/
	uint32_t used_mode; /* of memory: with what the object permits */
	uint64_t object, sub;
	uint64_t offset;
	uint64_t bytes;   /* of the memory, or of the value */
	const void *fine; /* shared memory that the host may write at any time; NULL: it is none */
	void *value;      /* with --replayable */
};

struct wti_cl_geometry {
	uint64_t dimensions, offset[3], global[3], local[3];
};

struct wti_cl_kernel {
	struct wt_name *name;
	uint32_t argument_count;
	struct wti_cl_argument *arguments;
	struct wti_cl_geometry last; /* and how it is called */
	struct wt_name *last_name;
	struct {
		uint32_t device;
		uint64_t local[3];
	} launched[WTI_CL_LAUNCHES_MAX];
	uint32_t launched_count;
	const void *indirect[WTI_CL_INDIRECT_MAX];
	uint32_t indirect_count;
};

#pragma GCC visibility push(hidden)

/* Of its arguments and launches: several threads may launch one kernel. */
static inline unsigned wti_cl_kernel_lock(const struct wti_cl_kernel *kernel)
{
	return WTI_CL_LOCK_KERNELS +
	       ((uintptr_t)kernel >> 6) % (WTI_CL_LOCK_OBJECTS - WTI_CL_LOCK_KERNELS);
}

/* kernel_args.c: remembers an argument. */
void wti_cl_argument_set(struct wti_cl_kernel *kernel, uint32_t index, size_t bytes,
			 const void *value);
void wti_cl_argument_svm(struct wti_cl_kernel *kernel, uint32_t index, const void *pointer);
/* A copy for a clone; false: out of memory. */
bool wti_cl_arguments_copy(struct wti_cl_kernel *to, const struct wti_cl_kernel *from);
void wti_cl_arguments_free(struct wti_cl_kernel *kernel);
/* Emits what a launch touches, and with --replayable all arguments. */
void wti_cl_arguments_emit(struct wti_cl_command *command, const struct wti_cl_kernel *kernel);
/* How each argument is declared: by the driver, or else by the source. */
void wti_cl_arguments_declared(struct wti_cl_kernel *kernel, cl_kernel handle, const char *source);

#pragma GCC visibility pop

#endif
