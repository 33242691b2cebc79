/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape that most commands have: a queue first, a wait list and an event last. COMMAND makes
 * the function that stands between the program and the driver: the last argument, a block, says
 * what is touched, with `c` as the command; the parameters are called as in the list.
 */
#ifndef WTI_AGENTS_OPENCL_COMMANDS_H
#define WTI_AGENTS_OPENCL_COMMANDS_H

#include "own.h"

#define WTI_CL_LIST(...) __VA_ARGS__
#define WTI_CL_EVENTS cl_uint wait_count, const cl_event *wait_list, cl_event *event

#define WTI_CL_COMMAND(function, what, parameters, arguments, ...)                                 \
	static cl_int CL_API_CALL layer_##function(cl_command_queue queue, parameters,             \
						   WTI_CL_EVENTS)                                  \
	{                                                                                          \
		struct wti_cl_command command, *c = &command;                                      \
                                                                                                   \
		wti_cl_command_begin(c, WT_NAME(#function), what, queue);                          \
		wti_cl_command_events(c, wait_count, wait_list, &event);                           \
		__VA_ARGS__                                                                        \
		wti_cl_command_launch(c);                                                          \
		return wti_cl_command_end(                                                         \
			c, wti_cl.real.function(queue, arguments, wait_count, wait_list, event));  \
	}

/* Part of an object. */
static inline void wti_cl_reads(struct wti_cl_command *c, cl_mem mem, uint64_t offset,
				uint64_t bytes)
{
	wti_cl_command_touch(c, &(struct wti_cl_touch){.mode = WT_ACCESS_MODE_READ,
						       .argument = -1,
						       .mem = mem,
						       .offset = offset,
						       .bytes = bytes});
}

static inline void wti_cl_writes(struct wti_cl_command *c, cl_mem mem, uint64_t offset,
				 uint64_t bytes)
{
	wti_cl_command_touch(c, &(struct wti_cl_touch){.mode = WT_ACCESS_MODE_WRITE,
						       .argument = -1,
						       .mem = mem,
						       .offset = offset,
						       .bytes = bytes});
}

#endif
