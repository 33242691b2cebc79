/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: what they are made of, and how long building took. Their build options are recorded and
 * never changed.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text.h"

enum { SOURCE_BYTES_MAX = 64 << 20, BINARY_BYTES_MAX = 256 << 20, DEVICES_MAX = 64 };

/* What a program was made of: `flags` of its object. */
enum made_of { MADE_OF_SOURCE, MADE_OF_BINARY, MADE_OF_IL, MADE_OF_BUILT_IN, MADE_OF_PROGRAMS };

static void program_free(void *more)
{
	struct wti_cl_program *program = more;

	free(program->source);
	free(program);
}

static void program_add(cl_program handle, cl_context context, enum made_of made_of,
			const void *content, size_t bytes, char *source)
{
	struct wti_cl_program *program = calloc(1, sizeof(*program));

	if (!program) {
		free(source);
		return;
	}
	program->source = source;
	wti_cl_object_add(handle, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_PROGRAM,
						       .parent = wti_cl_object_id(context),
						       .bytes = bytes,
						       .flags = made_of,
						       .hash = wti_cl_content(content, bytes),
						       .more = program,
						       .more_free = program_free});
}

static size_t piece_bytes(const char **strings, const size_t *lengths, cl_uint i)
{
	return lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
}

/* All pieces as one text; NULL: too long. */
static char *join(cl_uint count, const char **strings, const size_t *lengths, size_t *ret_bytes)
{
	size_t bytes = 0;
	char *text;

	for (cl_uint i = 0; i < count; i++)
		bytes += piece_bytes(strings, lengths, i);
	text = bytes <= SOURCE_BYTES_MAX ? malloc(bytes + 1) : NULL;
	*ret_bytes = text ? bytes : 0;
	if (!text)
		return NULL;
	bytes = 0;
	for (cl_uint i = 0; i < count; i++) {
		memcpy(text + bytes, strings[i], piece_bytes(strings, lengths, i));
		bytes += piece_bytes(strings, lengths, i);
	}
	text[bytes] = 0;
	return text;
}

static cl_program CL_API_CALL layer_clCreateProgramWithSource(cl_context context, cl_uint count,
							      const char **strings,
							      const size_t *lengths, cl_int *status)
{
	cl_program handle =
		wti_cl.real.clCreateProgramWithSource(context, count, strings, lengths, status);
	size_t bytes;
	char *source;

	if (!handle)
		return handle;
	source = join(count, strings, lengths, &bytes);
	program_add(handle, context, MADE_OF_SOURCE, source, bytes, source);
	return handle;
}

static cl_program CL_API_CALL layer_clCreateProgramWithBinary(cl_context context, cl_uint count,
							      const cl_device_id *devices,
							      const size_t *lengths,
							      const unsigned char **binaries,
							      cl_int *each, cl_int *status)
{
	cl_program handle = wti_cl.real.clCreateProgramWithBinary(context, count, devices, lengths,
								  binaries, each, status);

	if (handle && count)
		program_add(handle, context, MADE_OF_BINARY, binaries[0], lengths[0], NULL);
	return handle;
}

static cl_program CL_API_CALL layer_clCreateProgramWithIL(cl_context context, const void *il,
							  size_t bytes, cl_int *status)
{
	cl_program handle = wti_cl.real.clCreateProgramWithIL(context, il, bytes, status);

	if (handle)
		program_add(handle, context, MADE_OF_IL, il, bytes, NULL);
	return handle;
}

static cl_program CL_API_CALL layer_clCreateProgramWithBuiltInKernels(cl_context context,
								      cl_uint count,
								      const cl_device_id *devices,
								      const char *names,
								      cl_int *status)
{
	cl_program handle = wti_cl.real.clCreateProgramWithBuiltInKernels(context, count, devices,
									  names, status);

	if (handle)
		program_add(handle, context, MADE_OF_BUILT_IN, names, strlen(names), NULL);
	return handle;
}

/* ---- Building -------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Options may name folders of the user: they are texts like any other, but for a replay. */
static void emit_built(const void *handle, const char *options, cl_int status, uint64_t begin_ns)
{
	struct wti_cl_object *object = wti_cl_object_get(handle);
	const uint64_t duration_ns = now_ns() - begin_ns;
	struct wti_kept_text kept;
	struct wti_cl_new about = {.flags = (uint64_t)(int64_t)status};

	if (!object)
		return;
	wti_keep_text(&kept, options);
	if (kept.bytes)
		about.name = wti_name_find(kept.data, kept.bytes);
	if (wti_cl.replayable && options) {
		about.details = options;
		about.details_bytes = (uint32_t)strnlen(options, WTI_TEXT_MAX);
	}
	wti_cl_object_emit(object, WT_DEVICE_OBJECT_PHASE_BUILT, &about, duration_ns);
	wti_cl_object_put(object);
}

