/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows FIPS 180-4. Both take blocks of 64 bytes and differ in what they do with them. Hides
 * whether the processor has instructions for SHA-256.
 */
#include "sha.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "sha_kernel.h"

#define BLOCK_BYTES 64

static uint32_t left(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

static uint32_t right(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static void read_words(const uint8_t *block, uint32_t w[16])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
}

static void mix_1(uint32_t h[8], const uint8_t *block)
{
	static const uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
	uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
	uint32_t w[80];

	read_words(block, w);
	for (int i = 16; i < 80; i++)
		w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20              ? (b & c) | (~b & d)
			     : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
						 : b ^ c ^ d;
		uint32_t next = left(a, 5) + f + e + k[i / 20] + w[i];

		e = d;
		d = c;
		c = left(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

static const uint32_t k_256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static void mix_256(uint32_t h[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	read_words(block, w);
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	memcpy(v, h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t s0 = right(v[0], 2) ^ right(v[0], 13) ^ right(v[0], 22);
		uint32_t s1 = right(v[4], 6) ^ right(v[4], 11) ^ right(v[4], 25);
		uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k_256[i] + w[i];
		uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

static bool has_instructions(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	/* Leaf 7 has SHA in bit 29 of EBX: __builtin_cpu_supports() of gcc 12 does not know it. */
	return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3") &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29;
#else
	return false;
#endif
}

void wti_sha_init(struct wti_sha *sha, bool is_256)
{
	static const uint32_t first_1[8] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
					    0xc3d2e1f0};
	static const uint32_t first_256[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	*sha = (struct wti_sha){.is_256 = is_256, .has_instructions = is_256 && has_instructions()};
	memcpy(sha->state, is_256 ? first_256 : first_1, sizeof(sha->state));
}

/* Whole blocks. */
static void mix(struct wti_sha *sha, const uint8_t *block, size_t count)
{
#if defined(__x86_64__)
	if (sha->has_instructions) {
		wti_sha256_ni(sha->state, block, count, k_256);
		return;
	}
#endif
	for (; count; count--, block += BLOCK_BYTES) {
		if (sha->is_256)
			mix_256(sha->state, block);
		else
			mix_1(sha->state, block);
	}
}

void wti_sha_add(struct wti_sha *sha, const void *data, size_t bytes)
{
	const uint8_t *at = data;
	size_t used = sha->bytes % BLOCK_BYTES;

	sha->bytes += bytes;
	if (used) {
		size_t more = bytes < BLOCK_BYTES - used ? bytes : BLOCK_BYTES - used;

		memcpy(sha->block + used, at, more);
		if (used + more < BLOCK_BYTES)
			return;
		mix(sha, sha->block, 1);
		at += more;
		bytes -= more;
	}
	mix(sha, at, bytes / BLOCK_BYTES);
	if (bytes % BLOCK_BYTES)
		memcpy(sha->block, at + bytes / BLOCK_BYTES * BLOCK_BYTES, bytes % BLOCK_BYTES);
}

void wti_sha_end(struct wti_sha *sha, uint8_t ret_hash[WTI_SHA256_BYTES])
{
	static const uint8_t padding[BLOCK_BYTES] = {0x80};
	uint64_t bits = sha->bytes * 8;
	size_t used = sha->bytes % BLOCK_BYTES;
	uint8_t length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	wti_sha_add(sha, padding, used < 56 ? 56 - used : BLOCK_BYTES + 56 - used);
	wti_sha_add(sha, length, sizeof(length));
	for (int i = 0; i < (sha->is_256 ? WTI_SHA256_BYTES : WTI_SHA1_BYTES); i++)
		ret_hash[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}
