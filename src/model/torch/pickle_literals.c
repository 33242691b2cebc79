/* SPDX-License-Identifier: Apache-2.0 */
/* The opcodes of pickle that put a number or a text on the stack, and how their arguments are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/torch/pickle_machine.h"

#define PROTOCOL_MAX 5

int wti_pickle_cut(const struct wti_pickle_machine *machine)
{
	return wti_pickle_bad(machine, WT_E_FORMAT,
			      "its pickle ends too early: it was cut; copy or download it again");
}

/* ---- Arguments of opcodes ------------------------------------------------------------------- */

/* A length of so many bytes; what does not fit is longer than any pickle. */
uint64_t wti_pickle_take_number(struct wti_pickle_machine *machine, size_t bytes)
{
	const uint8_t *at = wti_bytes_take(&machine->in, bytes);
	uint64_t number = 0;

	for (size_t i = 0; at && i < bytes; i++)
		number |= (uint64_t)at[i] << (8 * i);
	return number;
}

static const uint8_t *take(struct wti_pickle_machine *machine, uint64_t bytes)
{
	return wti_bytes_take(&machine->in, bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes);
}

/* Up to the end of the line, which is left out. */
const char *wti_pickle_take_line(struct wti_pickle_machine *machine, size_t *ret_bytes)
{
	const uint8_t *from = machine->in.at;
	const uint8_t *end = memchr(from, '\n', wti_bytes_left(&machine->in));

	if (!end)
		return NULL;
	machine->in.at = end + 1;
	*ret_bytes = (size_t)(end - from);
	return (const char *)from;
}

/* ---- Numbers and texts ---------------------------------------------------------------------- */

static int op_proto(struct wti_pickle_machine *machine)
{
	uint8_t protocol = wti_bytes_u8(&machine->in);

	if (machine->in.bad)
		return wti_pickle_cut(machine);
	if (protocol > PROTOCOL_MAX)
		return wti_pickle_bad(machine, WT_E_VERSION,
				      "is a pickle of protocol %u: up to %d are read", protocol,
				      PROTOCOL_MAX);
	return 0;
}

static int op_frame(struct wti_pickle_machine *machine)
{
	uint64_t bytes = wti_pickle_take_number(machine, 8);

	return machine->in.bad || bytes > wti_bytes_left(&machine->in) ? wti_pickle_cut(machine)
								       : 0;
}

static int op_none(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_new(machine, WTI_PICKLE_NONE);
}

static int op_true(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_int(machine, WTI_PICKLE_BOOL, 1);
}

static int op_false(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_int(machine, WTI_PICKLE_BOOL, 0);
}

static int push_taken(struct wti_pickle_machine *machine, int64_t integer)
{
	return machine->in.bad ? wti_pickle_cut(machine)
			       : wti_pickle_push_int(machine, WTI_PICKLE_INT, integer);
}

static int op_binint(struct wti_pickle_machine *machine)
{
	return push_taken(machine, (int32_t)wti_bytes_u32(&machine->in));
}

static int op_binint1(struct wti_pickle_machine *machine)
{
	return push_taken(machine, wti_bytes_u8(&machine->in));
}

static int op_binint2(struct wti_pickle_machine *machine)
{
	return push_taken(machine, wti_bytes_u16(&machine->in));
}

static int push_long(struct wti_pickle_machine *machine, uint64_t bytes)
{
	const uint8_t *at = machine->in.bad ? NULL : take(machine, bytes);
	uint64_t integer;

	if (!at)
		return wti_pickle_cut(machine);
	if (bytes > 8)
		return wti_pickle_push_text(machine, WTI_PICKLE_LONG, at, (size_t)bytes);
	integer = bytes && at[bytes - 1] & 0x80 ? UINT64_MAX : 0;
	memcpy(&integer, at, (size_t)bytes);
	return wti_pickle_push_int(machine, WTI_PICKLE_INT, (int64_t)integer);
}

static int op_long1(struct wti_pickle_machine *machine)
{
	return push_long(machine, wti_pickle_take_number(machine, 1));
}

static int op_long4(struct wti_pickle_machine *machine)
{
	return push_long(machine, wti_pickle_take_number(machine, 4));
}

static int op_binfloat(struct wti_pickle_machine *machine)
{
	const uint8_t *at = take(machine, 8);
	uint64_t bits;
	int r;

	if (!at)
		return wti_pickle_cut(machine);
	bits = __builtin_bswap64(wti_get64(at));
	r = wti_pickle_push_new(machine, WTI_PICKLE_FLOAT);
	if (!r)
		memcpy(&wti_pickle_top(machine)->number, &bits, sizeof(bits));
	return r;
}

static int push_sized(struct wti_pickle_machine *machine, uint8_t type, size_t length_bytes)
{
	uint64_t bytes = wti_pickle_take_number(machine, length_bytes);
	const uint8_t *at = machine->in.bad ? NULL : take(machine, bytes);

	return at ? wti_pickle_push_text(machine, type, at, (size_t)bytes)
		  : wti_pickle_cut(machine);
}

