/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how i386 lays out what arguments point to, and makes of it what x86_64 has in its place, so
 * that nobody else has to know: a trace has only the latter.
 */
#include <string.h>

#include "compat.h"
#include "described.h"

#define STRUCT_BYTES_MAX 256u
#define STAT64_BYTES 96u
#define STAT_BYTES 144u
#define IOVEC "LL"
#define MESSAGE "LipLLLLip"
#define MESSAGE_BYTES 28u
#define LOCK "hhpllip"
#define LOCK64 "hhpqqip"
#define CONTROL_HEAD_BYTES 12u /* of i386; 16 of x86_64 */
#define CONTROL_LENGTH_AT 40u  /* msg_controllen of x86_64 */

/* F_GETLK64, F_SETLK64 and F_SETLKW64, which are F_GETLK and so on of x86_64. */
enum { GETLK64 = 12, SETLK64 = 13, SETLKW64 = 14 };

/*
 * Structures, member by member:
 *
 *	l  a signed long, L  an unsigned one or a pointer, r  a limit: 4 bytes become 8
 *	i  4 bytes, h  2, q  8, as they are
 *	p  4 bytes of nothing, which only x86_64 has
 *
 * Types that are not here are the same on both, or are not read (is_unlike()).
 */
static const char *const layouts[WTI_TYPE_COUNT] = {
	[WTI_TYPE_TIMESPEC] = "ll",
	[WTI_TYPE_TIMESPEC_OUT] = "ll",
	[WTI_TYPE_TIMESPEC_IO] = "ll",
	[WTI_TYPE_TIMESPEC_LEFT] = "ll",
	[WTI_TYPE_TIMEVAL] = "ll",
	[WTI_TYPE_TIMEVAL_OUT] = "ll",
	[WTI_TYPE_TIMEVAL_IO] = "ll",
	[WTI_TYPE_FUTEX_TIMEOUT] = "ll",
	[WTI_TYPE_TIMEVAL2] = "llll",
	[WTI_TYPE_TIMESPEC2] = "llll",
	[WTI_TYPE_ITIMERVAL] = "llll",
	[WTI_TYPE_ITIMERVAL_OUT] = "llll",
	[WTI_TYPE_ITIMERSPEC] = "llll",
	[WTI_TYPE_ITIMERSPEC_OUT] = "llll",
	[WTI_TYPE_TMS_OUT] = "llll",
	[WTI_TYPE_TIME_OUT] = "l",
	[WTI_TYPE_ULONG_OUT] = "L",
	[WTI_TYPE_POINTER_OUT] = "L",
	[WTI_TYPE_OFFSET_IO] = "l",
	[WTI_TYPE_RLIMIT] = "rr",
	[WTI_TYPE_RLIMIT_OUT] = "rr",
	[WTI_TYPE_RUSAGE_OUT] = "llllllllllllllllll",
	[WTI_TYPE_SYSINFO_OUT] = "lLLLLLLLLLhhpLLip",
	[WTI_TYPE_STATFS_OUT] = "LLLLLLLiiLLLLLLL",
	[WTI_TYPE_SIGACTION] = "LLLq",
	[WTI_TYPE_SIGACTION_OUT] = "LLLq",
	[WTI_TYPE_SIGALTSTACK] = "LipL",
	[WTI_TYPE_SIGALTSTACK_OUT] = "LipL",
	[WTI_TYPE_PSELECT_MASK] = "LL",
	[WTI_TYPE_PRCTL_FILTER] = "hhpL",
	[WTI_TYPE_SECCOMP_ARG] = "hhpL",
	[WTI_TYPE_MQ_ATTR] = "llllllll",
	[WTI_TYPE_IOVEC] = IOVEC,
	[WTI_TYPE_IOVEC_OUT] = IOVEC,
	[WTI_TYPE_IOVEC_RESULT] = IOVEC,
	[WTI_TYPE_IOVEC_PLACES] = IOVEC,
	[WTI_TYPE_STRINGS] = "L",
	[WTI_TYPE_ENVIRONMENT] = "L",
	[WTI_TYPE_MSGHDR] = MESSAGE,
	[WTI_TYPE_MSGHDR_OUT] = MESSAGE,
	[WTI_TYPE_MMSGHDR] = MESSAGE,
	[WTI_TYPE_FCNTL_ARG] = LOCK,
};

static size_t narrow_bytes(const char *layout)
{
	size_t bytes = 0;

	for (; *layout; layout++)
		bytes += *layout == 'q' ? 8 : *layout == 'h' ? 2 : *layout == 'p' ? 0 : 4;
	return bytes;
}

