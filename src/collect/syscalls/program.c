/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how the kernel lays out the arguments of a new program: one string after the other. */
#include "program.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "syscall/record.h"

#define POINTER_BYTES 8u

struct program {
	const struct wti_raw_call *raw;
	uint8_t *memory;
	uint32_t bytes;
	/* As they came from the new stack. */
	char path[WTI_READ_PATH_MAX];
	char words[WTI_READ_PATH_MAX]; /* one after the other */
	size_t path_bytes, words_bytes;
	uint64_t words_address;
	bool is_cut;
	bool is_whole; /* so far */
};

/* ---- Taking them out ------------------------------------------------------------------------- */

static void take(struct program *p, uint64_t address, const uint8_t *data, size_t bytes, bool cut)
{
	if (!p->words_address) {
		p->words_address = address;
		p->words_bytes = bytes < sizeof(p->words) ? bytes : sizeof(p->words);
		memcpy(p->words, data, p->words_bytes);
		p->is_cut = cut;
	} else {
		p->path_bytes = bytes < sizeof(p->path) ? bytes : sizeof(p->path);
		memcpy(p->path, data, p->path_bytes);
	}
}

/* They are the last pieces; false if there are none. */
static bool take_out(struct program *p)
{
	uint32_t at = 0, kept = p->bytes;

	while (p->bytes - at >= WTI_PIECE_HEAD_BYTES) {
		uint32_t length = wti_get16(p->memory + at), head = WTI_PIECE_HEAD_BYTES;
		uint8_t flags = p->memory[at + 3];
		uint64_t address = 0;

		if (p->memory[at + 2] == WTI_PIECE_OTHER) {
			head += POINTER_BYTES;
			if (p->bytes - at < head)
				break;
			memcpy(&address, p->memory + at + WTI_PIECE_HEAD_BYTES, POINTER_BYTES);
		}
		if (length > p->bytes - at - head)
			break;
		if (flags & WTI_RAW_PIECE_PROGRAM) {
			kept = kept < at ? kept : at;
			take(p, address, p->memory + at + head, length, flags & WTI_PIECE_CUT);
		}
		at += head + length;
	}
	p->bytes = kept;
	return p->words_address;
}

/* ---- Putting them back ----------------------------------------------------------------------- */

static void put(struct program *p, int argument, uint64_t address, const void *data, size_t bytes,
		uint8_t flags)
{
	size_t head = WTI_PIECE_HEAD_BYTES + (argument < 0 ? POINTER_BYTES : 0);
	uint8_t *at = p->memory + p->bytes;

	if (p->bytes + head + bytes > WTI_SYSCALL_MEMORY_MAX) {
		p->is_whole = false;
		return;
	}
	at[0] = (uint8_t)bytes;
	at[1] = (uint8_t)(bytes >> 8);
	at[2] = argument < 0 ? WTI_PIECE_OTHER : (uint8_t)argument;
	at[3] = flags;
	if (argument < 0)
		memcpy(at + WTI_PIECE_HEAD_BYTES, &address, POINTER_BYTES);
	memcpy(at + head, data, bytes);
	p->bytes += (uint32_t)(head + bytes);
}

static bool has(const struct wti_syscall *call, uint64_t address)
{
	for (size_t i = 0; i < call->piece_count; i++)
		if (call->pieces[i].address == address)
			return true;
	return false;
}

/* Where each word begins; how many there are. */
static size_t find_words(const struct program *p, uint32_t *starts, size_t most)
{
	size_t count = 0, at = 0;

	while (at < p->words_bytes && count < most) {
		starts[count++] = (uint32_t)at;
		at += strnlen(p->words + at, p->words_bytes - at) + 1;
	}
	return count;
}

static void put_word(struct program *p, uint64_t address, const char *word)
{
	size_t bytes = strnlen(word, WTI_READ_CONTENT_MAX);

	put(p, -1, address, word, bytes < WTI_READ_CONTENT_MAX ? bytes + 1 : bytes - 1,
	    bytes < WTI_READ_CONTENT_MAX ? 0 : WTI_PIECE_CUT);
}

/* The pointers that the call was given; none where they could not be read. */
static size_t pointers_of(const struct wti_syscall *call, unsigned arg, uint64_t *out, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < call->piece_count; i++) {
		const struct wti_piece *piece = &call->pieces[i];

		if (piece->address != call->args[arg])
			continue;
		for (; count < most && (count + 1) * POINTER_BYTES <= piece->bytes; count++) {
			memcpy(&out[count], piece->data + count * POINTER_BYTES, POINTER_BYTES);
			if (!out[count])
				break;
		}
		break;
	}
	return count;
}

enum { WORDS_MAX = WTI_READ_PATH_MAX / POINTER_BYTES };

/*
 * A script has more words on the stack than it was given: its interpreter comes first, and its own
 * first word is replaced by its path. So they are counted from the last.
 */
static void put_words(struct program *p, const struct wti_syscall *call, unsigned arg)
{
	uint64_t pointers[WORDS_MAX] = {0};
	uint32_t starts[WORDS_MAX];
	size_t count = find_words(p, starts, WORDS_MAX);
	size_t given = pointers_of(call, arg, pointers, WORDS_MAX - 1);
	size_t before = 0;

	if (p->is_cut || count >= WORDS_MAX || !call->args[arg]) {
		p->is_whole &= !call->args[arg];
		return;
	}
	if (!has(call, call->args[arg])) { /* as they stand on the new stack */
		for (given = 0; given < count; given++)
			pointers[given] = p->words_address + starts[given];
		pointers[given] = 0;
		put(p, (int)arg, 0, pointers, (given + 1) * POINTER_BYTES, 0);
	}
	if (given > count) {
		p->is_whole = false;
		return;
	}
	before = count - given;
	for (size_t i = 0; i < given && i < WTI_READ_STRINGS_MAX; i++) {
		if (has(call, pointers[i]))
			continue;
		if (before && !i)
			p->is_whole = false;
		else
			put_word(p, pointers[i], p->words + starts[before + i]);
	}
}

uint32_t wti_program_pieces(const struct wti_raw_call *raw, uint8_t *memory, uint32_t bytes,
			    uint32_t *flags)
{
	struct program p = {.raw = raw, .memory = memory, .bytes = bytes, .is_whole = true};
	unsigned path = raw->nr == SYS_execveat;
	struct wti_syscall call;

	if ((raw->nr != SYS_execve && raw->nr != SYS_execveat) || !take_out(&p))
		return bytes;
	memcpy(call.args, raw->args, sizeof(call.args));
	wti_syscall_split(&call, (struct wt_text){(const char *)memory, p.bytes});
	if (!has(&call, call.args[path]) && p.path_bytes)
		put(&p, (int)path, 0, p.path, p.path_bytes, 0);
	p.is_whole &= p.path_bytes > 0;
	put_words(&p, &call, path + 1);
	/* What the environment has is not shown: how much there is is read before. */
	if (p.is_whole && (!call.args[path + 2] || has(&call, call.args[path + 2])))
		*flags &= ~(uint32_t)WT_SYSCALL_UNREAD;
	return p.bytes;
}
