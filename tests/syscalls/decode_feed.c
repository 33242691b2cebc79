/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder without a recorder: runs a program under ptrace, reads what the table says has to be
 * read, and prints a line for each call. What it prints is compared with strace.
 *
 * usage: decode_feed FILE PROGRAM [ARGUMENT...]
 *
 * Follows one thread, as `strace -o FILE` does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscall/decode.h"

#define MEMORY_BYTES (1u << 20)
#define INFO_BYTES 88 /* struct ptrace_syscall_info, which the C library has not in full */

struct feed {
	pid_t pid;
	FILE *out;
	struct wti_syscall call;
	uint8_t memory[MEMORY_BYTES];
	size_t used;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* As much as there is, at most `bytes`. */
static size_t read_memory(const struct feed *feed, uint64_t address, void *into, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		size_t page_left = 4096 - (address + done) % 4096;
		size_t now = bytes - done < page_left ? bytes - done : page_left;
		struct iovec local = {(char *)into + done, now};
		struct iovec remote = {(void *)(uintptr_t)(address + done), now};

		if (process_vm_readv(feed->pid, &local, 1, &remote, 1, 0) != (ssize_t)now)
			break;
		done += now;
	}
	return done;
}

/* Keeps a piece; the bytes that were read. */
static size_t keep(struct feed *feed, uint64_t address, size_t bytes, uint8_t when)
{
	uint8_t *into = feed->memory + feed->used;
	size_t got;

	if (!address || !bytes || bytes > MEMORY_BYTES - feed->used ||
	    feed->call.piece_count == WTI_SYSCALL_PIECES_MAX)
		return 0;
	got = read_memory(feed, address, into, bytes);
	if (!got)
		return 0;
	feed->call.pieces[feed->call.piece_count++] = (struct wti_piece){
		.address = address, .data = into, .bytes = (uint32_t)got, .when = when};
	feed->used += got;
	return got;
}

static void keep_string(struct feed *feed, uint64_t address, size_t bytes_max, uint8_t when)
{
	struct wti_piece *piece;
	const uint8_t *end;

	if (!keep(feed, address, bytes_max, when))
		return;
	piece = &feed->call.pieces[feed->call.piece_count - 1];
	end = memchr(piece->data, 0, piece->bytes);
	if (end)
		piece->bytes = (uint32_t)(end + 1 - piece->data);
	feed->used = (size_t)(piece->data - feed->memory) + piece->bytes;
}

static void keep_strings(struct feed *feed, uint64_t address, const struct wti_read *read)
{
	size_t got = keep(feed, address, read->bytes_max, read->when), count = 0;
	const uint8_t *pointers = feed->memory + feed->used - got;
	struct wti_piece *piece = &feed->call.pieces[feed->call.piece_count - 1];

	if (!got)
		return;
	for (; (count + 1) * 8 <= got; count++) {
		uint64_t pointer;

		memcpy(&pointer, pointers + count * 8, sizeof(pointer));
		if (!pointer) {
			piece->bytes = (uint32_t)(8 * (count + 1));
			break;
		}
		if (read->unit_bytes && count < WTI_READ_STRINGS_MAX)
			keep_string(feed, pointer, read->unit_bytes, read->when);
	}
}

static void keep_iovec(struct feed *feed, uint64_t address, uint64_t count, uint8_t when,
		       size_t most, uint64_t limit)
{
	size_t got = keep(feed, address,
			  16 * (count < WTI_READ_IOVECS_MAX ? count : WTI_READ_IOVECS_MAX), when);
	const uint8_t *entries = feed->memory + feed->used - got;

	for (size_t k = 0; k + 16 <= got; k += 16) {
		uint64_t base, bytes;

		memcpy(&base, entries + k, sizeof(base));
		memcpy(&bytes, entries + k + 8, sizeof(bytes));
		bytes = bytes < limit ? bytes : limit;
		limit -= bytes;
		keep(feed, base, bytes < most ? bytes : most, when);
	}
}

static void keep_message(struct feed *feed, uint64_t address, const struct wti_read *read,
			 uint64_t limit)
{
	uint64_t words[7];

	if (keep(feed, address, 56, read->when) < 56)
		return;
	memcpy(words, feed->memory + feed->used - 56, 56);
	keep(feed, words[0], (uint32_t)words[1] < 128 ? (uint32_t)words[1] : 128, read->when);
	keep_iovec(feed, words[2], words[3], read->when, read->bytes_max, limit);
	keep(feed, words[4], words[5] < 256 ? words[5] : 256, read->when);
}

static uint64_t length_of(const struct feed *feed, const struct wti_read *read)
{
	uint64_t arg = feed->call.args[read->length_arg];
	uint32_t pointed = 0;

	switch (read->length) {
	case WTI_LENGTH_ARG:
		return read->unit_bytes * arg;
	case WTI_LENGTH_RESULT:
		return feed->call.result < 0 ? 0 : read->unit_bytes * (uint64_t)feed->call.result;
	case WTI_LENGTH_POINTED:
		return read_memory(feed, arg, &pointed, 4) == 4 ? pointed : 0;
	case WTI_LENGTH_BITS:
		return ((uint32_t)arg + 63) / 64 * 8;
	default:
		return read->unit_bytes;
	}
}

