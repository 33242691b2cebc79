/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how strace quotes, which others do as well. */
#include "call.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define NAME_BYTES 64
#define PIECE_HEAD_BYTES 4 /* length, argument, whether it is cut */
#define PIECE_CUT 2

void wti_line_spaces(struct wti_call_line *line)
{
	while (line->at < line->end && *line->at == ' ')
		line->at++;
}

bool wti_line_passes(struct wti_call_line *line, const char *text)
{
	size_t bytes = strlen(text);

	if ((size_t)(line->end - line->at) < bytes || memcmp(line->at, text, bytes))
		return false;
	line->at += bytes;
	return true;
}

bool wti_line_digits(struct wti_call_line *line, uint64_t *ret_number)
{
	const char *begin = line->at;
	uint64_t number = 0;

	for (; line->at < line->end && *line->at >= '0' && *line->at <= '9' &&
	       number < UINT64_MAX / 20;
	     line->at++)
		number = number * 10 + (uint64_t)(*line->at - '0');
	*ret_number = number;
	return line->at > begin;
}

static bool hexadecimal(struct wti_call_line *line, uint64_t *ret_number)
{
	const char *begin = line->at;
	uint64_t number = 0;

	for (; line->at < line->end && line->at - begin < 16; line->at++) {
		char c = (char)(*line->at | 0x20);

		if (c >= '0' && c <= '9')
			number = number << 4 | (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (unsigned)(c - 'a' + 10);
		else
			break;
	}
	*ret_number = number;
	return line->at > begin;
}

bool wti_line_number(struct wti_call_line *line, uint64_t *ret_number)
{
	struct wti_call_line here = *line;
	bool negative = wti_line_passes(&here, "-");

	if (wti_line_passes(&here, "0x") ? !hexadecimal(&here, ret_number)
					 : !wti_line_digits(&here, ret_number))
		return false;
	*ret_number = negative ? 0 - *ret_number : *ret_number;
	*line = here;
	return true;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Behind a backslash: the byte that is meant. */
static char unescaped(struct wti_call_line *line)
{
	static const char from[] = "nrtvf", into[] = "\n\r\t\v\f";
	char c = *line->at++;
	const char *known = memchr(from, c, sizeof(from) - 1);
	unsigned byte = 0;

	if (known)
		return into[known - from];
	if (c == 'x' && line->end - line->at >= 2) {
		char pair[3] = {line->at[0], line->at[1], 0};

		line->at += 2;
		return (char)strtoul(pair, NULL, 16);
	}
	if (c < '0' || c > '7')
		return c;
	line->at--;
	for (int i = 0; i < 3 && line->at < line->end && *line->at >= '0' && *line->at <= '7'; i++)
		byte = byte * 8 + (unsigned)(*line->at++ - '0');
	return (char)byte;
}

/* A quoted text into the memory of the call. */
static void take_text(struct wti_written_call *call, struct wti_call_line *line, unsigned argument)
{
	size_t head = call->text_bytes, at = head + PIECE_HEAD_BYTES;
	bool cut;

	for (line->at++; line->at < line->end && *line->at != '"';) {
		char byte = *line->at++;

		if (byte == '\\' && line->at < line->end)
			byte = unescaped(line);
		if (at < WTI_WRITTEN_BYTES)
			call->text[at++] = (uint8_t)byte;
	}
	if (line->at < line->end)
		line->at++;
	cut = wti_line_passes(line, "...");
	if (head + PIECE_HEAD_BYTES > WTI_WRITTEN_BYTES)
		return;
	if (!cut && at < WTI_WRITTEN_BYTES)
		call->text[at++] = 0; /* it is whole */
	wti_put16(call->text + head, (uint16_t)(at - head - PIECE_HEAD_BYTES));
	call->text[head + 2] = (uint8_t)argument;
	call->text[head + 3] = cut ? PIECE_CUT : 0;
	call->text_bytes = at;
}

/* ---- The call -------------------------------------------------------------------------------- */

bool wti_written_name(struct wti_written_call *call, const char *name, size_t bytes)
{
	static const char unnamed[] = "syscall_"; /* and its number */
	struct wti_call_line rest = {name, name + bytes};
	char text[NAME_BYTES];
	uint64_t number;
	int known;

	if (wti_line_passes(&rest, unnamed) && wti_line_number(&rest, &number) &&
	    rest.at == rest.end && number < WTI_CALLS_MAX) {
		known = (int)number;
	} else {
		if (bytes >= sizeof(text))
			return false;
		memcpy(text, name, bytes);
		text[bytes] = '\0';
		known = wti_call_number(WTI_ARCH_HERE, text);
	}
	if (known < 0)
		return false;
	call->values[WT_SYSCALL_FIELD_NR] = (uint64_t)known;
	call->values[WT_SYSCALL_FIELD_ARCH] = WTI_ARCH_HERE;
	return true;
}

void wti_written_argument(struct wti_written_call *call, unsigned argument,
			  struct wti_call_line *line)
{
	uint64_t *value;

	if (argument >= WTI_CALL_ARGS || line->at >= line->end)
		return;
	value = &call->values[WT_SYSCALL_FIELD_A0 + argument];
	if (*line->at == '"') {
		/* Its address is not written: the number of the argument stands for it. */
		take_text(call, line, argument);
		*value = argument + 1;
	} else if (wti_line_passes(line, "AT_FDCWD")) {
		*value = (uint64_t)AT_FDCWD;
	} else {
		wti_line_number(line, value);
	}
}

static uint32_t track_of(struct wti_intake *intake, uint32_t process, uint64_t tid)
{
	char key[32], name[32];
	int bytes = snprintf(key, sizeof(key), "%llu", (unsigned long long)tid);
	const struct wti_intake_track about = {.process = process,
					       .type = WT_TRACK_THREAD,
					       .tid = (uint32_t)tid,
					       .key = key,
					       .key_bytes = (size_t)bytes};
	uint32_t track = wti_intake_track(intake, &about);

	bytes = snprintf(name, sizeof(name), "thread %llu", (unsigned long long)tid);
	wti_intake_track_name(intake, track, name, (size_t)bytes);
	return track;
}

void wti_written_emit(const struct wti_written_call *call, struct wti_intake *intake,
		      uint32_t process, uint64_t tid, uint64_t time_ns)
{
	const struct wt_text memory = {(const char *)call->text, call->text_bytes};

	wti_intake_event(intake, WT_KIND_SYSCALL, track_of(intake, process, tid), time_ns,
			 call->values, WTI_COUNT(call->values), &memory);
}