static size_t wide_bytes(const char *layout)
{
	size_t bytes = 0;

	for (; *layout; layout++)
		bytes += *layout == 'h' ? 2 : *layout == 'i' || *layout == 'p' ? 4 : 8;
	return bytes;
}

static void widen_struct(const char *layout, const uint8_t *from, uint8_t *to)
{
	for (; *layout; layout++) {
		size_t kept = *layout == 'q' ? 8 : *layout == 'h' ? 2 : *layout == 'p' ? 0 : 4;
		size_t made = *layout == 'h' ? 2 : *layout == 'i' || *layout == 'p' ? 4 : 8;
		bool is_negative = kept == 4 && from[3] & 0x80;
		uint32_t all;

		memset(to, *layout == 'l' && is_negative ? 0xff : 0, made);
		memcpy(to, from, kept);
		memcpy(&all, to, sizeof(all) < made ? sizeof(all) : made);
		if (*layout == 'r' && all == UINT32_MAX)
			memset(to, 0xff, made);
		from += kept;
		to += made;
	}
}

/* Calls whose structures are laid out alike: they were made when both were there, or have times of
 * 64 bits on both. */
static bool is_alike(const char *name)
{
	static const char *const names[] = {"statx",
					    "openat2",
					    "io_uring_setup",
					    "prlimit64",
					    "getdents64",
					    "sendfile64",
					    "clock_gettime64",
					    "clock_settime64",
					    "timerfd_gettime64",
					    "timerfd_settime64",
					    "timer_gettime64",
					    "timer_settime64"};
	const char *end = strstr(name, "_time64");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return end && !end[7];
}

/* What differs in more than the width of its members, and is not read. */
static bool is_unlike(const char *name, uint8_t type)
{
	return type == WTI_TYPE_SIGINFO || type == WTI_TYPE_SIGINFO_OUT ||
	       type == WTI_TYPE_SIGEVENT ||
	       (type == WTI_TYPE_DIRENTS_OUT && strcmp(name, "getdents64") != 0);
}

/* NULL: it is the same on both. `command` is that of fcntl(). */
static const char *layout_of(const char *name, uint8_t type, uint32_t command)
{
	if (type == WTI_TYPE_FCNTL_ARG && command >= GETLK64)
		return LOCK64;
	/* Vectors have pointers, whatever the times beside them are. */
	if (is_alike(name) && type != WTI_TYPE_PSELECT_MASK && type != WTI_TYPE_IOVEC &&
	    type != WTI_TYPE_MSGHDR_OUT && type != WTI_TYPE_MMSGHDR)
		return NULL;
	return layouts[type];
}

/* ---- What to read ---------------------------------------------------------------------------- */

static struct wti_read narrow_read(const char *name, uint8_t type, const struct wti_read *wide)
{
	const char *layout = layout_of(name, type, wide->if_value);
	size_t ratio = layout ? wide_bytes(layout) / narrow_bytes(layout) : 1;
	struct wti_read read = *wide;

	if (type == WTI_TYPE_STAT_OUT)
		read.unit_bytes = read.bytes_max = STAT64_BYTES;
	if (!layout)
		return read;
	read.flags |= WTI_READ_NARROW;
	if (read.kind == WTI_READ_STRINGS) {
		read.bytes_max /= 2; /* of pointers */
	} else if (read.length == WTI_LENGTH_FIXED) {
		read.unit_bytes = (uint16_t)narrow_bytes(layout);
		if (read.kind == WTI_READ_BYTES)
			read.bytes_max = read.unit_bytes;
	} else {
		read.unit_bytes = (uint16_t)narrow_bytes(layout);
		if (read.kind == WTI_READ_BYTES)
			read.bytes_max = (uint16_t)(read.bytes_max / ratio);
	}
	return read;
}

/* Locks of files of more than 2 GB have commands of their own. */
static size_t add_lock_reads(struct wti_read reads[WTI_READS_MAX], size_t count, uint8_t arg)
{
	static const struct {
		uint32_t command;
		uint8_t when;
	} rows[] = {{GETLK64, WTI_AT_ENTRY},
		    {GETLK64, WTI_AT_EXIT},
		    {SETLK64, WTI_AT_ENTRY},
		    {SETLKW64, WTI_AT_ENTRY}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && count < WTI_READS_MAX; i++)
		reads[count++] = (struct wti_read){.arg = arg,
						   .kind = WTI_READ_BYTES,
						   .when = rows[i].when,
						   .flags = WTI_READ_NARROW,
						   .length = WTI_LENGTH_FIXED,
						   .if_arg = 1,
						   .unit_bytes = (uint16_t)narrow_bytes(LOCK64),
						   .bytes_max = (uint16_t)narrow_bytes(LOCK64),
						   .if_mask = UINT32_MAX,
						   .if_value = rows[i].command};
	return count;
}