static cl_int CL_API_CALL layer_clBuildProgram(cl_program program, cl_uint count,
					       const cl_device_id *devices, const char *options,
					       void(CL_CALLBACK *notify)(cl_program, void *),
					       void *data)
{
	struct wt_name *name = WT_NAME("clBuildProgram");
	const struct wti_here here = wti_cl_here();
	const uint64_t begin_ns = now_ns();
	cl_int status;

	if (!here.ring)
		return wti_cl.real.clBuildProgram(program, count, devices, options, notify, data);
	wti_cl_span_begin(here, name);
	status = wti_cl.real.clBuildProgram(program, count, devices, options, notify, data);
	emit_built(program, options, status, begin_ns);
	wti_cl_span_end(here, name);
	return status;
}

static cl_int CL_API_CALL layer_clCompileProgram(cl_program program, cl_uint count,
						 const cl_device_id *devices, const char *options,
						 cl_uint header_count, const cl_program *headers,
						 const char **header_names,
						 void(CL_CALLBACK *notify)(cl_program, void *),
						 void *data)
{
	struct wt_name *name = WT_NAME("clCompileProgram");
	const struct wti_here here = wti_cl_here();
	const uint64_t begin_ns = now_ns();
	cl_int status;

	if (here.ring)
		wti_cl_span_begin(here, name);
	status = wti_cl.real.clCompileProgram(program, count, devices, options, header_count,
					      headers, header_names, notify, data);
	if (!here.ring)
		return status;
	emit_built(program, options, status, begin_ns);
	wti_cl_span_end(here, name);
	return status;
}

/*
 * What came of it, for the first of its devices; NULL: not to be had, as of a link that goes on in
 * the background. Asking may make the driver compile more, so it is done for a replay only.
 */
static unsigned char *binary_of(cl_program program, size_t *ret_bytes)
{
	size_t sizes[DEVICES_MAX] = {0}, got = 0;
	unsigned char *binaries[DEVICES_MAX] = {NULL}, *binary;

	*ret_bytes = 0;
	if (!wti_cl.replayable ||
	    wti_cl.real.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes,
					 &got) != CL_SUCCESS ||
	    got < sizeof(*sizes) || !sizes[0] || sizes[0] > BINARY_BYTES_MAX)
		return NULL;
	binary = malloc(sizes[0]);
	binaries[0] = binary; /* others are not wanted: the driver passes over NULL */
	if (!binary || wti_cl.real.clGetProgramInfo(program, CL_PROGRAM_BINARIES, got, binaries,
						    NULL) != CL_SUCCESS) {
		free(binary);
		return NULL;
	}
	*ret_bytes = sizes[0];
	return binary;
}

static void linked_add(cl_program handle, cl_context context)
{
	size_t bytes;
	unsigned char *binary = binary_of(handle, &bytes);

	program_add(handle, context, MADE_OF_PROGRAMS, binary, bytes, NULL);
	free(binary);
}

static cl_program CL_API_CALL layer_clLinkProgram(cl_context context, cl_uint count,
						  const cl_device_id *devices, const char *options,
						  cl_uint input_count, const cl_program *inputs,
						  void(CL_CALLBACK *notify)(cl_program, void *),
						  void *data, cl_int *status)
{
	struct wt_name *name = WT_NAME("clLinkProgram");
	const struct wti_here here = wti_cl_here();
	const uint64_t begin_ns = now_ns();
	cl_program handle;

	if (here.ring)
		wti_cl_span_begin(here, name);
	handle = wti_cl.real.clLinkProgram(context, count, devices, options, input_count, inputs,
					   notify, data, status);
	if (!here.ring)
		return handle;
	if (handle) {
		linked_add(handle, context);
		emit_built(handle, options, CL_SUCCESS, begin_ns);
	}
	wti_cl_span_end(here, name);
	return handle;
}

/* A number that is put into the program when it is built: `flags` is which, `details` its bytes. */
static cl_int CL_API_CALL layer_clSetProgramSpecializationConstant(cl_program program, cl_uint id,
								   size_t bytes, const void *value)
{
	cl_int status = wti_cl.real.clSetProgramSpecializationConstant(program, id, bytes, value);
	struct wti_cl_object *object = status == CL_SUCCESS ? wti_cl_object_get(program) : NULL;

	if (object)
		wti_cl_object_emit(object, WT_DEVICE_OBJECT_PHASE_CHANGED,
				   &(struct wti_cl_new){.flags = id,
							.details = value,
							.details_bytes = (uint32_t)bytes},
				   0);
	wti_cl_object_put(object);
	return status;
}

void wti_cl_take_programs(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clCreateProgramWithSource);
	WTI_CL_TAKE(ours, clCreateProgramWithBinary);
	WTI_CL_TAKE(ours, clCreateProgramWithIL);
	WTI_CL_TAKE(ours, clCreateProgramWithBuiltInKernels);
	WTI_CL_TAKE(ours, clBuildProgram);
	WTI_CL_TAKE(ours, clCompileProgram);
	WTI_CL_TAKE(ours, clLinkProgram);
	WTI_CL_TAKE(ours, clSetProgramSpecializationConstant);
}
