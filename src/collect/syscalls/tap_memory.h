/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The part of tap.bpf.c that reads what arguments point to; memory.c does the same by ptrace.
 *
 * Pages that are not there cannot be waited for here. So whatever a call does not change is read at
 * its end, when the kernel has looked at it itself. Bounds are said again where they are used, as
 * the verifier forgets them on the way; loops are calls of bpf_loop(), as it would otherwise go
 * through each turn of them.
 */
#ifndef WTI_SYSCALLS_TAP_MEMORY_H
#define WTI_SYSCALLS_TAP_MEMORY_H

#define PIECE_HEAD_BYTES 4u
#define PIECE_OTHER 0xff /* WTI_PIECE_OTHER */
#define PIECE_EXIT 1     /* WTI_PIECE_EXIT */
#define PIECE_CUT 2      /* WTI_PIECE_CUT */
#define IOVEC_BYTES 16u
#define MSGHDR_BYTES 56u
#define NAME_BYTES_MAX 128u
#define CONTROL_BYTES_MAX 256u
#define ENDLESS 0xffffffffu

static __always_inline struct wti_tap_scratch *scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* The number whose plan the call has; one that no call has: none. */
static __always_inline __u32 plan_number(struct wti_tap_task *state)
{
	__u32 nr = state->nr;

	if (state->arch == ARCH_NATIVE)
		return nr < WTI_TAP_CALLS_MAX - WTI_TAP_COMPAT_MAX ? nr : WTI_TAP_CALLS_MAX;
	if (state->arch != ARCH_COMPAT || nr >= WTI_TAP_COMPAT_MAX)
		return WTI_TAP_CALLS_MAX;
	barrier_var(nr);
	return (__u32)compat[nr & (WTI_TAP_COMPAT_MAX - 1)] - 1;
}

static __always_inline struct wti_tap_plan *plan_of(struct wti_tap_task *state)
{
	__u32 nr = plan_number(state);

	return bpf_map_lookup_elem(&plans, &nr);
}

/* Begins a piece; where its bytes go. Which argument it is goes through memory, of which the
 * verifier knows nothing: it would go through the rest for each of them. */
static __always_inline __u32 open_piece(struct wti_tap_scratch *s, __u64 address)
{
	volatile __u8 *found = &s->argument;
	__u32 at = s->bytes & (WTI_TAP_MEMORY_MAX - 1);
	__u8 argument;

	*found = PIECE_OTHER;
	for (int i = 5; i >= 0; i--)
		if (s->args[i] == address)
			*found = i;
	argument = *found;
	s->memory[at + 2] = argument;
	s->memory[at + 3] = s->mark;
	if (argument != PIECE_OTHER)
		return at + PIECE_HEAD_BYTES;
	__builtin_memcpy(&s->memory[at + PIECE_HEAD_BYTES], &address, sizeof(address));
	return at + PIECE_HEAD_BYTES + sizeof(address);
}

static __always_inline void close_piece(struct wti_tap_scratch *s, __u32 data, __u32 bytes,
					bool cut)
{
	__u32 at = s->bytes & (WTI_TAP_MEMORY_MAX - 1);

	s->memory[at] = bytes & 0xff;
	s->memory[at + 1] = bytes >> 8;
	if (cut)
		s->memory[at + 3] |= PIECE_CUT;
	s->bytes = data + bytes;
}

/* True if a piece of so many bytes may still come. */
static __always_inline bool has_room(struct wti_tap_scratch *s, __u32 bytes)
{
	return s->bytes + PIECE_HEAD_BYTES + sizeof(__u64) + bytes < WTI_TAP_MEMORY_MAX;
}

/*
 * Functions that are not static are checked by the kernel's verifier once, by themselves, and not
 * again wherever they are called from: that is most of the time that loading takes.
 */
__noinline int add_bytes(struct wti_tap_scratch *s, __u64 address, __u64 whole, __u32 bytes_max)
{
	__u32 bytes = whole < bytes_max ? (__u32)whole : bytes_max, data;

	if (!s || !address || !bytes)
		return 0;
	if (bytes > WTI_TAP_PIECE_MAX - 16)
		bytes = WTI_TAP_PIECE_MAX - 16;
	if (!has_room(s, bytes))
		return 0;
	data = open_piece(s, address);
	barrier_var(bytes);
	if (bytes > WTI_TAP_PIECE_MAX - 16)
		return 0;
	barrier_var(data);
	data &= WTI_TAP_MEMORY_MAX - 1;
	if (bpf_probe_read_user(&s->memory[data], bytes, (void *)address)) {
		s->unread = true;
		return 0;
	}
	close_piece(s, data, bytes, bytes < whole);
	return (int)bytes;
}