static int op_unicode1(struct wti_pickle_machine *machine)
{
	return push_sized(machine, WTI_PICKLE_TEXT, 1);
}

static int op_unicode4(struct wti_pickle_machine *machine)
{
	return push_sized(machine, WTI_PICKLE_TEXT, 4);
}

static int op_unicode8(struct wti_pickle_machine *machine)
{
	return push_sized(machine, WTI_PICKLE_TEXT, 8);
}

static int op_bytes1(struct wti_pickle_machine *machine)
{
	return push_sized(machine, WTI_PICKLE_BYTES, 1);
}

static int op_bytes4(struct wti_pickle_machine *machine)
{
	return push_sized(machine, WTI_PICKLE_BYTES, 4);
}

static int op_bytes8(struct wti_pickle_machine *machine)
{
	return push_sized(machine, WTI_PICKLE_BYTES, 8);
}

/* ---- Numbers and texts as lines: protocol 0 ------------------------------------------------- */

/* "I01" and "I00" are True and False; an integer may end with an L. */
int wti_pickle_int(struct wti_pickle_machine *machine)
{
	size_t bytes = 0;
	const char *line = wti_pickle_take_line(machine, &bytes);
	char text[32], *end = text;
	long long integer;

	if (!line)
		return wti_pickle_cut(machine);
	if (bytes == 2 && line[0] == '0' && *machine->opcode == 'I')
		return wti_pickle_push_int(machine, WTI_PICKLE_BOOL, line[1] == '1');
	if (bytes && line[bytes - 1] == 'L')
		bytes--;
	if (!bytes || bytes >= sizeof(text))
		return wti_pickle_bad(machine, WT_E_FORMAT, "has a number that is too long");
	memcpy(text, line, bytes);
	text[bytes] = 0;
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (*end || errno)
		return wti_pickle_bad(machine, WT_E_FORMAT, "has a malformed number");
	return wti_pickle_push_int(machine, WTI_PICKLE_INT, integer);
}

static int op_float(struct wti_pickle_machine *machine)
{
	size_t bytes = 0;
	const char *line = wti_pickle_take_line(machine, &bytes);
	char text[64], *end = text;
	int r;

	if (!line)
		return wti_pickle_cut(machine);
	if (!bytes || bytes >= sizeof(text))
		return wti_pickle_bad(machine, WT_E_FORMAT, "has a number that is too long");
	memcpy(text, line, bytes);
	text[bytes] = 0;
	r = wti_pickle_push_new(machine, WTI_PICKLE_FLOAT);
	if (!r)
		wti_pickle_top(machine)->number = strtod(text, &end);
	return r || !*end ? r : wti_pickle_bad(machine, WT_E_FORMAT, "has a malformed number");
}

/* In quotes. Escapes stay as they are: names and keys have none. */
static int op_string(struct wti_pickle_machine *machine)
{
	size_t bytes = 0;
	const char *line = wti_pickle_take_line(machine, &bytes);

	if (!line)
		return wti_pickle_cut(machine);
	if (bytes < 2 || line[0] != line[bytes - 1] || (line[0] != '\'' && line[0] != '"'))
		return wti_pickle_bad(machine, WT_E_FORMAT, "has a text without quotes");
	return wti_pickle_push_text(machine, WTI_PICKLE_TEXT, line + 1, bytes - 2);
}

int wti_pickle_line(struct wti_pickle_machine *machine)
{
	size_t bytes = 0;
	const char *line = wti_pickle_take_line(machine, &bytes);

	return line ? wti_pickle_push_text(machine, WTI_PICKLE_TEXT, line, bytes)
		    : wti_pickle_cut(machine);
}

/* clang-format off */
wti_pickle_operation *const wti_pickle_literals[256] = {
	['F'] = op_float,
	['I'] = wti_pickle_int,
	['S'] = op_string,
	['G'] = op_binfloat,
	[0x88] = op_true,
	[0x89] = op_false,
	[0x95] = op_frame,
	['J'] = op_binint,
	['K'] = op_binint1,
	['L'] = wti_pickle_int,
	['M'] = op_binint2,
	['N'] = op_none,
	['T'] = op_unicode4, /* the texts of Python 2: names of tensors are such */
	['U'] = op_unicode1,
	['V'] = wti_pickle_line,
	['X'] = op_unicode4,
	['B'] = op_bytes4,
	['C'] = op_bytes1,
	[0x80] = op_proto,
	[0x8a] = op_long1,
	[0x8b] = op_long4,
	[0x8c] = op_unicode1,
	[0x8d] = op_unicode8,
	[0x8e] = op_bytes8,
	[0x96] = op_bytes8, /* a bytearray */
};
/* clang-format on */
