/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls with any arguments and any memory behind them. The input: architecture, number,
 * flags, result and arguments, then pieces of memory as a trace has them.
 */
#include <string.h>

#include "fuzz.h"
#include "syscall/decode.h"

#define HEAD_BYTES 64

static void take_pieces(struct wti_syscall *call, const uint8_t *data, size_t bytes)
{
	while (bytes > 2 && call->piece_count < WTI_SYSCALL_PIECES_MAX) {
		struct wti_piece *piece = &call->pieces[call->piece_count++];
		size_t length = data[0];

		piece->address = call->args[data[1] % WTI_CALL_ARGS];
		piece->when = data[1] & 0x80 ? WTI_AT_EXIT : WTI_AT_ENTRY;
		/* A pointer in one piece may lead to another: arguments are not all addresses. */
		if (data[1] & 0x40)
			piece->address = 0x4141414141414141;
		data += 2;
		bytes -= 2;
		if (length > bytes)
			length = bytes;
		piece->data = data;
		piece->bytes = (uint32_t)length;
		data += length;
		bytes -= length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct wti_decode_options more = {.string_max = 200};
	struct wti_syscall call;
	struct wti_buf out;

	if (bytes < HEAD_BYTES)
		return 0;
	memset(&call, 0, sizeof(call));
	call.arch = data[0] & 1 ? WTI_ARCH_X86_64 : WTI_ARCH_AARCH64;
	call.nr = (uint32_t)(data[1] | data[2] << 8) % 512;
	call.flags = data[3] & 0x1f;
	memcpy(call.args, data + 8, sizeof(call.args));
	memcpy(&call.result, data + 56, sizeof(call.result));
	take_pieces(&call, data + HEAD_BYTES, bytes - HEAD_BYTES);
	wti_buf_init(&out, 1u << 20);
	wti_decode_line(&out, 0, &call, data[0] & 2 ? &more : NULL);
	PROMISE(!wti_buf_status(&out) || out.status == WT_E_LIMIT);
	for (size_t i = 0; i < out.bytes; i++)
		PROMISE(out.data[i] >= ' ' && out.data[i] <= '~');
	for (unsigned i = 0; i < WTI_CALL_ARGS; i++)
		wti_decode_argument(&out, &call, i, NULL);
	wti_buf_release(&out);
	return 0;
}
