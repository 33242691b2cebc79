/* SPDX-License-Identifier: Apache-2.0 */
/* The source of an OpenCL program: the input is a number of arguments and the text. */
#include <stdlib.h>
#include <string.h>

#include "opencl/signature.h"

#include "fuzz.h"

#define ARGUMENTS_MAX 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint32_t modes[ARGUMENTS_MAX];
	char *source;

	if (bytes < 1)
		return 0;
	source = malloc(bytes);
	if (!source)
		return 0;
	memcpy(source, data + 1, bytes - 1);
	source[bytes - 1] = 0;
	wti_cl_signature(source, "f", data[0] % (ARGUMENTS_MAX + 1), modes);
	free(source);
	return 0;
}
