/* SPDX-License-Identifier: Apache-2.0 */
/* YAML documents. */
#include "base/yaml_read.h"
#include "fuzz_doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_doc *root;
	struct wt_err err = {0};
	int result = wti_yaml_parse("input.yaml", (const char *)data, bytes, &root, &err);

	if (result < 0) {
		doc_check_error(&err, result);
		return 0;
	}
	PROMISE(doc_count(root) <= 2 * bytes + 1);
	wti_doc_free(root);
	return 0;
}
