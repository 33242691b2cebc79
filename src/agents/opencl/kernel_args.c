/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of kernels. They are remembered when they are set and emitted when the kernel is
 * launched, as that is when the driver takes them. What is a handle is found among the known
 * objects; what a kernel may do with memory is found in its declaration and in the flags of the
 * object, and is `both` where neither says less.
 */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "signature.h"

static bool is_memory(uint32_t type)
{
	return type == WT_DEVICE_OBJECT_TYPE_BUFFER || type == WT_DEVICE_OBJECT_TYPE_SUB_BUFFER ||
	       type == WT_DEVICE_OBJECT_TYPE_IMAGE || type == WT_DEVICE_OBJECT_TYPE_PIPE;
}

static uint32_t mode_of(uint32_t declared, uint64_t flags)
{
	if (declared == WT_ACCESS_MODE_READ || declared == WT_ACCESS_MODE_WRITE)
		return declared;
	if (flags & CL_MEM_READ_ONLY)
		return WT_ACCESS_MODE_READ;
	return flags & CL_MEM_WRITE_ONLY ? WT_ACCESS_MODE_WRITE : WT_ACCESS_MODE_BOTH;
}

/* Empty again, but for what its declaration says. */
static void clear(struct wti_cl_argument *argument)
{
	free(argument->value);
	*argument = (struct wti_cl_argument){.mode = argument->mode};
}

static void set_memory(struct wti_cl_argument *argument, const struct wti_cl_object *object)
{
	argument->type = WTI_CL_ARGUMENT_MEMORY;
	argument->used_mode = mode_of(argument->mode, object->flags);
	argument->object = object->root;
	argument->sub = object->root == object->id ? 0 : object->id;
	argument->offset = object->offset;
	argument->bytes = object->bytes;
}

/* With --replayable a copy: the program may change its own at once. */
static void set_value(struct wti_cl_argument *argument, size_t bytes, const void *value,
		      uint64_t object)
{
	argument->type = WTI_CL_ARGUMENT_VALUE;
	argument->bytes = bytes;
	argument->object = object;
	if (!wti_cl.replayable || bytes > WTI_TEXT_MAX)
		return;
	argument->value = malloc(bytes);
	if (argument->value)
		memcpy(argument->value, value, bytes);
}

void wti_cl_argument_set(struct wti_cl_kernel *kernel, uint32_t index, size_t bytes,
			 const void *value)
{
	struct wti_cl_argument *argument;
	struct wti_cl_object *object = NULL;
	void *handle;

	if (index >= kernel->argument_count)
		return;
	argument = &kernel->arguments[index];
	clear(argument);
	if (!value) {
		argument->type = WTI_CL_ARGUMENT_LOCAL;
		argument->bytes = bytes;
		return;
	}
	if (bytes == sizeof(handle)) {
		memcpy(&handle, value, sizeof(handle));
		object = wti_cl_object_get(handle);
	}
	if (object && is_memory(object->type))
		set_memory(argument, object);
	else
		set_value(argument, bytes, value, object ? object->id : 0);
	wti_cl_object_put(object);
}

void wti_cl_argument_svm(struct wti_cl_kernel *kernel, uint32_t index, const void *pointer)
{
	const struct wti_cl_place place = wti_cl_svm_find(pointer);
	struct wti_cl_argument *argument;

	if (index >= kernel->argument_count)
		return;
	argument = &kernel->arguments[index];
	clear(argument);
	argument->type = WTI_CL_ARGUMENT_MEMORY;
	argument->used_mode = mode_of(argument->mode, place.flags);
	argument->object = place.object;
	argument->offset = place.offset;
	argument->bytes = place.bytes;
	if (place.flags & CL_MEM_SVM_FINE_GRAIN_BUFFER)
		argument->fine = pointer;
}

bool wti_cl_arguments_copy(struct wti_cl_kernel *to, const struct wti_cl_kernel *from)
{
	to->arguments = calloc(from->argument_count + 1, sizeof(*to->arguments));
	if (!to->arguments)
		return false;
	to->argument_count = from->argument_count;
	memcpy(to->indirect, from->indirect, sizeof(to->indirect));
	to->indirect_count = from->indirect_count;
	for (uint32_t i = 0; i < from->argument_count; i++) {
		struct wti_cl_argument *argument = &to->arguments[i];

		*argument = from->arguments[i];
		argument->value = NULL;
		if (from->arguments[i].value)
			set_value(argument, argument->bytes, from->arguments[i].value,
				  argument->object);
	}
	return true;
}

