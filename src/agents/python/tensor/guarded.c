/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory that another thread may give back at any moment. A thread that runs an operation
 * of torch does not hold the interpreter's lock, and may resize or free a tensor while we read it.
 * The kernel is asked to copy then: it answers with an error where a load would kill the program.
 * No handler for SIGSEGV would do, because signals belong to the program.
 */
#include "own.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PARTS = 256 }; /* that are copied by one call */

/* Another Python thread, if there is one, may be in the middle of an operation. */
bool wti_must_guard(void)
{
	PyThreadState *first = PyInterpreterState_ThreadHead(PyThreadState_Get()->interp);

	return first && PyThreadState_Next(first);
}

static void emit_forbidden(void)
{
	static const char text[] = "tensors_read_unguarded process_vm_readv_is_forbidden";
	const struct wti_here here = wti_here();
	const uint32_t bytes =
		(uint32_t)sizeof(struct wti_record_log) + wti_round8(sizeof(text) - 1);
	struct wti_record_log *record = here.ring ? wti_open(here, WT_KIND_LOG, bytes) : NULL;

	if (!record)
		return;
	memset(record + 1, 0, bytes - sizeof(*record));
	memcpy(record + 1, text, sizeof(text) - 1);
	record->level = WT_LEVEL_WARNING;
	record->text_bytes = sizeof(text) - 1;
	wti_commit(here, bytes);
}

/* Some sandboxes forbid the call: then there is nothing better than to read, and that is emitted.
 */
static bool is_forbidden(int error)
{
	if (error != ENOSYS && error != EPERM && error != EACCES)
		return false;
	wti_tensor_state.is_guard_forbidden = true;
	emit_forbidden();
	return true;
}

static ssize_t copy_by_kernel(const struct iovec *here, const struct iovec *there, size_t count)
{
	ssize_t n;

	wti_own_begin();
	n = process_vm_readv(getpid(), here, 1, there, count, 0);
	wti_own_end();
	return n;
}

bool wti_guarded_copy(void *to, const void *from, size_t bytes)
{
	struct iovec here = {to, bytes};
	struct iovec there = {(void *)(uintptr_t)from, bytes};
	int saved_errno = errno;

	while (here.iov_len && !wti_tensor_state.is_guard_forbidden) {
		ssize_t n = copy_by_kernel(&here, &there, 1);

		if (n <= 0 && !(n < 0 && is_forbidden(errno))) {
			errno = saved_errno;
			return false;
		}
		if (n <= 0)
			break;
		here.iov_base = (char *)here.iov_base + n;
		there.iov_base = (char *)there.iov_base + n;
		here.iov_len = there.iov_len -= (size_t)n;
	}
	memcpy(here.iov_base, there.iov_base, here.iov_len);
	errno = saved_errno;
	return true;
}

static bool gather_part(char *to, const char *from, size_t count, int64_t stride, size_t item_bytes)
{
	struct iovec here = {to, count * item_bytes};
	struct iovec there[PARTS];
	int saved_errno = errno;
	ssize_t n;

	for (size_t i = 0; i < count; i++)
		there[i] =
			(struct iovec){(void *)(uintptr_t)(from + (int64_t)i * stride), item_bytes};
	n = copy_by_kernel(&here, there, count);
	errno = saved_errno;
	return n == (ssize_t)(count * item_bytes);
}

bool wti_guarded_gather(char *to, const char *from, size_t count, int64_t stride, size_t item_bytes)
{
	if (stride == (int64_t)item_bytes)
		return wti_guarded_copy(to, from, count * item_bytes);
	for (size_t at = 0; at < count; at += PARTS) {
		size_t n = count - at < PARTS ? count - at : PARTS;

		if (!gather_part(to + at * item_bytes, from + (int64_t)at * stride, n, stride,
				 item_bytes))
			return false;
	}
	return true;
}
