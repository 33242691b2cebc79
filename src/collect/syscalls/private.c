/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how pieces are laid out, and which of them are texts: printable up to their end. */
#include "private.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/secret.h"
#include "syscall/record.h"

/* How many bytes of text there are; 0: it is none. */
static size_t text_bytes(const uint8_t *data, size_t bytes)
{
	size_t length = 0;

	while (length < bytes && data[length])
		length++;
	for (size_t i = 0; i < length; i++)
		if (data[i] < ' ' && data[i] != '\n' && data[i] != '\t')
			return 0;
	/* The end of a text, or nothing but text as it was cut. */
	return length + 1 >= bytes ? length : 0;
}

size_t wti_private_pieces(uint8_t *memory, size_t bytes)
{
	bool after_key = false;
	size_t at = 0;

	while (bytes - at >= WTI_PIECE_HEAD_BYTES) {
		uint8_t *piece = memory + at;
		size_t length = wti_get16(piece);
		size_t head = WTI_PIECE_HEAD_BYTES + (piece[2] == WTI_PIECE_OTHER ? 8u : 0);
		size_t text, kept, end = at + head + length;
		char *data = (char *)piece + head;

		if (end > bytes)
			break;
		text = text_bytes((const uint8_t *)data, length);
		kept = after_key ? wti_secret_mask_all(data, text) : wti_secret_mask(data, text);
		after_key = text && !memchr(data, '=', kept) && wti_secret_is_key(data, kept);
		if (kept < text)
			piece[3] |= WTI_PIECE_PRIVATE;
		memmove(data + kept, data + text, bytes - (at + head + text));
		bytes -= text - kept;
		wti_put16(piece, (uint16_t)(length - (text - kept)));
		at = end - (text - kept);
	}
	return bytes;
}
