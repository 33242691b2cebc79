/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded objects, made again on a device: contexts, queues, memory with its first content,
 * programs, kernels. It knows which handle stands for which object, and hides the driver's calls.
 *
 * Functions that may fail return why, in words for the reader of a verdict, or NULL; such a text
 * lasts as long as the session.
 */
#ifndef WTI_REPLAY_SESSION_H
#define WTI_REPLAY_SESSION_H

#include "api.h"
#include "base/arena.h"
#include "plan.h"

#define WTI_SESSION_DEVICES_MAX 64

/* How to make a session. */
struct wti_replay_session_how {
	const char *device;    /* part of the name of the device to use; NULL: the recorded one */
	const char *binaries;  /* what was agreed to, with hashes of native code; NULL: none */
	uint64_t memory_bytes; /* ceiling of memory on the device at a time */
	uint8_t uninitialised; /* what memory contains that nobody initialised */
};

struct wti_replay_session_object {
	void *handle;
	const char *why; /* it could not be made */
	bool is_made;
	bool has_atomics; /* a program whose source has atomic operations */
};

struct wti_replay_session_device {
	cl_device_id id;      /* NULL: none */
	bool is_same;         /* the one that was recorded, by name, driver and platform */
	const char *name;     /* of the one that is used */
	const char *driver;   /* and its driver and platform */
	const char *recorded; /* the recorded name */
};

struct wti_replay_session {
	struct wti_replay_api cl;
	const struct wti_replay_plan *plan;
	struct wti_replay_session_how how;
	int store;
	struct wti_replay_session_object *objects;
	cl_command_queue *aside; /* of each context: a queue of our own */
	struct wti_replay_session_device devices[WTI_SESSION_DEVICES_MAX];
	uint64_t bytes; /* of memory that is alive */
	struct wti_arena texts;
};

/* WT_E_MISSING: there is no OpenCL, or no device at all. */
int wti_replay_session_open(struct wti_replay_session *session, const struct wti_replay_plan *plan,
			    int store, const struct wti_replay_session_how *how,
			    struct wt_err *err);
void wti_replay_session_close(struct wti_replay_session *session);
/* All objects are forgotten; the next use makes them as they were at first. */
void wti_replay_session_reset(struct wti_replay_session *session);

/* Whether every device is the recorded one. */
bool wti_replay_session_is_same(const struct wti_replay_session *session);

/* The object's handle, made at its first use. */
const char *wti_replay_session_object(struct wti_replay_session *session, uint32_t index,
				      void **ret_handle);
/* Nothing will use it any more. */
void wti_replay_session_release(struct wti_replay_session *session, uint32_t index);
/* A text of the session's own. */
const char *wti_replay_session_text(struct wti_replay_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- session_memory.c: contents, packed ------------------------------------------------------ */

/* 0: its content cannot be read. */
uint64_t wti_replay_session_bytes(const struct wti_replay_session *session, uint32_t object);
/* All of it, of so many bytes; waits. */
const char *wti_replay_session_get(struct wti_replay_session *session, uint32_t object, void *out);
const char *wti_replay_session_put(struct wti_replay_session *session, uint32_t object,
				   const void *content);
/* The same of what the program gave it, which for an image has the pitches of the program. */
const char *wti_replay_session_put_first(struct wti_replay_session *session, uint32_t object,
					 const void *content, uint64_t bytes);
/* An image as commands see it: its extents, and the bytes of an element. */
void wti_replay_session_extents(const struct wti_replay_session *session, uint32_t object,
				size_t ret_region[3], size_t *ret_element_bytes);
/* Bytes from the first to the last of a region in linear memory, pitches 0: packed; 0: too many. */
uint64_t wti_replay_session_box_bytes(const size_t region[3], size_t element_bytes, size_t row,
				      size_t slice);

/* ---- session_programs.c ---------------------------------------------------------------------- */

const char *wti_replay_session_make_program(struct wti_replay_session *session, uint32_t index,
					    void **ret);
const char *wti_replay_session_make_kernel(struct wti_replay_session *session, uint32_t index,
					   void **ret);
/* Whether the program of a kernel that was launched has atomic operations: then the order of its
 * work-items may matter. */
bool wti_replay_session_has_atomics(const struct wti_replay_session *session, uint32_t op);
/* The name of the type of an argument, as the driver has it: "float*"; "" if it does not say. */
const char *wti_replay_session_argument_type(struct wti_replay_session *session, uint32_t kernel,
					     int32_t argument);

/* ---- session_commands.c ---------------------------------------------------------------------- */

/* A command on its way. */
struct wti_replay_session_command {
	cl_event event;
	void *host; /* what it reads from or writes to */
	uint64_t host_bytes;
};

/* Enqueues an operation again, after these events. What it has must be given back. */
const char *wti_replay_session_enqueue(struct wti_replay_session *session, uint32_t op,
				       cl_uint wait_count, const cl_event *waits,
				       struct wti_replay_session_command *ret_command);
const char *wti_replay_session_wait(struct wti_replay_session *session,
				    struct wti_replay_session_command *command);
void wti_replay_session_done(struct wti_replay_session *session,
			     struct wti_replay_session_command *command);

#endif
