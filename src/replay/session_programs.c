/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs and kernels. Source is handed to the driver's compiler with the recorded options. A
 * binary is native code, which nobody can read before it runs: it has to be named.
 */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay.h"
#include "store.h"

enum { MADE_OF_SOURCE, MADE_OF_BINARY, MADE_OF_IL, MADE_OF_BUILT_IN, MADE_OF_PROGRAMS };
enum { LOG_BYTES = 400, TYPE_BYTES = 128, DEVICES_MAX = WTI_SESSION_DEVICES_MAX };
#define ARGUMENT_INFO " -cl-kernel-arg-info"

static cl_uint devices_of(const struct wti_replay_session *session, cl_device_id ids[DEVICES_MAX])
{
	cl_uint count = 0;

	for (size_t i = 0; i < DEVICES_MAX; i++) {
		bool is_new = session->devices[i].id;

		for (cl_uint k = 0; is_new && k < count; k++)
			is_new = ids[k] != session->devices[i].id;
		if (is_new)
			ids[count++] = session->devices[i].id;
	}
	return count;
}

static cl_program create(struct wti_replay_session *session,
			 const struct wti_replay_plan_object *object, cl_context context,
			 const struct wti_buf *content, cl_int *ret_status)
{
	const unsigned char *data = content->data;
	const char *source = (const char *)content->data;
	cl_device_id ids[DEVICES_MAX];
	size_t bytes = content->bytes;

	switch (object->flags) {
	case MADE_OF_SOURCE:
		return session->cl.clCreateProgramWithSource(context, 1, &source, &bytes,
							     ret_status);
	case MADE_OF_BINARY:
	case MADE_OF_PROGRAMS:
		devices_of(session, ids);
		return session->cl.clCreateProgramWithBinary(context, 1, ids, &bytes, &data, NULL,
							     ret_status);
	case MADE_OF_IL:
		return session->cl.clCreateProgramWithIL
			       ? session->cl.clCreateProgramWithIL(context, data, bytes, ret_status)
			       : NULL;
	default:
		return NULL;
	}
}

static const char *build_error(struct wti_replay_session *session, cl_program program,
			       cl_int status)
{
	cl_device_id ids[DEVICES_MAX];
	char log[LOG_BYTES] = "";
	size_t bytes = 0;

	if (devices_of(session, ids))
		session->cl.clGetProgramBuildInfo(program, ids[0], CL_PROGRAM_BUILD_LOG, 0, NULL,
						  &bytes);
	if (bytes && bytes < sizeof(log))
		session->cl.clGetProgramBuildInfo(program, ids[0], CL_PROGRAM_BUILD_LOG,
						  sizeof(log) - 1, log, NULL);
	return wti_replay_session_text(session, "its program does not compile here: error %d %s",
				       status, log);
}

/* atomic_add, atom_cmpxchg, atomic_fetch_add_explicit ... */
static bool has_atomics(const struct wti_replay_plan_object *object, const struct wti_buf *content)
{
	return object->flags == MADE_OF_SOURCE && content->bytes &&
	       memmem(content->data, content->bytes, "atom", strlen("atom"));
}

static const char *build(struct wti_replay_session *session, uint32_t index, const char *options,
			 void **ret)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];
	void *context = session->objects[object->parent].handle;
	struct wti_buf content;
	cl_int status = CL_INVALID_OPERATION;
	const char *why;

	wti_buf_init(&content, SIZE_MAX);
	why = wti_replay_store_read(session->store, object->hash, 0, &content);
	if (!why) {
		session->objects[index].has_atomics = has_atomics(object, &content);
		*ret = create(session, object, context, &content, &status);
		if (!*ret)
			why = wti_replay_session_text(session, "no program: error %d", status);
	}
	wti_buf_release(&content);
	if (why)
		return why;
	status = session->cl.clBuildProgram(*ret, 0, NULL, options, NULL, NULL);
	return status == CL_SUCCESS ? NULL : build_error(session, *ret, status);
}

const char *wti_replay_session_make_program(struct wti_replay_session *session, uint32_t index,
					    void **ret)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];

	if (object->flags == MADE_OF_BUILT_IN)
		return "its program has kernels that are built into a driver";
	if (object->flags == MADE_OF_PROGRAMS && !object->hash)
		return "its program was linked of several, and what came of it was not kept";
	if (object->is_specialised)
		return "its program has specialization constants, which a replay does not set";
	if (object->flags != MADE_OF_SOURCE &&
	    !(session->how.binaries && wti_replay_is_named(session->how.binaries, object->hash)))
		return wti_replay_session_text(
			session,
			"its program is native code, which is not run unless --yes "
			"has ,%016" PRIx64 " behind its code",
			object->hash);
	/* What was linked is complete: its options were the linker's. */
	return build(session, index,
		     object->options && object->flags != MADE_OF_PROGRAMS ? object->options : "",
		     ret);
}

bool wti_replay_session_has_atomics(const struct wti_replay_session *session, uint32_t op)
{
	const struct wti_replay_plan *plan = session->plan;
	const struct wti_replay_plan_access *code =
		wti_replay_plan_access(plan, &plan->ops[op], WT_ACCESS_MODE_CODE, false);
	uint32_t program = code && code->object != WTI_PLAN_NONE
				   ? plan->objects[code->object].parent
				   : WTI_PLAN_NONE;

	return program != WTI_PLAN_NONE && session->objects[program].has_atomics;
}

const char *wti_replay_session_make_kernel(struct wti_replay_session *session, uint32_t index,
					   void **ret)
{
	const struct wti_replay_plan_object *object = &session->plan->objects[index];
	cl_int status;

	*ret = session->cl.clCreateKernel(session->objects[object->parent].handle, object->name,
					  &status);
	return *ret ? NULL
		    : wti_replay_session_text(session, "there is no such kernel: error %d", status);
}

/* ---- Types of arguments ---------------------------------------------------------------------- */

static bool ask_type(struct wti_replay_session *session, cl_kernel kernel, int32_t argument,
		     char out[TYPE_BYTES])
{
	return session->cl.clGetKernelArgInfo(kernel, (cl_uint)argument, CL_KERNEL_ARG_TYPE_NAME,
					      TYPE_BYTES - 1, out, NULL) == CL_SUCCESS;
}

/* A build of its own, so that asking changes nothing of what is executed. */
static bool ask_other_build(struct wti_replay_session *session,
			    const struct wti_replay_plan_object *kernel, int32_t argument,
			    char out[TYPE_BYTES])
{
	const struct wti_replay_plan_object *program = &session->plan->objects[kernel->parent];
	const char *options = wti_replay_session_text(session, "%s" ARGUMENT_INFO,
						      program->options ? program->options : "");
	void *other = NULL;
	cl_kernel asked = NULL;
	bool is_known = false;
	cl_int status;

	if (program->flags == MADE_OF_SOURCE && !build(session, kernel->parent, options, &other))
		asked = session->cl.clCreateKernel(other, kernel->name, &status);
	if (asked) {
		is_known = ask_type(session, asked, argument, out);
		session->cl.clReleaseKernel(asked);
	}
	if (other)
		session->cl.clReleaseProgram(other);
	return is_known;
}

const char *wti_replay_session_argument_type(struct wti_replay_session *session, uint32_t kernel,
					     int32_t argument)
{
	char text[TYPE_BYTES] = "";
	void *handle;

	if (argument < 0 || wti_replay_session_object(session, kernel, &handle))
		return "";
	if (!ask_type(session, handle, argument, text) &&
	    !ask_other_build(session, &session->plan->objects[kernel], argument, text))
		return "";
	return wti_replay_session_text(session, "%s", text);
}
