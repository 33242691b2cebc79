/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets: CSV, and arrays where the input begins as one. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "dataset/dataset.h"
#include "fuzz.h"

static void check(const struct wti_dataset *set)
{
	struct wt_result result;
	struct wt_err err = {0};

	PROMISE(set->rows && set->columns);
	for (uint64_t i = 0; set->labels && i < set->rows; i++)
		PROMISE(set->labels[i] < set->class_count);
	wt_result_init(&result, "dataset");
	PROMISE(!wti_dataset_describe(&set, 1, &result, &err));
	PROMISE(!wti_dataset_compare(&set, 1, &result, &err));
	wt_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_dataset *set = NULL;
	struct wt_err err = {0};
	char path[64];
	int fd = memfd_create("data", 0);
	int r;

	if (fd < 0 || wti_write_all(fd, data, bytes))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = wti_dataset_open(path, NULL, &set, &err);
	PROMISE(r <= 0 && (!r || err.message[0]));
	if (!r)
		check(set);
	wti_dataset_free(set);
	close(fd);
	return 0;
}
