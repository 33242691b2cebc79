/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in a struct wt_err. Every function takes NULL for an err that nobody wants to see. */
#ifndef WTI_BASE_ERR_H
#define WTI_BASE_ERR_H

#include <wheeltap/err.h>

/* Returns `code`, so that a failing function can end with it. */
int wti_err(struct wt_err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int wti_err_at(struct wt_err *err, int code, int64_t offset, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* "<what> '<subject>': <strerror(errno)>" with code WT_E_IO (or _MISSING, _EXISTS, _NOMEM, _LIMIT).
 */
int wti_err_errno(struct wt_err *err, const char *what, const char *subject);

#endif
