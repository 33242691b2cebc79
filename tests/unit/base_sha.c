/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of FIPS 180-4, and a long text in pieces of every length around a block. */
#include "test.h"

#include <stdlib.h>

#include "base/sha.h"

static bool is_plain; /* without instructions for it */

static const char *hash(bool is_256, const char *text, size_t bytes, size_t piece)
{
	static char out[2 * WTI_SHA256_BYTES + 1];
	uint8_t got[WTI_SHA256_BYTES];
	struct wti_sha sha;

	wti_sha_init(&sha, is_256);
	if (is_plain)
		sha.has_instructions = false;
	for (size_t at = 0; at < bytes; at += piece)
		wti_sha_add(&sha, text + at, bytes - at < piece ? bytes - at : piece);
	wti_sha_end(&sha, got);
	for (size_t i = 0; i < (is_256 ? WTI_SHA256_BYTES : WTI_SHA1_BYTES); i++)
		snprintf(out + 2 * i, 3, "%02x", got[i]);
	return out;
}

static void test_examples(void)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	CHECK_TEXT(hash(false, "", 0, 1), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	CHECK_TEXT(hash(false, "abc", 3, 3), "a9993e364706816aba3e25717850c26c9cd0d89d");
	CHECK_TEXT(hash(false, two, 56, 56), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	CHECK_TEXT(hash(true, "", 0, 1),
		   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK_TEXT(hash(true, "abc", 3, 3),
		   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK_TEXT(hash(true, two, 56, 56),
		   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_pieces(void)
{
	enum { BYTES = 100000 };
	char *text = malloc(BYTES);

	REQUIRE(text);
	for (size_t i = 0; i < BYTES; i++)
		text[i] = (char)(i * 7 >> 3);
	for (size_t piece = 1; piece < 200; piece += piece < 60 ? 7 : 1) {
		CHECK_TEXT(hash(false, text, BYTES, piece),
			   "8ea9e5fd5429fa844365b85a8aecbbf83a892801");
		CHECK_TEXT(hash(true, text, BYTES, piece),
			   "9daa63a1a57b1412a6a36b70b7677fc3caf9bad08d40c0902d6d6e4a01a2a3cb");
	}
	free(text);
}

static void test_plain(void)
{
	is_plain = true;
	test_examples();
	test_pieces();
	is_plain = false;
}

static const struct test tests[] = {
	{"plain", test_plain},
	{"examples", test_examples},
	{"pieces", test_pieces},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
