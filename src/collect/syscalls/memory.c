/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the memory of another process, with process_vm_readv(): numbers, texts, lists of them. */
#include <string.h>
#include <sys/uio.h>

#include "memory.h"

#define PAGE_BYTES 4096u
#define POINTER_BYTES 8u
#define NAME_BYTES_MAX 128u
#define CONTROL_BYTES_MAX 256u

struct reading {
	struct wti_memory *memory;
	const struct wti_read *read;
	const uint64_t *args;
	int64_t result;
	pid_t tid;
	bool at_exit;
	bool contents;
};

static void make_plan(struct wti_plan *plan, const struct wti_read *reads, size_t count,
		      bool contents)
{
	for (size_t i = 0; i < count; i++) {
		/* Where contents stand behind a vector, the vector itself is none. */
		if (!contents && (reads[i].flags & WTI_READ_CONTENT) &&
		    reads[i].kind == WTI_READ_BYTES)
			continue;
		plan->reads[plan->count++] = reads[i];
		plan->at_entry |= reads[i].when == WTI_AT_ENTRY;
	}
}

void wti_plans_init(struct wti_plans *plans, bool contents)
{
	struct wti_read reads[WTI_READS_MAX];

	memset(plans, 0, sizeof(*plans));
	for (uint32_t nr = 0; nr < WTI_PLANS_COMPAT; nr++)
		make_plan(&plans->by_number[nr], reads, wti_call_reads(WTI_ARCH_HERE, nr, reads),
			  contents);
	for (uint32_t nr = 0; nr < WTI_COMPAT_MAX && WTI_ARCH_HERE == WTI_ARCH_X86_64; nr++) {
		struct wti_plan *plan = &plans->by_number[WTI_PLANS_COMPAT + nr];

		make_plan(plan, reads, wti_compat_reads(nr, reads), contents);
		if (plan->count)
			plans->compat[nr] = (uint16_t)(WTI_PLANS_COMPAT + nr + 1);
	}
}

