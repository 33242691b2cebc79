/* SPDX-License-Identifier: Apache-2.0 */
/* Goldens: what is taken is written so that it reads back and is written the same; what is not is
 * said. */
#include <string.h>

#include "fuzz.h"
#include "inspect/golden/golden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_err err = {.offset = -1};
	struct wti_golden golden, again;
	struct wti_buf first, second;
	int r = wti_golden_read("input", (const char *)data, bytes, &golden, &err);

	if (r) {
		PROMISE(err.message[0] && err.code == r);
		return 0;
	}
	wti_buf_init(&first, (size_t)1 << 26);
	wti_buf_init(&second, (size_t)1 << 26);
	wti_golden_write(&golden, &first);
	PROMISE(!wti_buf_status(&first));
	PROMISE(!wti_golden_read("output", (const char *)first.data, first.bytes, &again, &err));
	wti_golden_write(&again, &second);
	PROMISE(first.bytes == second.bytes && !memcmp(first.data, second.data, first.bytes));
	wti_buf_release(&first);
	wti_buf_release(&second);
	wti_golden_release(&again);
	wti_golden_release(&golden);
	return 0;
}
