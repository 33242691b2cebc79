/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian numbers in memory, and a cursor that reads them without ever passing the end:
 * a read beyond it gives 0 and makes the cursor bad, so that a parser may check once per entry.
 */
#ifndef WTI_BASE_BYTES_H
#define WTI_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "wheeltap needs a little-endian machine"
#endif

/* Elements of an array. */
#define WTI_COUNT(array) (sizeof(array) / sizeof(*(array)))

static inline uint16_t wti_get16(const void *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t wti_get32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t wti_get64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline void wti_put16(void *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void wti_put32(void *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void wti_put64(void *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

struct wti_bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline size_t wti_bytes_left(const struct wti_bytes *in)
{
	return (size_t)(in->end - in->at);
}

/* The next `bytes` bytes, or NULL. */
static inline const uint8_t *wti_bytes_take(struct wti_bytes *in, size_t bytes)
{
	const uint8_t *at = in->at;

	if (in->bad || wti_bytes_left(in) < bytes) {
		in->bad = true;
		return NULL;
	}
	in->at += bytes;
	return at;
}

/* The same as a piece to be read by itself; bad, and empty, if there is not that much. */
static inline struct wti_bytes wti_bytes_part(struct wti_bytes *in, size_t bytes)
{
	const uint8_t *at = wti_bytes_take(in, bytes);

	if (!at)
		return (struct wti_bytes){in->at, in->at, true};
	return (struct wti_bytes){at, at + bytes, false};
}

static inline uint8_t wti_bytes_u8(struct wti_bytes *in)
{
	const uint8_t *at = wti_bytes_take(in, 1);

	return at ? *at : 0;
}

static inline uint16_t wti_bytes_u16(struct wti_bytes *in)
{
	const uint8_t *at = wti_bytes_take(in, 2);

	return at ? wti_get16(at) : 0;
}

static inline uint32_t wti_bytes_u32(struct wti_bytes *in)
{
	const uint8_t *at = wti_bytes_take(in, 4);

	return at ? wti_get32(at) : 0;
}

static inline uint64_t wti_bytes_u64(struct wti_bytes *in)
{
	const uint8_t *at = wti_bytes_take(in, 8);

	return at ? wti_get64(at) : 0;
}

#endif
