/* SPDX-License-Identifier: Apache-2.0 */
/* TOML documents: an error with a message, or a tree that can be walked and freed. */
#include <string.h>

#include "base/toml.h"
#include "fuzz.h"

static size_t count(const struct wti_doc *value)
{
	size_t found = 1;

	for (const struct wti_doc *child = value->first; child; child = child->next) {
		PROMISE(child->line > 0);
		if (child->type == WTI_DOC_STRING)
			PROMISE(!child->string.data[child->string.bytes]);
		if (value->type == WTI_DOC_TABLE)
			PROMISE(wti_doc_get(value, child->key));
		found += count(child);
	}
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_doc *root;
	struct wt_err err = {0};
	int result = wti_toml_parse("input.toml", (const char *)data, bytes, &root, &err);

	if (result < 0) {
		PROMISE(err.code == result && err.message[0] &&
			memchr(err.message, 0, sizeof(err.message)));
		return 0;
	}
	PROMISE(count(root) <= bytes + 1);
	wti_doc_free(root);
	return 0;
}
