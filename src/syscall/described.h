/* SPDX-License-Identifier: Apache-2.0 */
/* The generated tables (schema/syscalls.py): what stands behind table.h, expr.h and decode.h. */
#ifndef WTI_SYSCALL_DESCRIBED_H
#define WTI_SYSCALL_DESCRIBED_H

#include "syscall_flags.h"
#include "syscall_types.h"
#include "table.h"

enum wti_class {
	WTI_CLASS_F = 1,   /* %file */
	WTI_CLASS_D = 2,   /* %desc */
	WTI_CLASS_N = 4,   /* %network */
	WTI_CLASS_P = 8,   /* %process */
	WTI_CLASS_M = 16,  /* %memory */
	WTI_CLASS_S = 32,  /* %signal */
	WTI_CLASS_I = 64,  /* %ipc */
	WTI_CLASS_C = 128, /* %creds */
	WTI_CLASS_K = 256, /* %clock */
};

struct wti_arg {
	uint8_t type;  /* enum wti_type */
	uint8_t other; /* another argument, which gives the length */
	uint16_t set;  /* enum wti_flag_set */
};

struct wti_described {
	const char *name;
	uint16_t classes; /* enum wti_class */
	uint8_t arg_count;
	uint8_t result; /* enum wti_result */
	struct wti_arg args[WTI_CALL_ARGS];
};

/* A number that the headers know. */
struct wti_named {
	const char *name; /* NULL: a hole in the numbers */
	int16_t call; /* in wti_calls, or -1: shown raw. Of i386: the number of this name on x86_64
		       */
};

extern const struct wti_described wti_calls[];
extern const uint32_t wti_calls_count;
extern const struct wti_named wti_named_x86_64[];
extern const uint32_t wti_named_x86_64_count;
extern const struct wti_named wti_named_aarch64[];
extern const uint32_t wti_named_aarch64_count;
extern const struct wti_named wti_named_i386[];
extern const uint32_t wti_named_i386_count;
extern const char *const wti_errno_names[];
extern const uint32_t wti_errno_count;
extern const char *const wti_signal_names[];
extern const uint32_t wti_signal_count;

/* NULL: nobody knows this number. */
const struct wti_named *wti_named(enum wti_arch arch, uint32_t nr);
/* NULL: it is shown with six raw values. */
const struct wti_described *wti_described(enum wti_arch arch, uint32_t nr);
uint32_t wti_named_count(enum wti_arch arch);

#endif
