/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of any length as DWARF writes them. Bits beyond the 64th are dropped. */
#ifndef WTI_SYSCALLS_LEB_H
#define WTI_SYSCALLS_LEB_H

#include "base/bytes.h"

static inline uint64_t wti_leb(struct wti_bytes *in, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = wti_bytes_u8(in);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !in->bad);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return value;
}

static inline uint64_t wti_uleb(struct wti_bytes *in)
{
	return wti_leb(in, false);
}

static inline int64_t wti_sleb(struct wti_bytes *in)
{
	return (int64_t)wti_leb(in, true);
}

#endif
