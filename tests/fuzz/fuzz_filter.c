/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of filters: a pattern, or a name, an operator and a value that together are the word. */
#include <string.h>

#include "fuzz.h"
#include "runs/run_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_err err = {.offset = -1};
	struct wti_filter_term term;
	char *word = malloc(bytes + 1);

	if (!word)
		return 0;
	memcpy(word, data, bytes);
	word[bytes] = 0;
	if (wti_filter_parse(word, &term, &err)) {
		PROMISE(err.code == WT_E_ARG && err.message[0]);
	} else if (term.op == WTI_OP_PATTERN) {
		PROMISE(!strpbrk(word, "=<>"));
		PROMISE(!term.name[0]);
	} else {
		PROMISE(term.name[0] && *term.value);
		PROMISE(!strncmp(word, term.name, strlen(term.name)));
		PROMISE(term.value > word && term.value < word + strlen(word));
	}
	free(word);
	return 0;
}
