/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity buffers with anything in them. The first byte chooses the version. No byte outside the
 * buffer is read, walking ends, and whatever was decoded can be put into words.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/activity.h"
#include "cuda/words.h"
#include "fuzz.h"

static void look(const uint8_t *at, size_t bytes)
{
	char words[WTI_CUDA_WORDS_BYTES];
	struct wti_cuda_record record;

	if (!wti_cuda_decode(at, bytes, &record))
		return;
	PROMISE(wti_cuda_words(&record, words) < sizeof(words));
	PROMISE(wti_cuda_geometry(&record, words) < sizeof(words));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint32_t versions[] = {17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 130001, 5};
	struct wti_cuda_walk walk;
	size_t behind = 0;
	uint8_t *copy;

	if (!bytes)
		return 0;
	copy = malloc(bytes); /* so that a byte behind its end is noticed */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, bytes - 1);
	wti_cuda_walk_init(&walk, copy, bytes - 1, NULL,
			   versions[data[0] % (sizeof(versions) / sizeof(versions[0]))]);
	while (wti_cuda_walk_next(&walk)) {
		PROMISE(walk.at == behind && walk.record_bytes >= 8);
		behind = walk.at + walk.record_bytes;
		PROMISE(behind <= bytes - 1);
		look(copy + walk.at, walk.record_bytes);
	}
	look(copy, bytes - 1); /* as a library might say that it is one record */
	free(copy);
	return 0;
}
