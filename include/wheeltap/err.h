/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How wheeltap's libraries say what went wrong: a negative code, and for those who pass a
 * struct wt_err a sentence (lower case, the failure first, the subject in quotes, then what to do)
 * and the byte where it happened.
 */
#ifndef WHEELTAP_ERR_H
#define WHEELTAP_ERR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wt_code {
	WT_OK = 0,
	WT_E_IO = -1,      /* the system refused; errno is in the message */
	WT_E_FORMAT = -2,  /* not what the format allows: damaged or foreign */
	WT_E_VERSION = -3, /* made by a newer wheeltap */
	WT_E_LIMIT = -4,   /* a ceiling was reached */
	WT_E_NOMEM = -5,
	WT_E_ARG = -6,     /* the caller's mistake */
	WT_E_MISSING = -7, /* does not exist */
	WT_E_EXISTS = -8,  /* exists already */
	WT_E_BUSY = -9,    /* in use by another process */
};

struct wt_err {
	int code;       /* enum wt_code */
	int64_t offset; /* byte in the file, or -1 */
	char message[512];
};

#ifdef __cplusplus
}
#endif
#endif
