/* SPDX-License-Identifier: Apache-2.0 */
/* See chance.h. Knows nothing of the format. */
#include "chance.h"

#include <string.h>

#include "base/bytes.h"

#define TEXT_BYTES_MAX 65535u

uint64_t chance_u64(struct chance *chance)
{
	uint64_t x = chance->state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

size_t chance_below(struct chance *chance, size_t limit)
{
	return limit ? chance_u64(chance) % limit : 0;
}

bool chance_once_in(struct chance *chance, size_t n)
{
	return chance_below(chance, n) == 0;
}

uint64_t chance_value(struct chance *chance, uint64_t near)
{
	static const uint64_t ends[] = {
		0,
		1,
		2,
		255,
		256,
		65535,
		65536,
		INT32_MAX,
		(uint64_t)INT32_MAX + 1,
		UINT32_MAX,
		(uint64_t)UINT32_MAX + 1,
		INT64_MAX,
		(uint64_t)INT64_MAX + 1, /* INT64_MIN, -0.0 */
		UINT64_MAX,
		UINT64_MAX - 1,
		(uint64_t)INT64_MIN + 1,
		(uint64_t)INT32_MIN, /* sign-extended */
		0x7ff0000000000000u, /* infinity */
		0xfff0000000000000u, /* -infinity */
		0x7ff8000000000000u, /* NaN */
		0x7ff0000000000001u, /* signalling NaN */
		0x7fefffffffffffffu, /* greatest finite */
		0xffefffffffffffffu, /* least finite */
		1u << 23,            /* greatest id */
		(1u << 23) + 1,
		0x43f0000000000000u, /* 2^64 as a double */
	};
	switch (chance_below(chance, 6)) {
	case 0:
		return near + 1;
	case 1:
		return near - 1;
	case 2:
		return (1ull << chance_below(chance, 64)) - chance_below(chance, 2);
	case 3:
		return near ^ 1ull << chance_below(chance, 64);
	default:
		return ends[chance_below(chance, WTI_COUNT(ends))];
	}
}

const char *chance_text(struct chance *chance, size_t *ret_bytes)
{
	static const struct {
		const char *data;
		size_t bytes;
	} texts[] = {
#define TEXT(literal) {literal, sizeof(literal) - 1}
		TEXT(""),
		TEXT("\x1b[2J\x1b[31mred\x1b]0;title\x07"),
		TEXT("\x9b"
		     "31m"), /* C1, as a byte */
		TEXT("\xc2\x9b"
		     "31m\xc2\x85"), /* C1, in UTF-8 */
		TEXT("a\rb\bc\x7f"
		     "d\ve\f"),
		TEXT("line\nline\n\n"),
		TEXT("\0middle\0"),
		TEXT("\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82"), /* no UTF-8 */
		TEXT("\xe2\x80\xae"
		     "txt.exe\xe2\x80\xa8"), /* from right to left, a line's end */
		TEXT("\"\\'`,;=\t{}[]<>&</script><!--"),
		TEXT("%s%n%p%99999d"),
		TEXT("../../../../etc/passwd"),
		TEXT("/proc/self/mem"),
		TEXT("18446744073709551616"),
		TEXT("-9223372036854775808"),
		TEXT("1e999"),
		TEXT("nan"),
		TEXT("9999999999x9999999999x9999999999"),
		TEXT("-1x0x"),
		TEXT("train"),
		TEXT("step"),
		TEXT("loss"),
		TEXT("torch.optim.SGD.step"),
		TEXT("=cmd|' /C calc'!A0"),
		TEXT("[[[[[[[[[[[[[[[[((((((((((((((((*+*+*+"),
#undef TEXT
	};
	static char text[TEXT_BYTES_MAX];
	size_t which = chance_below(chance, WTI_COUNT(texts) + 3), bytes;

	if (which < WTI_COUNT(texts)) {
		*ret_bytes = texts[which].bytes;
		return texts[which].data;
	}
	bytes = chance_once_in(chance, 2) ? TEXT_BYTES_MAX : chance_below(chance, 300);
	for (size_t i = 0; i < bytes; i++)
		text[i] = which == WTI_COUNT(texts) ? 'A' : (char)chance_u64(chance);
	*ret_bytes = bytes;
	return text;
}
