/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in a struct wt_err; knows which errno means which code. */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static void fill(struct wt_err *err, int code, int64_t offset,
						       const char *format, va_list args)
{
	if (!err)
		return;
	err->code = code;
	err->offset = offset;
	vsnprintf(err->message, sizeof(err->message), format, args);
}

int wti_err(struct wt_err *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code, -1, format, args);
	va_end(args);
	return code;
}

int wti_err_at(struct wt_err *err, int code, int64_t offset, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code, offset, format, args);
	va_end(args);
	return code;
}

static int code_of(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return WT_E_MISSING;
	case EEXIST:
		return WT_E_EXISTS;
	case ENOMEM:
		return WT_E_NOMEM;
	case EMFILE: /* of descriptors, processes, a file's size: a limit of the system */
	case ENFILE:
	case EAGAIN:
	case EFBIG:
		return WT_E_LIMIT;
	default:
		return WT_E_IO;
	}
}

int wti_err_errno(struct wt_err *err, const char *what, const char *subject)
{
	int error = errno;
	char text[128];

	/* The GNU strerror_r: thread-safe, and may return a text of its own. */
	return wti_err(err, code_of(error), "%s '%s': %s", what, subject,
		       strerror_r(error, text, sizeof(text)));
}