size_t wti_compat_reads(uint32_t nr, struct wti_read reads[WTI_READS_MAX])
{
	int native = wti_compat_number(nr);
	const char *name = wti_call_name(WTI_ARCH_I386, nr);
	const struct wti_described *call;
	struct wti_read wide[WTI_READS_MAX];
	size_t wide_count, count = 0;

	if (native < 0 || !name)
		return 0;
	call = wti_described(WTI_ARCH_X86_64, (uint32_t)native);
	wide_count = wti_call_reads(WTI_ARCH_X86_64, (uint32_t)native, wide);
	for (size_t i = 0; i < wide_count; i++) {
		uint8_t type = call->args[wide[i].arg].type;

		if (!is_unlike(name, type))
			reads[count++] = narrow_read(name, type, &wide[i]);
	}
	if (!strcmp(name, "fcntl64"))
		count = add_lock_reads(reads, count, 2);
	return count;
}

/* ---- What was read --------------------------------------------------------------------------- */

struct widening {
	const char *name; /* of the call */
	const struct wti_described *call;
	const uint64_t *args;
	uint64_t vector; /* where the last message has its parts, and what comes besides */
	uint64_t control;
	uint8_t *message; /* what it has become */
	uint8_t out[WTI_SYSCALL_MEMORY_MAX];
	size_t out_bytes;
};

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void move(uint8_t *to, size_t to_at, const uint8_t *from, size_t from_at, size_t bytes)
{
	memcpy(to + to_at, from + from_at, bytes);
}

/* struct stat64 of i386 as struct stat of x86_64; times are not shown, and left out. */
static size_t widen_stat(const uint8_t *from, size_t bytes, uint8_t *to)
{
	if (bytes < STAT64_BYTES)
		return 0;
	memset(to, 0, STAT_BYTES);
	move(to, 0, from, 0, 8);   /* st_dev */
	move(to, 8, from, 88, 8);  /* st_ino */
	move(to, 16, from, 20, 4); /* st_nlink */
	move(to, 24, from, 16, 4); /* st_mode */
	move(to, 28, from, 24, 4); /* st_uid */
	move(to, 32, from, 28, 4); /* st_gid */
	move(to, 40, from, 32, 8); /* st_rdev */
	move(to, 48, from, 44, 8); /* st_size */
	move(to, 56, from, 52, 4); /* st_blksize */
	move(to, 64, from, 56, 8); /* st_blocks */
	return STAT_BYTES;
}

/* One structure after the other; what is left over of one is left out. */
static size_t widen_all(const char *layout, const uint8_t *from, size_t bytes, uint8_t *to,
			size_t room)
{
	size_t narrow = narrow_bytes(layout), wide = wide_bytes(layout), made = 0;

	for (; bytes >= narrow && room - made >= wide; bytes -= narrow, from += narrow) {
		widen_struct(layout, from, to + made);
		made += wide;
	}
	return made;
}

/* Heads of 12 bytes and contents at multiples of 4 become heads of 16 and multiples of 8. */
static size_t widen_control(const uint8_t *from, size_t bytes, uint8_t *to, size_t room)
{
	size_t made = 0;

	while (bytes >= CONTROL_HEAD_BYTES) {
		size_t length = get32(from), data = length - CONTROL_HEAD_BYTES, step;
		uint64_t wide = 16 + data;

		if (length < CONTROL_HEAD_BYTES || length > bytes ||
		    room - made < (wide + 7) / 8 * 8)
			break;
		memset(to + made, 0, (wide + 7) / 8 * 8);
		memcpy(to + made, &wide, sizeof(wide));
		memcpy(to + made + 8, from + 4, 8);
		memcpy(to + made + 16, from + CONTROL_HEAD_BYTES, data);
		made += (wide + 7) / 8 * 8;
		step = (length + 3) / 4 * 4;
		step = step < bytes ? step : bytes;
		from += step;
		bytes -= step;
	}
	return made;
}

/* Of the argument that points to it; 0, which no argument has, where none does. */
static uint8_t type_of(const struct widening *w, uint8_t arg)
{
	return arg < WTI_CALL_ARGS && arg < w->call->arg_count ? w->call->args[arg].type : 0;
}

