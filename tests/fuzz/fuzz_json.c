/* SPDX-License-Identifier: Apache-2.0 */
/* JSON documents: what jansson takes we take, and the other way round, within our bounds. */
#include <jansson.h>

#include "base/json_read.h"
#include "base/scan.h"
#include "fuzz_doc.h"

/* Numbers that we bound and jansson does not, or the other way round. */
static bool has_long_number(const uint8_t *data, size_t bytes)
{
	size_t run = 0;

	for (size_t i = 0; i < bytes; i++) {
		run = data[i] && strchr("+-.0123456789eE", data[i]) ? run + 1 : 0;
		if (run >= 19)
			return true;
	}
	return false;
}

/* jansson takes no byte order mark. */
static bool accepted_by_jansson(const uint8_t *data, size_t bytes)
{
	size_t mark = bytes >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
	json_t *value = json_loadb((const char *)data + mark, bytes - mark,
				   JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	json_decref(value);
	return value != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_doc *root;
	struct wt_err err = {0};
	int result = wti_json_parse("input.json", (const char *)data, bytes, &root, &err);

	if (result < 0)
		doc_check_error(&err, result);
	if (memchr(data, 0, bytes)) /* which jansson takes for the end, in places */
		PROMISE(result < 0);
	else if (result != WT_E_LIMIT && !has_long_number(data, bytes))
		PROMISE(accepted_by_jansson(data, bytes) == (result == 0));
	if (result < 0)
		return 0;
	PROMISE(doc_count(root) <= bytes + 1);
	wti_doc_free(root);
	return 0;
}
