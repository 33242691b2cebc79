/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, buffers and arenas. */
#include "test.h"

#include <errno.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

static void test_err(void)
{
	struct wt_err err = {.offset = 7};

	CHECK_INT(wti_err(&err, WT_E_FORMAT, "bad '%s'", "thing"), WT_E_FORMAT);
	CHECK_INT(err.code, WT_E_FORMAT);
	CHECK_INT(err.offset, -1);
	CHECK_TEXT(err.message, "bad 'thing'");
	CHECK_INT(wti_err_at(&err, WT_E_LIMIT, 42, "much"), WT_E_LIMIT);
	CHECK_INT(err.offset, 42);
	CHECK_INT(wti_err(NULL, WT_E_ARG, "nobody looks"), WT_E_ARG);
}

static void test_err_errno(void)
{
	struct wt_err err;

	errno = ENOENT;
	CHECK_INT(wti_err_errno(&err, "cannot open", "x"), WT_E_MISSING);
	CHECK_TEXT(err.message, "cannot open 'x': No such file or directory");
	errno = EEXIST;
	CHECK_INT(wti_err_errno(&err, "cannot make", "x"), WT_E_EXISTS);
	errno = EACCES;
	CHECK_INT(wti_err_errno(&err, "cannot open", "x"), WT_E_IO);
}

static void test_err_long(void)
{
	struct wt_err err;
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	wti_err(&err, WT_E_ARG, "%s", text);
	CHECK_INT(strlen(err.message), sizeof(err.message) - 1);
}

static void test_append(void)
{
	struct wti_buf buf;

	wti_buf_init(&buf, 1000);
	CHECK_TEXT(wti_buf_cstr(&buf), "");
	CHECK_INT(wti_buf_append(&buf, NULL, 0), 0);
	CHECK_INT(wti_buf_text(&buf, "one "), 0);
	CHECK_INT(wti_buf_byte(&buf, '2'), 0);
	CHECK_INT(wti_buf_printf(&buf, " %0500d", 3), 0);
	CHECK_INT(buf.bytes, 5 + 501);
	CHECK(!strncmp(wti_buf_cstr(&buf), "one 2 000", 9));
	CHECK_INT(wti_buf_cstr(&buf)[505], '3');
	wti_buf_release(&buf);
	CHECK(!buf.data && !buf.bytes && !buf.capacity);
	wti_buf_release(NULL);
}

static void test_ceiling(void)
{
	struct wti_buf buf;

	for (size_t ceiling = 0; ceiling < 300; ceiling++) {
		wti_buf_init(&buf, ceiling);
		for (size_t i = 0; i < ceiling; i++)
			CHECK_INT(wti_buf_byte(&buf, 'a'), 0);
		CHECK_INT(wti_buf_byte(&buf, 'b'), WT_E_LIMIT);
		CHECK_INT(wti_buf_status(&buf), WT_E_LIMIT);
		CHECK_INT(wti_buf_append(&buf, NULL, 0), WT_E_LIMIT); /* it sticks */
		CHECK_TEXT(wti_buf_cstr(&buf), "");
		CHECK_INT(buf.bytes, ceiling);
		CHECK(buf.capacity <= ceiling);
		wti_buf_clear(&buf);
		CHECK_INT(wti_buf_status(&buf), 0);
		CHECK_INT(wti_buf_printf(&buf, "%*d", (int)ceiling + 1, 1), WT_E_LIMIT);
		wti_buf_release(&buf);
	}
}

static void test_reserve(void)
{
	struct wti_buf buf;
	uint8_t *end;

	wti_buf_init(&buf, SIZE_MAX);
	end = wti_buf_reserve(&buf, 100);
	REQUIRE(end);
	CHECK_INT(buf.bytes, 0);
	memset(end, 'z', 100);
	wti_buf_added(&buf, 100);
	CHECK_INT(buf.bytes, 100);
	CHECK(!wti_buf_reserve(&buf, SIZE_MAX - 50));
	CHECK_INT(wti_buf_status(&buf), WT_E_LIMIT);
	wti_buf_release(&buf);
}

static void test_inherit(void)
{
	struct wti_buf whole, part;

	wti_buf_init(&whole, 10);
	wti_buf_init(&part, 0);
	wti_buf_byte(&part, 'x'); /* too long is no reason: parts may be cut */
	wti_buf_inherit(&whole, &part);
	CHECK_INT(wti_buf_status(&whole), 0);
	part.status = WT_E_NOMEM;
	wti_buf_inherit(&whole, &part);
	CHECK_INT(wti_buf_status(&whole), WT_E_NOMEM);
}

static void test_arena(void)
{
	struct wti_arena arena;
	char *first, *text;

	wti_arena_init(&arena, 1 << 20);
	first = wti_arena_alloc(&arena, 3);
	REQUIRE(first);
	CHECK_INT(first[0] | first[1] | first[2], 0);
	for (size_t i = 1; i < 600; i++) {
		uint8_t *piece = wti_arena_alloc(&arena, i);

		REQUIRE(piece);
		CHECK_INT((uintptr_t)piece % 16, 0);
		for (size_t j = 0; j < i; j++)
			CHECK_INT(piece[j], 0);
		memset(piece, 0xff, i);
	}
	text = wti_arena_text(&arena, "wheel\0tap", 9);
	REQUIRE(text);
	CHECK_BYTES(text, "wheel\0tap", 10);
	CHECK(!wti_arena_alloc(&arena, 1 << 20));
	CHECK(!wti_arena_alloc(&arena, SIZE_MAX));
	CHECK(!wti_arena_text(&arena, "", SIZE_MAX));
	wti_arena_release(&arena);
	CHECK_INT(arena.bytes, 0);
}

static const struct test tests[] = {
	{"err", test_err},         {"err_errno", test_err_errno}, {"err_long", test_err_long},
	{"append", test_append},   {"ceiling", test_ceiling},     {"reserve", test_reserve},
	{"inherit", test_inherit}, {"arena", test_arena},         {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
