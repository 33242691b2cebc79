/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how tensors of a trace and of a file find each other: by name. */
#include "saved.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "model/examine.h"
#include "show/report/report.h"

/* What is read of one checkpoint at most: a report should take seconds. */
#define BYTES_MAX (16ull << 30)

struct comparison {
	size_t same, other, missing, unknown;
	const char *first; /* tensor that is not as it was saved */
	uint64_t bytes;    /* read */
};

/* The digest of a tensor of the file, as the trace writes it; false: it cannot be read. */
static bool hash_of(struct wti_model *model, const struct wti_model_tensor *tensor, char out[17])
{
	struct wti_model_examined examined;
	struct wt_err failed = {.offset = -1};

	if (wti_model_examine(model, tensor, WTI_MODEL_HASH, &examined, &failed))
		return false;
	snprintf(out, 17, "%016" PRIx64, examined.digest.hash);
	return true;
}

static void compare_one(struct wti_model *model, const char *name, const char *saved,
			struct comparison *comparison)
{
	const struct wti_model_tensor *tensor = wti_model_find(model, name);
	char hash[17];

	if (!tensor) {
		comparison->missing++;
		comparison->first = comparison->first ? comparison->first : name;
		return;
	}
	if (comparison->bytes + tensor->bytes > BYTES_MAX || !hash_of(model, tensor, hash)) {
		comparison->unknown++;
		return;
	}
	comparison->bytes += tensor->bytes;
	if (!strcmp(hash, saved)) {
		comparison->same++;
		return;
	}
	comparison->other++;
	comparison->first = comparison->first ? comparison->first : name;
}

static void put_words(struct wti_buf *out, const struct comparison *comparison, size_t count)
{
	if (!comparison->same && !comparison->other && comparison->missing == count) {
		wti_textf(out, "not compared: the file has no tensor of the names that were saved");
		return;
	}
	wti_textf(out, "%zu of %zu tensors have the digest that was saved", comparison->same,
		  count);
	if (comparison->other)
		wti_textf(out, "; %zu DIFFER", comparison->other);
	if (comparison->missing)
		wti_textf(out, "; %zu are not in the file", comparison->missing);
	if (comparison->unknown)
		wti_textf(out, "; %zu were not compared", comparison->unknown);
	if (comparison->first)
		wti_textf(out, "; first: %s", comparison->first);
}

int wti_saved_compare(const struct wti_report_source *source, size_t row, const char *path,
		      struct wti_buf *out, struct wt_err *err)
{
	const struct wt_table *saved = wti_report_table(&source->contents, "saved_tensors");
	const char *directory = source->opened->run.directory;
	struct comparison comparison = {0};
	struct wt_err failed = {.offset = -1};
	struct wti_model *model = NULL;
	char full[PATH_MAX];
	size_t count = 0;
	int r;

	snprintf(full, sizeof(full), "%s%s%s", *path == '/' || !directory ? "" : directory,
		 *path == '/' || !directory ? "" : "/", path);
	r = wti_model_open(full, &model, &failed);
	if (r == WT_E_NOMEM)
		return wti_err(err, r, "out of memory");
	if (r) {
		wti_textf(out, "not compared: %s", failed.message);
		return 0;
	}
	for (size_t i = 0; saved && i < saved->row_count; i++) {
		const struct wt_cell *file = wti_report_cell(saved, i, "file");
		const char *name = wti_report_cell_text(saved, i, "name");
		const char *hash = wti_report_cell_text(saved, i, "hash");

		if (!file || file->count != row || !name || !hash)
			continue;
		compare_one(model, name, hash, &comparison);
		count++;
	}
	if (count)
		put_words(out, &comparison, count);
	else
		wti_textf(out, "not compared: the trace has no digest of what was saved");
	wti_model_free(model);
	return 0;
}
