/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of each system call: its name and number, the classes it belongs to, the types of
 * its arguments, and from these what memory of the caller has to be read to show them.
 *
 * Names and numbers come from the kernel's headers, types from schema/syscalls.txt, both at build
 * time. A capture asks wti_call_reads() once for each number, keeps the answer in a table of its
 * own, and stores each piece of memory with its address. A decoder then finds what a pointer points
 * to by address, so the two need not agree on anything but the pieces.
 */
#ifndef WTI_SYSCALL_TABLE_H
#define WTI_SYSCALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in the trace: 0 is never written. */
enum wti_arch {
	WTI_ARCH_X86_64 = 1,
	WTI_ARCH_AARCH64 = 2,
	WTI_ARCH_I386 = 3, /* names only; see compat.h */
};

#if defined(__x86_64__)
#define WTI_ARCH_HERE WTI_ARCH_X86_64
#elif defined(__aarch64__)
#define WTI_ARCH_HERE WTI_ARCH_AARCH64
#endif

#define WTI_CALL_ARGS 6
/* Numbers are below this; bits of a set, entries of a table. */
#define WTI_CALLS_MAX 1024

/* ---- Names ----------------------------------------------------------------------------------- */

/* NULL if the headers of the build did not know it: then it is shown as syscall_0x1ff. */
const char *wti_call_name(enum wti_arch arch, uint32_t nr);
/* -1 if there is no such call on this architecture. */
int wti_call_number(enum wti_arch arch, const char *name);

/* ---- What memory to read --------------------------------------------------------------------- */

enum wti_read_kind {
	/* `length` bytes from the argument on. */
	WTI_READ_BYTES = 1,
	/* Up to a NUL, which is kept if it is within bytes_max. A piece that ends without is cut.
	 */
	WTI_READ_STRING,
	/* Pointers up to NULL, bytes_max of them together: one piece. Then, unless unit_bytes is 0,
	 * a string of at most unit_bytes for each of the first WTI_READ_STRINGS_MAX pointers. */
	WTI_READ_STRINGS,
	/* struct iovec[length / 16]: one piece of at most WTI_READ_IOVECS_MAX entries; then what
	 * they point to, together at most bytes_max bytes and at exit no more than the result. */
	WTI_READ_IOVEC,
	/* struct msghdr (56 bytes): one piece; then msg_name (at most 128 bytes), msg_iov as
	 * WTI_READ_IOVEC, msg_control (at most 256 bytes). */
	WTI_READ_MSGHDR,
};

#define WTI_READ_STRINGS_MAX 32
#define WTI_READ_IOVECS_MAX 32

/* How long it is, before bytes_max bounds it. */
enum wti_read_length {
	WTI_LENGTH_FIXED = 0, /* unit_bytes */
	WTI_LENGTH_ARG,       /* unit_bytes times the argument length_arg */
	WTI_LENGTH_RESULT,    /* unit_bytes times the result; nothing if that is negative */
	WTI_LENGTH_POINTED,   /* the 32-bit number that the argument length_arg points to, now */
	WTI_LENGTH_BITS,      /* as many 64-bit words as the argument length_arg has bits */
};

enum wti_read_when {
	WTI_AT_ENTRY = 1, /* before the kernel may change it. Never changed: may be read at exit */
	WTI_AT_EXIT = 2,  /* only if the call did not fail, unless WTI_READ_ON_ERROR */
};

enum wti_read_flags {
	WTI_READ_ON_ERROR = 1, /* at exit, whatever the result */
	/* What is read at entry is not written to by the call, so that reading it at exit, when its
	 * pages are surely there, gives the same. The piece is still WTI_AT_ENTRY. */
	WTI_READ_CONSTANT = 2,
	/* What the program reads and writes, rather than what it asks the kernel for: contents of
	 * files and messages. A capture that keeps such things private leaves these out; of
	 * WTI_READ_IOVEC and WTI_READ_MSGHDR only what iov_base points to is meant. */
	WTI_READ_CONTENT = 4,
	/* Pointers, and the entries of vectors and messages, are those of a 32-bit program. */
	WTI_READ_NARROW = 8,
};

struct wti_read {
	uint8_t arg;        /* whose value is the address; NULL is never read */
	uint8_t kind;       /* enum wti_read_kind */
	uint8_t when;       /* enum wti_read_when */
	uint8_t flags;      /* enum wti_read_flags */
	uint8_t length;     /* enum wti_read_length */
	uint8_t length_arg; /* WTI_LENGTH_ARG, POINTED, BITS */
	uint8_t if_arg;     /* only if this argument, masked, is if_value; 0xff: always */
	uint16_t unit_bytes;
	uint16_t bytes_max;
	uint32_t if_mask;
	uint32_t if_value;
};

#define WTI_READS_MAX 12
#define WTI_READ_ALWAYS 0xff
/* Strings that are names for the kernel: paths and the like. Longer ones are cut. */
#define WTI_READ_PATH_MAX 4096
/* Of contents and of strings of argv. strace shows 32 bytes; more is of no use to a table. */
#define WTI_READ_CONTENT_MAX 256

/* How many reads there are for this call, at most WTI_READS_MAX; 0 for a number nobody knows. */
size_t wti_call_reads(enum wti_arch arch, uint32_t nr, struct wti_read reads[WTI_READS_MAX]);

/* ---- One call and the memory read for it ----------------------------------------------------- */

struct wti_piece {
	uint64_t address;
	const uint8_t *data;
	uint32_t bytes; /* as many as could be read */
	uint8_t when;   /* enum wti_read_when */
};

#endif
