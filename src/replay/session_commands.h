/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of session_commands.c and the files with its calls, one for each kind of memory: what a
 * call needs, and how it gets it. Functions return why not, in words, or NULL.
 */
#ifndef WTI_REPLAY_SESSION_COMMANDS_H
#define WTI_REPLAY_SESSION_COMMANDS_H

#include "session.h"

/* An operation on its way: its queue and events. */
struct wti_replay_call {
	struct wti_replay_session *session;
	const struct wti_replay_plan_op *op;
	cl_command_queue queue;
	cl_uint wait_count;
	const cl_event *waits;
	struct wti_replay_session_command *command;
};

#define EVENTS(c) (c)->wait_count, (c)->waits, &(c)->command->event

/* ---- What a call needs ----------------------------------------------------------------------- */

const char *wti_replay_call_result(const struct wti_replay_call *c, cl_int status);
const struct wti_replay_plan_access *wti_replay_call_find(const struct wti_replay_call *c,
							  uint32_t mode, bool is_host);
const char *wti_replay_call_handle(const struct wti_replay_call *c,
				   const struct wti_replay_plan_access *access, void **ret);
/* The same, of a sub-buffer its own handle. */
const char *wti_replay_call_part(const struct wti_replay_call *c,
				 const struct wti_replay_plan_access *access, void **ret);
/* The bytes that came from the host; room for those that go there. */
const char *wti_replay_call_take_host(const struct wti_replay_call *c,
				      const struct wti_replay_plan_access *access);
const char *wti_replay_call_make_host(const struct wti_replay_call *c, uint64_t bytes);
/* Numbers of a rectangle or of an image command: as many u64 as it has to have. */
const char *wti_replay_call_numbers(const struct wti_replay_call *c, size_t count, size_t *ret);
/* It has its place in the order, and does nothing. */
const char *wti_replay_call_order_only(const struct wti_replay_call *c);

/* ---- session_buffers.c ----------------------------------------------------------------------- */

const char *wti_replay_call_read_buffer(const struct wti_replay_call *c);
const char *wti_replay_call_write_buffer(const struct wti_replay_call *c);
const char *wti_replay_call_copy_buffer(const struct wti_replay_call *c);
const char *wti_replay_call_fill_buffer(const struct wti_replay_call *c);
const char *wti_replay_call_read_rect(const struct wti_replay_call *c);
const char *wti_replay_call_write_rect(const struct wti_replay_call *c);
const char *wti_replay_call_copy_rect(const struct wti_replay_call *c);

/* ---- session_images.c ------------------------------------------------------------------------ */

const char *wti_replay_call_read_image(const struct wti_replay_call *c);
const char *wti_replay_call_write_image(const struct wti_replay_call *c);
const char *wti_replay_call_fill_image(const struct wti_replay_call *c);
const char *wti_replay_call_copy_image(const struct wti_replay_call *c);
const char *wti_replay_call_image_to_buffer(const struct wti_replay_call *c);
const char *wti_replay_call_buffer_to_image(const struct wti_replay_call *c);
const char *wti_replay_call_unmap_image(const struct wti_replay_call *c,
					const struct wti_replay_plan_access *to, void *image);

/* ---- session_mapped.c ------------------------------------------------------------------------ */

const char *wti_replay_call_svm_copy(const struct wti_replay_call *c);
const char *wti_replay_call_svm_fill(const struct wti_replay_call *c);
const char *wti_replay_call_map(const struct wti_replay_call *c);
const char *wti_replay_call_unmap(const struct wti_replay_call *c);

/* ---- session_kernels.c ----------------------------------------------------------------------- */

const char *wti_replay_call_run_kernel(const struct wti_replay_call *c);

#endif
