/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what the libraries call the argument that they save. */
#include "saved.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

const char *wti_saved_name(const char *name)
{
	static const char *const arguments[] = {"obj", "tensors", "state_dict"};

	for (size_t i = 0; i < WTI_COUNT(arguments); i++) {
		size_t bytes = strlen(arguments[i]);

		if (!strncmp(name, arguments[i], bytes) && (!name[bytes] || name[bytes] == '['))
			return NULL;
	}
	/* Saved alone, without a dictionary: model/torch calls it the same. */
	return *name ? name : "tensor";
}
