/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions that show a type of argument work with (types_*.c). Each is called with the
 * position of its argument; false means that this call does not have it.
 */
#ifndef WTI_SYSCALL_SHOW_H
#define WTI_SYSCALL_SHOW_H

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "decode.h"
#include "described.h"
#include "layout.h"

#define WTI_STRING_MAX_DEFAULT 32

/* One call, while it is shown. */
struct wti_show {
	struct wti_buf *out;
	const struct wti_syscall *call;
	const struct wti_described *what; /* NULL: nothing is known of it */
	const struct wti_decode_options *options;
	size_t string_max;
	bool returned;
	bool failed; /* the result is an error */
	bool cut;    /* it has not returned, and what follows is not known before */
};

#define WTI_SHOW(show, ...) wti_buf_printf((show)->out, __VA_ARGS__)

static inline uint64_t wti_arg64(const struct wti_show *show, unsigned i)
{
	return show->call->args[i];
}

/* As the kernel takes an int: the upper half is noise. */
static inline uint32_t wti_arg32(const struct wti_show *show, unsigned i)
{
	return (uint32_t)show->call->args[i];
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What stood there; NULL unless all `bytes` were captured. */
const uint8_t *wti_memory(const struct wti_show *show, uint64_t address, size_t bytes,
			  uint8_t when);
/* From there to the end of the piece; NULL if there is none. */
const uint8_t *wti_memory_from(const struct wti_show *show, uint64_t address, uint8_t when,
			       size_t *ret_bytes);
/* What argument `i` points to. If it is not there, the address is shown, and NULL. */
const uint8_t *wti_pointed(struct wti_show *show, unsigned i, size_t bytes, uint8_t when);
/* Whether what the call fills is filled. If it failed the address is shown. */
bool wti_filled(struct wti_show *show, unsigned i);

/*
 * An array, entry by entry, between brackets and commas; what was not captured, or is more than is
 * shown of a text, as dots. If it is not there, the address is shown, and there are no entries.
 */
struct wti_array {
	const uint8_t *at;
	size_t bytes; /* from there on */
	size_t entry_bytes;
	uint64_t count;
	uint64_t shown;
	bool is_open;
};
void wti_array_begin(struct wti_show *show, uint64_t address, uint64_t count, uint8_t when,
		     size_t entry_bytes, struct wti_array *ret_array);
/* NULL: that was the last. */
const uint8_t *wti_array_next(struct wti_show *show, struct wti_array *array);

/* ---- Values ---------------------------------------------------------------------------------- */

void wti_say_address(struct wti_show *show, uint64_t address); /* NULL or 0x7f00 */
void wti_say_fd(struct wti_show *show, int32_t fd);
void wti_say_id(struct wti_show *show, uint32_t id); /* -1: not changed */
void wti_say_signal(struct wti_show *show, uint32_t signal);
void wti_say_mode(struct wti_show *show, uint32_t mode); /* S_IFREG|0644 */
void wti_say_device(struct wti_show *show, uint64_t device);
/* One of a set, or `0x12 / * WHAT_??? * /`. */
void wti_say_enum(struct wti_show *show, const struct wti_flags *set, uint64_t value);
/* NULL if the value has none. */
const char *wti_flag_name(const struct wti_flags *set, uint64_t value);
/* All of a set that are in it, and the rest. */
void wti_say_flags(struct wti_show *show, const struct wti_flags *set, uint64_t value);
/* The same behind something else: `|A|B|0x40`. */
void wti_say_more_flags(struct wti_show *show, const struct wti_flags *set, uint64_t value);

/* ---- Text ------------------------------------------------------------------------------------ */

/* "abc"; non-printable bytes as strace writes them. */
void wti_say_quoted(struct wti_show *show, const uint8_t *data, size_t bytes);
/* `bytes` of content at `address`, as many as are wanted: "abc"... */
void wti_say_content(struct wti_show *show, uint64_t address, uint64_t bytes, uint8_t when);
/* Text up to a NUL, at most `bytes_max` of it. */
void wti_say_text(struct wti_show *show, uint64_t address, size_t bytes_max, uint8_t when);

/* ---- Shared between files -------------------------------------------------------------------- */

void wti_say_timespec(struct wti_show *show, const uint8_t *at); /* {tv_sec=1, tv_nsec=0} */
void wti_say_timeval(struct wti_show *show, const uint8_t *at);
void wti_say_sigset(struct wti_show *show, uint64_t set); /* [INT TERM] */
void wti_say_siginfo(struct wti_show *show, const uint8_t *at);
void wti_say_sockaddr(struct wti_show *show, uint64_t address, uint64_t bytes, uint8_t when);
/* struct iovec[count]; `content_bytes` of what they point to are shown. */
void wti_say_iovec(struct wti_show *show, uint64_t address, uint64_t count, uint8_t when,
		   uint64_t content_bytes);
void wti_say_open_flags(struct wti_show *show, uint32_t flags);

#endif