/* As many bytes as there are up to the first page that cannot be read. */
static size_t fetch(pid_t tid, uint64_t address, void *out, size_t bytes)
{
	struct iovec here = {out, bytes};
	struct iovec there = {(void *)(uintptr_t)address, bytes};
	ssize_t got = process_vm_readv(tid, &here, 1, &there, 1, 0);

	if (got >= 0)
		return (size_t)got;
	/* One remote range is read in whole or not at all where its first page fails only. */
	there.iov_len = PAGE_BYTES - address % PAGE_BYTES;
	if (there.iov_len >= bytes)
		return 0;
	here.iov_len = there.iov_len;
	got = process_vm_readv(tid, &here, 1, &there, 1, 0);
	return got > 0 ? (size_t)got : 0;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Where a piece of at most `bytes` goes; NULL: there is no room for any of it. */
static uint8_t *open_piece(const struct reading *r, uint64_t address, size_t *bytes)
{
	struct wti_memory *memory = r->memory;
	size_t head = WTI_PIECE_HEAD_BYTES, left = sizeof(memory->data) - memory->bytes;
	uint8_t *at = &memory->data[memory->bytes];
	uint8_t argument = WTI_PIECE_OTHER;

	for (uint8_t i = 0; i < WTI_CALL_ARGS && argument == WTI_PIECE_OTHER; i++)
		if (r->args[i] == address)
			argument = i;
	if (argument == WTI_PIECE_OTHER)
		head += sizeof(address);
	if (left <= head || memory->piece_count == WTI_SYSCALL_PIECES_MAX)
		return NULL;
	if (*bytes > left - head)
		*bytes = left - head;
	at[2] = argument;
	at[3] = r->at_exit ? WTI_PIECE_EXIT : 0;
	if (argument == WTI_PIECE_OTHER)
		memcpy(at + WTI_PIECE_HEAD_BYTES, &address, sizeof(address));
	return at + head;
}

static void close_piece(const struct reading *r, const uint8_t *data, size_t bytes, bool cut)
{
	struct wti_memory *memory = r->memory;
	uint8_t *at = &memory->data[memory->bytes];
	uint16_t length = (uint16_t)bytes;

	memcpy(at, &length, sizeof(length));
	if (cut)
		at[3] |= WTI_PIECE_CUT;
	memory->bytes = (size_t)(data - memory->data) + bytes;
	memory->piece_count++;
}

/* How many bytes were kept; `whole` is how many there are. */
static size_t add_bytes(const struct reading *r, uint64_t address, uint64_t whole, size_t bytes_max)
{
	size_t bytes = whole < bytes_max ? (size_t)whole : bytes_max, got;
	uint8_t *data;

	if (!address || !bytes)
		return 0;
	data = open_piece(r, address, &bytes);
	got = data ? fetch(r->tid, address, data, bytes) : 0;
	if (!got) {
		r->memory->unread = true;
		return 0;
	}
	close_piece(r, data, got, got < whole);
	return got;
}

static void add_string(const struct reading *r, uint64_t address, size_t bytes_max)
{
	size_t room = bytes_max, have = 0;
	uint8_t *data = address ? open_piece(r, address, &room) : NULL;
	const uint8_t *end = NULL;

	while (data && have < room && !end) {
		uint64_t next = address + have;
		size_t part = PAGE_BYTES - next % PAGE_BYTES, got;

		part = part < room - have ? part : room - have;
		got = fetch(r->tid, next, data + have, part);
		end = memchr(data + have, 0, got);
		have = end ? (size_t)(end - data) + 1 : have + got;
		if (got < part)
			break;
	}
	if (have)
		close_piece(r, data, have, !end);
	else if (address)
		r->memory->unread = true;
}

/* ---- The ways of reading --------------------------------------------------------------------- */

static uint64_t length_of(const struct reading *r)
{
	const struct wti_read *read = r->read;
	uint64_t other = read->length_arg < WTI_CALL_ARGS ? r->args[read->length_arg] : 0;
	uint32_t pointed = 0;

	switch (read->length) {
	case WTI_LENGTH_ARG:
		return other > UINT32_MAX ? 0 : read->unit_bytes * other;
	case WTI_LENGTH_RESULT:
		return r->result > 0 ? read->unit_bytes * (uint64_t)r->result : 0;
	case WTI_LENGTH_POINTED:
		return fetch(r->tid, other, &pointed, sizeof(pointed)) == sizeof(pointed) ? pointed
											  : 0;
	case WTI_LENGTH_BITS:
		return other > UINT32_MAX ? 0 : (other + 63) / 64 * 8;
	default:
		return read->unit_bytes;
	}
}

static bool is_narrow(const struct reading *r)
{
	return r->read->flags & WTI_READ_NARROW;
}

/* Words of the program, of 4 or 8 bytes; how many could be read. */
static size_t fetch_words(const struct reading *r, uint64_t address, uint64_t *out, size_t count)
{
	const uint8_t *narrow = (const uint8_t *)out;
	size_t got;

	if (!is_narrow(r))
		return fetch(r->tid, address, out, count * sizeof(*out)) / sizeof(*out);
	got = fetch(r->tid, address, out, count * sizeof(uint32_t)) / sizeof(uint32_t);
	for (size_t i = got; i--;) {
		uint32_t word;

		memcpy(&word, narrow + i * sizeof(word), sizeof(word));
		out[i] = word;
	}
	return got;
}

/* A vector of pointers up to NULL, and the strings that they point to. */
static void add_strings(const struct reading *r, uint64_t address)
{
	uint64_t pointers[WTI_READ_PATH_MAX / POINTER_BYTES];
	size_t each = is_narrow(r) ? POINTER_BYTES / 2 : POINTER_BYTES;
	size_t most = r->read->bytes_max / each, count = 0, got;

	if (most > WTI_READ_PATH_MAX / POINTER_BYTES)
		most = WTI_READ_PATH_MAX / POINTER_BYTES;
	got = fetch_words(r, address, pointers, most);
	while (count < got && pointers[count])
		count++;
	if (!add_bytes(r, address, (count + (count < got)) * each, most * each) ||
	    !r->read->unit_bytes)
		return;
	for (size_t i = 0; i < count && i < WTI_READ_STRINGS_MAX; i++)
		add_string(r, pointers[i], r->read->unit_bytes);
}

static void add_vector(const struct reading *r, uint64_t address, uint64_t length)
{
	uint64_t entries[WTI_READ_IOVECS_MAX * 2];
	uint64_t left = r->read->bytes_max;
	size_t word = is_narrow(r) ? POINTER_BYTES / 2 : POINTER_BYTES;
	size_t got = add_bytes(r, address, length, WTI_READ_IOVECS_MAX * 2 * word);

	if (!r->contents)
		return;
	if (r->at_exit && (uint64_t)(r->result > 0 ? r->result : 0) < left)
		left = r->result > 0 ? (uint64_t)r->result : 0;
	got = fetch_words(r, address, entries, got / word) / 2;
	for (size_t i = 0; i < got && left; i++) {
		const uint64_t *entry = &entries[i * 2];
		uint64_t bytes = entry[1] < left ? entry[1] : left;

		add_bytes(r, entry[0], entry[1], (size_t)bytes);
		left -= bytes;
	}
}

static void add_message(const struct reading *r, uint64_t address)
{
	enum { NAME, NAME_BYTES, VECTOR, VECTOR_COUNT, CONTROL, CONTROL_BYTES, FLAGS, COUNT };
	size_t word = is_narrow(r) ? POINTER_BYTES / 2 : POINTER_BYTES;
	uint64_t head[COUNT];

	if (add_bytes(r, address, COUNT * word, COUNT * word) < COUNT * word ||
	    fetch_words(r, address, head, COUNT) < COUNT)
		return;
	add_bytes(r, head[NAME], (uint32_t)head[NAME_BYTES], NAME_BYTES_MAX);
	if (head[VECTOR_COUNT] <= UINT32_MAX)
		add_vector(r, head[VECTOR], head[VECTOR_COUNT] * 2 * word);
	add_bytes(r, head[CONTROL], head[CONTROL_BYTES], CONTROL_BYTES_MAX);
}

static void add(const struct reading *r)
{
	uint64_t address = r->args[r->read->arg];

	switch (r->read->kind) {
	case WTI_READ_BYTES:
		add_bytes(r, address, length_of(r), r->read->bytes_max);
		break;
	case WTI_READ_STRING:
		add_string(r, address, r->read->bytes_max);
		break;
	case WTI_READ_STRINGS:
		add_strings(r, address);
		break;
	case WTI_READ_IOVEC:
		add_vector(r, address, length_of(r));
		break;
	case WTI_READ_MSGHDR:
		add_message(r, address);
		break;
	}
}

static bool applies(const struct wti_read *read, bool at_exit, const uint64_t *args, int64_t result)
{
	if ((read->when == WTI_AT_EXIT) != at_exit || !args[read->arg])
		return false;
	if (at_exit && result < 0 && result >= -4095 && !(read->flags & WTI_READ_ON_ERROR))
		return false;
	return read->if_arg == WTI_READ_ALWAYS ||
	       ((uint32_t)args[read->if_arg] & read->if_mask) == read->if_value;
}

void wti_memory_read(struct wti_memory *memory, const struct wti_plan *plan, bool at_exit,
		     pid_t tid, const uint64_t args[WTI_CALL_ARGS], int64_t result, bool contents)
{
	for (uint8_t i = 0; i < plan->count; i++) {
		struct reading reading = {.memory = memory,
					  .read = &plan->reads[i],
					  .args = args,
					  .result = result,
					  .tid = tid,
					  .at_exit = at_exit,
					  .contents = contents};

		if (applies(&plan->reads[i], at_exit, args, result))
			add(&reading);
	}
}