__noinline int add_string(struct wti_tap_scratch *s, __u64 address, __u32 bytes_max)
{
	__u32 data;
	long got;

	if (!s || !address)
		return 0;
	if (bytes_max > WTI_TAP_PIECE_MAX - 16)
		bytes_max = WTI_TAP_PIECE_MAX - 16;
	if (!has_room(s, bytes_max))
		return 0;
	data = open_piece(s, address);
	barrier_var(bytes_max);
	if (bytes_max > WTI_TAP_PIECE_MAX - 16)
		return 0;
	barrier_var(data);
	data &= WTI_TAP_MEMORY_MAX - 1;
	got = bpf_probe_read_user_str(&s->memory[data], bytes_max, (void *)address);
	if (got <= 0) {
		s->unread = true;
		return 0;
	}
	/* What fills the room has its last byte replaced by the end. */
	if (got >= bytes_max)
		close_piece(s, data, bytes_max - 1, true);
	else
		close_piece(s, data, (__u32)got, false);
	return (int)got;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

struct vector {
	__u64 address;
	__u32 most;  /* entries */
	__u32 count; /* that were found */
	__u32 bytes; /* of each string */
	bool narrow; /* its words have 4 bytes */
};

/* The word of that number; 0 also if it cannot be read. */
static __always_inline __u64 word_at(struct vector *vector, __u32 i)
{
	__u64 word = 0;

	if (vector->narrow)
		bpf_probe_read_user(&word, 4, (void *)(vector->address + i * 4ull));
	else
		bpf_probe_read_user(&word, 8, (void *)(vector->address + i * 8ull));
	return word;
}

static long find_null(__u32 i, void *opaque)
{
	struct vector *vector = opaque;

	if (i >= vector->most)
		return 1;
	vector->count = i + 1;
	return !word_at(vector, i);
}

static long add_one_string(__u32 i, void *opaque)
{
	struct vector *vector = opaque;
	__u64 pointer;

	if (i >= vector->count)
		return 1;
	pointer = word_at(vector, i);
	if (!pointer)
		return 1;
	add_string(scratch(), pointer, vector->bytes);
	return 0;
}

/* Pointers up to NULL, and what the first of them point to. */
__noinline int add_strings(__u64 address, __u32 bytes_max, __u32 each, bool narrow_words)
{
	__u32 word = narrow_words ? 4 : 8;
	struct vector vector = {.address = address,
				.most = bytes_max / word,
				.bytes = each,
				.narrow = narrow_words};

	bpf_loop(WTI_READ_PATH_MAX / 8, find_null, &vector, 0);
	add_bytes(scratch(), address, (__u64)vector.count * word, bytes_max);
	if (each)
		bpf_loop(WTI_READ_STRINGS_MAX, add_one_string, &vector, 0);
	return 0;
}

static long add_one_range(__u32 i, void *opaque)
{
	struct vector *vector = opaque;
	struct wti_tap_scratch *s = scratch();
	__u64 base, length;
	__u32 bytes;

	if (!s || i >= vector->count || !s->left)
		return 1;
	base = word_at(vector, i * 2);
	length = word_at(vector, i * 2 + 1);
	bytes = length < s->left ? (__u32)length : s->left;
	add_bytes(s, base, length, bytes);
	s->left -= bytes;
	return 0;
}

__noinline int add_ranges(__u64 address, __u64 count, __u32 contents_max, bool narrow_words)
{
	struct vector vector = {.address = address, .narrow = narrow_words};
	__u32 entry = narrow_words ? IOVEC_BYTES / 2 : IOVEC_BYTES;
	struct wti_tap_scratch *s = scratch();
	int got = add_bytes(s, address, count * entry, WTI_READ_IOVECS_MAX * entry);

	if (!s || !contents || got <= 0)
		return 0;
	vector.count = (__u32)got / entry;
	s->left = contents_max;
	if (s->mark && s->result < s->left)
		s->left = s->result > 0 ? (__u32)s->result : 0;
	bpf_loop(WTI_READ_IOVECS_MAX, add_one_range, &vector, 0);
	return 0;
}

__noinline int add_message(__u64 address, __u32 contents_max, bool narrow_words)
{
	struct vector head = {.address = address, .narrow = narrow_words};
	__u32 bytes = narrow_words ? MSGHDR_BYTES / 2 : MSGHDR_BYTES;
	__u64 count;

	if (add_bytes(scratch(), address, bytes, bytes) < (int)bytes)
		return 0;
	add_bytes(scratch(), word_at(&head, 0), (__u32)word_at(&head, 1), NAME_BYTES_MAX);
	count = word_at(&head, 3);
	if (count < ENDLESS)
		add_ranges(word_at(&head, 2), count, contents_max, narrow_words);
	add_bytes(scratch(), word_at(&head, 4), word_at(&head, 5), CONTROL_BYTES_MAX);
	return 0;
}

/* ---- One of the reads of a plan -------------------------------------------------------------- */

static __always_inline __u64 argument(struct wti_tap_scratch *s, __u32 number)
{
	barrier_var(number);
	return number < 6 ? s->args[number] : 0;
}

static __always_inline __u64 length_of(struct wti_tap_scratch *s, struct wti_read *read)
{
	__u64 other = argument(s, read->length_arg);
	__u32 pointed = 0;

	switch (read->length) {
	case WTI_LENGTH_ARG:
		return other < ENDLESS ? read->unit_bytes * other : 0;
	case WTI_LENGTH_RESULT:
		return s->result > 0 ? read->unit_bytes * (__u64)s->result : 0;
	case WTI_LENGTH_POINTED:
		bpf_probe_read_user(&pointed, sizeof(pointed), (void *)other);
		return pointed;
	case WTI_LENGTH_BITS:
		return other < ENDLESS ? (other + 63) / 64 * 8 : 0;
	default:
		return read->unit_bytes;
	}
}

/* At its end a call is asked for all but what it may have changed, unless nobody saw its begin. */
static __always_inline bool applies(struct wti_tap_scratch *s, struct wti_read *read)
{
	bool late = read->when == WTI_AT_EXIT;

	if (!s->all && s->is_exit != (late || (read->flags & WTI_READ_CONSTANT)))
		return false;
	if (!argument(s, read->arg))
		return false;
	if (late && s->result < 0 && s->result >= -4095 && !(read->flags & WTI_READ_ON_ERROR))
		return false;
	return read->if_arg == WTI_READ_ALWAYS ||
	       ((__u32)argument(s, read->if_arg) & read->if_mask) == read->if_value;
}

/* Whether reads of this kind can be; of those that cannot the verifier looks at nothing, as long as
 * it sees the number, and not a copy of it, where it is asked for. */
static __always_inline bool are_there(bool is_entry, __u32 kind)
{
	return (is_entry ? kinds_at_entry : kinds) >> kind & 1;
}

static __always_inline long do_read(__u32 i, bool is_entry)
{
	struct wti_tap_scratch *s = scratch();
	struct wti_tap_plan *plan;
	struct wti_read *read;
	bool narrow_words;
	__u64 address;

	if (!s)
		return 1;
	plan = bpf_map_lookup_elem(&plans, &s->nr);
	if (!plan || i >= plan->count)
		return 1;
	read = &plan->reads[i & 15];
	if (!applies(s, read))
		return 0;
	s->mark =
		read->when == WTI_AT_EXIT ? PIECE_EXIT : 0; /* what is read late may be as it was */
	address = argument(s, read->arg);
	narrow_words = read->flags & WTI_READ_NARROW;
	if (read->kind == WTI_READ_BYTES)
		add_bytes(s, address, length_of(s, read), read->bytes_max);
	else if (read->kind == WTI_READ_STRING)
		add_string(s, address, read->bytes_max);
	else if (read->kind == WTI_READ_STRINGS && are_there(is_entry, WTI_READ_STRINGS))
		add_strings(address, read->bytes_max, read->unit_bytes, narrow_words);
	else if (read->kind == WTI_READ_IOVEC && are_there(is_entry, WTI_READ_IOVEC))
		add_ranges(address, argument(s, read->length_arg), read->bytes_max, narrow_words);
	else if (read->kind == WTI_READ_MSGHDR && are_there(is_entry, WTI_READ_MSGHDR))
		add_message(address, read->bytes_max, narrow_words);
	else
		s->unread = true;
	return 0;
}

static long do_read_first(__u32 i, void *opaque)
{
	return do_read(i, true);
}

static long do_read_last(__u32 i, void *opaque)
{
	return do_read(i, false);
}

__noinline int read_first(void)
{
	return (int)bpf_loop(WTI_READS_MAX, do_read_first, NULL, 0);
}

__noinline int read_last(void)
{
	return (int)bpf_loop(WTI_READS_MAX, do_read_last, NULL, 0);
}

static __always_inline void read_memory(struct wti_tap_scratch *s, struct wti_tap_task *state,
					__s64 result, bool is_exit, bool is_entry)
{
	for (int i = 0; i < 6; i++)
		s->args[i] = state->args[i];
	s->nr = plan_number(state);
	s->result = result;
	s->bytes = 0;
	s->unread = false;
	s->is_exit = is_exit;
	if (is_entry)
		read_first();
	else
		read_last();
}

#endif
