/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of models: what is taken is written so that it reads back and is written the same. */
#include <string.h>

#include "fuzz.h"
#include "model/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_manifest *manifest = NULL, *again = NULL;
	struct wt_err err = {.offset = -1};
	struct wti_buf first, second;
	int r = wti_manifest_parse("input", (const char *)data, bytes, &manifest, &err);

	if (r) {
		PROMISE(err.message[0] && err.code == r);
		return 0;
	}
	wti_buf_init(&first, (size_t)1 << 26);
	wti_buf_init(&second, (size_t)1 << 26);
	wti_manifest_write(&first, manifest);
	PROMISE(!wti_manifest_parse("output", (const char *)first.data, first.bytes, &again, &err));
	wti_manifest_write(&second, again);
	PROMISE(first.bytes == second.bytes && !memcmp(first.data, second.data, first.bytes));
	wti_buf_release(&first);
	wti_buf_release(&second);
	wti_manifest_free(again);
	wti_manifest_free(manifest);
	return 0;
}