/* What the bytes of a piece become; how many they are. */
static size_t widen_piece(struct widening *w, uint8_t arg, uint64_t address, const uint8_t *from,
			  size_t bytes, uint8_t *to, size_t room)
{
	uint8_t type = type_of(w, arg);
	const char *layout = type ? layout_of(w->name, type, (uint32_t)w->args[1]) : NULL;

	if (type == WTI_TYPE_STAT_OUT)
		return room < STAT_BYTES ? 0 : widen_stat(from, bytes, to);
	if (layout && !strcmp(layout, MESSAGE) && bytes >= MESSAGE_BYTES &&
	    room >= wide_bytes(MESSAGE)) {
		w->vector = get32(from + 8);
		w->control = get32(from + 16);
		w->message = to;
	}
	if (arg >= WTI_CALL_ARGS && address && address == w->vector)
		layout = IOVEC;
	if (arg >= WTI_CALL_ARGS && address && address == w->control) {
		uint64_t made = widen_control(from, bytes, to, room);

		memcpy(w->message + CONTROL_LENGTH_AT, &made, sizeof(made));
		return made;
	}
	/* One that is shorter is another: some arguments are of several types. */
	if (layout && bytes >= narrow_bytes(layout))
		return widen_all(layout, from, bytes, to, room);
	if (bytes > room)
		return 0;
	memcpy(to, from, bytes);
	return bytes;
}

static size_t take_piece(struct widening *w, const uint8_t *at, size_t left)
{
	size_t head = WTI_PIECE_HEAD_BYTES, room = sizeof(w->out) - w->out_bytes, made;
	uint8_t *to = w->out + w->out_bytes;
	uint64_t address = 0;
	uint16_t bytes, length;

	if (left < head)
		return 0;
	memcpy(&bytes, at, sizeof(bytes));
	if (at[2] >= WTI_CALL_ARGS)
		head += sizeof(address);
	if (left < head + bytes || room < head)
		return 0;
	if (at[2] >= WTI_CALL_ARGS)
		memcpy(&address, at + WTI_PIECE_HEAD_BYTES, sizeof(address));
	made = widen_piece(w, at[2], address, at + head, bytes, to + head, room - head);
	if (made > UINT16_MAX)
		return 0;
	length = (uint16_t)made;
	memcpy(to, at, head);
	memcpy(to, &length, sizeof(length));
	w->out_bytes += made || !bytes ? head + made : 0;
	return head + bytes;
}

uint32_t wti_compat_widen(uint32_t nr, const uint64_t args[WTI_CALL_ARGS],
			  uint8_t memory[WTI_SYSCALL_MEMORY_MAX], uint32_t bytes)
{
	int native = wti_compat_number(nr);
	struct widening w = {.name = wti_call_name(WTI_ARCH_I386, nr), .args = args};
	size_t at = 0, taken = 1;

	w.call = native < 0 ? NULL : wti_described(WTI_ARCH_X86_64, (uint32_t)native);
	if (!w.name || !w.call)
		return bytes;
	for (; at < bytes && taken; at += taken)
		taken = take_piece(&w, memory + at, bytes - at);
	memcpy(memory, w.out, w.out_bytes);
	return (uint32_t)w.out_bytes;
}

/* Whether a piece is what this argument points to. */
static bool has_piece(const uint64_t args[WTI_CALL_ARGS], uint8_t arg, const uint8_t *memory,
		      size_t bytes)
{
	for (size_t at = 0; bytes - at >= WTI_PIECE_HEAD_BYTES;) {
		bool is_argument = memory[at + 2] < WTI_CALL_ARGS;
		size_t head = WTI_PIECE_HEAD_BYTES + (is_argument ? 0 : sizeof(uint64_t));
		uint16_t length;

		if (is_argument && args[memory[at + 2]] == args[arg])
			return true;
		memcpy(&length, memory + at, sizeof(length));
		if (bytes - at < head + length)
			return false;
		at += head + length;
	}
	return false;
}

bool wti_compat_is_unread(uint32_t nr, const uint64_t args[WTI_CALL_ARGS], const uint8_t *memory,
			  uint32_t bytes)
{
	int native = wti_compat_number(nr);
	struct wti_read reads[WTI_READS_MAX];
	size_t count = native < 0 ? 0 : wti_call_reads(WTI_ARCH_X86_64, (uint32_t)native, reads);

	for (size_t i = 0; i < count; i++) {
		const struct wti_read *read = &reads[i];
		bool is_content = read->flags & WTI_READ_CONTENT && read->kind == WTI_READ_BYTES;

		/* Lengths may be 0, and conditions may have been otherwise: these say nothing. */
		if (read->when != WTI_AT_ENTRY || is_content || !args[read->arg] ||
		    read->if_arg != WTI_READ_ALWAYS ||
		    (read->kind == WTI_READ_BYTES && read->length != WTI_LENGTH_FIXED))
			continue;
		if (!has_piece(args, read->arg, memory, bytes))
			return true;
	}
	return false;
}