void wti_cl_arguments_free(struct wti_cl_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->argument_count; i++)
		free(kernel->arguments[i].value);
	free(kernel->arguments);
}

/* ---- At a launch ----------------------------------------------------------------------------- */

static void emit_memory(struct wti_cl_command *command, const struct wti_cl_argument *argument,
			int32_t index)
{
	struct wti_record_device_access row = {.mode = argument->used_mode,
					       .argument = index,
					       .object = argument->object,
					       .offset = argument->offset,
					       .bytes = argument->bytes};

	if (argument->sub)
		row.value_bytes = sizeof(argument->sub);
	if (wti_cl.replayable && argument->fine)
		row.hash = wti_cl_content(argument->fine, argument->bytes);
	wti_cl_command_access(command, &row, &argument->sub);
}

/* Of a sampler or another object its number, otherwise the bytes. */
static void emit_other(struct wti_cl_command *command, const struct wti_cl_argument *argument,
		       int32_t index)
{
	struct wti_record_device_access row = {
		.mode = argument->type == WTI_CL_ARGUMENT_LOCAL ? WT_ACCESS_MODE_LOCAL
								: WT_ACCESS_MODE_VALUE,
		.argument = index,
		.object = argument->object,
		.bytes = argument->bytes,
		.value_bytes = argument->value ? (uint32_t)argument->bytes : 0};

	wti_cl_command_access(command, &row, argument->value);
}

static void emit_indirect(struct wti_cl_command *command, const void *pointer)
{
	const struct wti_cl_place place = wti_cl_svm_find(pointer);
	const struct wti_cl_argument argument = {
		.used_mode = WT_ACCESS_MODE_BOTH,
		.object = place.object,
		.offset = place.offset,
		.bytes = place.bytes,
		.fine = place.flags & CL_MEM_SVM_FINE_GRAIN_BUFFER ? pointer : NULL};

	if (place.object)
		emit_memory(command, &argument, -1);
}

void wti_cl_arguments_emit(struct wti_cl_command *command, const struct wti_cl_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->argument_count; i++) {
		const struct wti_cl_argument *argument = &kernel->arguments[i];

		if (argument->type == WTI_CL_ARGUMENT_MEMORY)
			emit_memory(command, argument, (int32_t)i);
		else if (wti_cl.replayable && argument->type != WTI_CL_ARGUMENT_NONE)
			emit_other(command, argument, (int32_t)i);
	}
	for (uint32_t i = 0; i < kernel->indirect_count; i++)
		emit_indirect(command, kernel->indirect[i]);
}

/* ---- Declarations ---------------------------------------------------------------------------- */

static bool ask(cl_kernel handle, cl_uint index, cl_kernel_arg_info which, size_t bytes, void *out)
{
	return wti_cl.real.clGetKernelArgInfo &&
	       wti_cl.real.clGetKernelArgInfo(handle, index, which, bytes, out, NULL) == CL_SUCCESS;
}

/* What the driver knows, if the program was built with -cl-kernel-arg-info. */
static bool ask_driver(cl_kernel handle, cl_uint index, uint32_t *ret_mode)
{
	cl_kernel_arg_address_qualifier address;
	cl_kernel_arg_access_qualifier access;
	cl_kernel_arg_type_qualifier type;

	if (!ask(handle, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address), &address) ||
	    !ask(handle, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(type), &type) ||
	    !ask(handle, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access))
		return false;
	if (address == CL_KERNEL_ARG_ADDRESS_CONSTANT || type & CL_KERNEL_ARG_TYPE_CONST ||
	    access == CL_KERNEL_ARG_ACCESS_READ_ONLY)
		*ret_mode = WT_ACCESS_MODE_READ;
	else if (access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY)
		*ret_mode = WT_ACCESS_MODE_WRITE;
	else
		*ret_mode = WT_ACCESS_MODE_BOTH;
	return true;
}

void wti_cl_arguments_declared(struct wti_cl_kernel *kernel, cl_kernel handle, const char *source)
{
	uint32_t *modes = calloc(kernel->argument_count + 1, sizeof(*modes));
	bool is_known = kernel->argument_count > 0;

	for (uint32_t i = 0; modes && is_known && i < kernel->argument_count; i++)
		is_known = ask_driver(handle, i, &modes[i]);
	if (modes && !is_known && source)
		is_known =
			wti_cl_signature(source, kernel->name->text, kernel->argument_count, modes);
	for (uint32_t i = 0; modes && is_known && i < kernel->argument_count; i++)
		kernel->arguments[i].mode = modes[i];
	free(modes);
}
