/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call as text, in strace's notation:
 *
 *   openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3
 *   read(3, 0x7ffd1c3d, 100) = -1 EIO (Input/output error)
 *
 * What was not captured, or is not whole, is shown as the address that the program gave. Pieces
 * come from a file: their lengths are checked before anything is read from them.
 */
#ifndef WTI_SYSCALL_DECODE_H
#define WTI_SYSCALL_DECODE_H

#include "base/buf.h"
#include "record.h"

/* Names for descriptors, shown behind them as strace -y does: 3</etc/hosts>. */
struct wti_decode_files {
	/* The object behind `fd`, AT_FDCWD included, or false: not known. Bytes as they are. */
	bool (*name)(const void *opaque, int32_t fd, struct wt_text *ret_name);
	const void *opaque;
};

struct wti_decode_options {
	size_t string_max;                    /* bytes of strings and items of arrays; 0: 32 */
	const struct wti_decode_files *files; /* NULL: only numbers */
};

/* "read", or "syscall_0x1ff" where nobody knows the name. */
#define WTI_CALL_LABEL_BYTES 32
const char *wti_call_label(char out[WTI_CALL_LABEL_BYTES], uint32_t arch, uint32_t nr);

/* `openat(AT_FDCWD, "x", O_RDONLY)`; `read(3,  <unfinished ...>)` if it never returned. */
void wti_decode_call(struct wti_buf *out, const struct wti_syscall *call,
		     const struct wti_decode_options *options);
/* One argument alone; false if strace would not show it for this call. */
bool wti_decode_argument(struct wti_buf *out, const struct wti_syscall *call, unsigned i,
			 const struct wti_decode_options *options);
/* `3`, `-1 ENOENT (No such file or directory)`, `0 (Timeout)`, `?` */
void wti_decode_result(struct wti_buf *out, const struct wti_syscall *call,
		       const struct wti_decode_options *options);
/* ` = ` at strace's column, counted from `begin` in `out`. */
void wti_decode_pad(struct wti_buf *out, size_t begin);
/* All three. */
void wti_decode_line(struct wti_buf *out, size_t begin, const struct wti_syscall *call,
		     const struct wti_decode_options *options);

/* {si_signo=SIGCHLD, si_code=CLD_EXITED, ...}; of the first bytes of a siginfo, 48 at least. */
#define WTI_SIGINFO_BYTES 48
void wti_decode_siginfo(struct wti_buf *out, const uint8_t *info);

/* SIGCHLD, SIGRTMIN, SIGRT_1, 99 */
#define WTI_SIGNAL_LABEL_BYTES 16
const char *wti_signal_label(char out[WTI_SIGNAL_LABEL_BYTES], uint32_t signal);
/* ENOENT; NULL for numbers that are no errors. */
const char *wti_errno_name(uint32_t number);

#endif
