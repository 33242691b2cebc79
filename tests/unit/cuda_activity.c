/* SPDX-License-Identifier: Apache-2.0 */
/* Activity buffers made by hand: what is read of them, where walking ends, and which bytes are not
 * touched. */
#include "cuda/activity.h"
#include "cuda/words.h"

#include <stdlib.h>

#include "test.h"

static const uint32_t versions[] = {17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 130001};
static const uint32_t kinds[] = {1,  2,  3,  4,  5,  8,  9,  10, 11, 12, 13, 17,
				 22, 36, 37, 38, 39, 45, 48, 49, 50, 51, 52};

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void test_kernel(void)
{
	static const size_t lengths[] = {144, 160, 168, 176, 200, 208, 216};
	struct wti_cuda_record record;
	uint8_t bytes[216] = {10};
	char words[WTI_CUDA_WORDS_BYTES];

	put64(bytes + 16, 1000);
	put64(bytes + 24, 2000);
	put32(bytes + 40, 3);
	put32(bytes + 48, 7);
	put32(bytes + 52, 64);
	put32(bytes + 56, 1);
	put32(bytes + 60, 1);
	put32(bytes + 64, 128);
	put32(bytes + 68, 2);
	put32(bytes + 72, 1);
	put32(bytes + 92, 41);
	put64(bytes + 104, 0x1234);
	put64(bytes + 128, 990);
	put64(bytes + 144, 77);
	put32(bytes + 156, 5);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		REQUIRE(wti_cuda_decode(bytes, lengths[i], &record));
		CHECK_INT(record.start, 1000);
		CHECK_INT(record.end, 2000);
		CHECK_INT(record.device, 3);
		CHECK_INT(record.stream, 7);
		CHECK_INT(record.correlation, 41);
		CHECK_INT(record.name, 0x1234);
		CHECK_INT(record.submitted, 990);
		CHECK_INT(record.node, lengths[i] >= 160 ? 77 : 0); /* older ones know no graphs */
		CHECK_INT(record.graph, lengths[i] >= 160 ? 5 : 0);
		REQUIRE(wti_cuda_geometry(&record, words) > 0);
		CHECK_TEXT(words, "64x1x1/128x2x1");
	}
	CHECK(!wti_cuda_decode(bytes, 136, &record));
	CHECK(!wti_cuda_decode(bytes, 3, &record));
}

static void test_words(void)
{
	struct wti_cuda_record record;
	char words[WTI_CUDA_WORDS_BYTES];
	uint8_t bytes[96] = {1, 0, 0, 0, 1, 1, 3};

	REQUIRE(wti_cuda_decode(bytes, 96, &record));
	wti_cuda_words(&record, words);
	CHECK_TEXT(words, "Memcpy HtoD (Pageable -> Device)");
	record.what = record.from_memory = 0xffffffffu;
	wti_cuda_words(&record, words);
	CHECK_TEXT(words, "Memcpy unknown (unknown -> Device)");
}

/* Every kind of every version, one after the other; each is found, and nothing else. */
static void test_walk(void)
{
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		uint8_t *buffer = calloc(1, 8192);
		struct wti_cuda_record record;
		struct wti_cuda_walk walk;
		size_t bytes = 0, made = 0, found = 0;

		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			const size_t length = wti_cuda_record_bytes(versions[v], kinds[i]);

			if (!length)
				continue;
			put32(buffer + bytes, kinds[i]);
			bytes += length;
			made++;
		}
		wti_cuda_walk_init(&walk, buffer, bytes, NULL, versions[v]);
		while (wti_cuda_walk_next(&walk)) {
			CHECK(wti_cuda_decode(buffer + walk.at, walk.record_bytes, &record));
			found++;
		}
		CHECK_INT(found, made);
		CHECK(!walk.is_cut);
		wti_cuda_walk_init(&walk, buffer, bytes - 8, NULL, versions[v]);
		for (found = 0; wti_cuda_walk_next(&walk);)
			found++;
		CHECK_INT(found, made - 1);
		CHECK(walk.is_cut);
		free(buffer);
	}
}

static void test_unknown(void)
{
	struct wti_cuda_record record;
	struct wti_cuda_walk walk;
	uint8_t bytes[64] = {63};

	CHECK(!wti_cuda_decode(bytes, sizeof(bytes), &record));
	put32(bytes, 0xffffffffu);
	CHECK(!wti_cuda_decode(bytes, sizeof(bytes), &record));
	wti_cuda_walk_init(&walk, bytes, sizeof(bytes), NULL, 28);
	CHECK(!wti_cuda_walk_next(&walk));
	CHECK(walk.is_cut);
	CHECK(!wti_cuda_version_is_known(16));
	CHECK(!wti_cuda_version_is_known(130401));
	CHECK_INT(wti_cuda_record_bytes(16, 10), 0);
}

/* A library that leads out of the buffer, backwards, or nowhere is not followed. */
static uint8_t *next_place;

static int next_wrong(uint8_t *buffer, size_t bytes, void **record)
{
	(void)bytes;
	*record = *record ? next_place : buffer;
	return 0;
}

static void test_library(void)
{
	uint8_t around[144] = {0}, *const buffer = around + 24;
	uint8_t *const places[] = {buffer, buffer + 96, around, NULL};
	struct wti_cuda_walk walk;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		next_place = places[i];
		wti_cuda_walk_init(&walk, buffer, 96, next_wrong, 28);
		CHECK(wti_cuda_walk_next(&walk));
		CHECK_INT(walk.at, 0);
		CHECK(!wti_cuda_walk_next(&walk));
	}
}

static const struct test tests[] = {{"kernel", test_kernel},   {"words", test_words},
				    {"walk", test_walk},       {"unknown", test_unknown},
				    {"library", test_library}, {NULL, NULL}};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