static void follow(struct feed *feed, const struct wti_read *read)
{
	uint64_t address = feed->call.args[read->arg], bytes = length_of(feed, read);
	uint64_t limit = read->when == WTI_AT_EXIT ? (uint64_t)feed->call.result : UINT64_MAX;

	if (!address)
		return;
	switch (read->kind) {
	case WTI_READ_BYTES:
		keep(feed, address, bytes < read->bytes_max ? bytes : read->bytes_max, read->when);
		break;
	case WTI_READ_STRING:
		keep_string(feed, address, read->bytes_max, read->when);
		break;
	case WTI_READ_STRINGS:
		keep_strings(feed, address, read);
		break;
	case WTI_READ_IOVEC:
		keep_iovec(feed, address, bytes / 16, read->when, read->bytes_max, limit);
		break;
	case WTI_READ_MSGHDR:
		keep_message(feed, address, read, limit);
		break;
	}
}

static void read_all(struct feed *feed, uint8_t when)
{
	struct wti_read reads[WTI_READS_MAX];
	size_t count = wti_call_reads(WTI_ARCH_HERE, feed->call.nr, reads);

	for (size_t i = 0; i < count; i++) {
		uint64_t selector;

		if (reads[i].when != when)
			continue;
		if (when == WTI_AT_EXIT && feed->call.result < 0 &&
		    !(reads[i].flags & WTI_READ_ON_ERROR))
			continue;
		selector =
			reads[i].if_arg == WTI_READ_ALWAYS ? 0 : feed->call.args[reads[i].if_arg];
		if (reads[i].if_arg == WTI_READ_ALWAYS ||
		    ((uint32_t)selector & reads[i].if_mask) == reads[i].if_value)
			follow(feed, &reads[i]);
	}
}

/* ---- Running --------------------------------------------------------------------------------- */

static void print_call(struct feed *feed)
{
	struct wti_buf out;

	wti_buf_init(&out, 1u << 20);
	wti_decode_line(&out, 0, &feed->call, NULL);
	fprintf(feed->out, "%s\n", wti_buf_cstr(&out));
	wti_buf_release(&out);
}

static void at_entry(struct feed *feed, const uint64_t *words)
{
	memset(&feed->call, 0, sizeof(feed->call));
	feed->call.arch = WTI_ARCH_HERE;
	feed->call.nr = (uint32_t)words[0];
	memcpy(feed->call.args, words + 1, sizeof(feed->call.args));
	feed->call.flags = WT_SYSCALL_UNFINISHED;
	feed->used = 0;
	read_all(feed, WTI_AT_ENTRY);
}

static void at_exit(struct feed *feed, const uint64_t *words)
{
	feed->call.result = (int64_t)words[0];
	feed->call.flags =
		words[0] >= (uint64_t)-516 && words[0] <= (uint64_t)-512 ? WT_SYSCALL_RESTARTS : 0;
	read_all(feed, WTI_AT_EXIT);
	print_call(feed);
}

static void at_stop(struct feed *feed)
{
	uint8_t info[INFO_BYTES] = {0};
	uint64_t words[7];

	if (ptrace(PTRACE_GET_SYSCALL_INFO, feed->pid, sizeof(info), info) <= 0)
		return;
	memcpy(words, info + 24,
	       sizeof(words)); /* behind op, arch, instruction and stack pointer */
	if (info[0] == PTRACE_SYSCALL_INFO_ENTRY)
		at_entry(feed, words);
	else if (info[0] == PTRACE_SYSCALL_INFO_EXIT && feed->call.flags & WT_SYSCALL_UNFINISHED)
		at_exit(feed, words);
}

static int run(struct feed *feed)
{
	int status, signal = 0;

	while (!ptrace(PTRACE_SYSCALL, feed->pid, 0, signal) &&
	       waitpid(feed->pid, &status, 0) > 0) {
		signal = 0;
		if (!WIFSTOPPED(status)) {
			if (feed->call.flags & WT_SYSCALL_UNFINISHED)
				print_call(feed);
			return 0;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			at_stop(feed);
		else if (WSTOPSIG(status) != SIGTRAP)
			signal = WSTOPSIG(status);
	}
	return 1;
}

int main(int argc, char **argv)
{
	static struct feed feed;
	int status;

	if (argc < 3)
		return 2;
	feed.out = fopen(argv[1], "we");
	feed.pid = fork();
	if (!feed.pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (!feed.out || waitpid(feed.pid, &status, 0) < 0 ||
	    ptrace(PTRACE_SETOPTIONS, feed.pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		return 77;
	status = run(&feed);
	return fclose(feed.out) ? 1 : status;
}
