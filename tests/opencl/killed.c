/* SPDX-License-Identifier: Apache-2.0 */
/* Knows that its commands have ended, and is killed or leaves without a word, as it is told. */
#include <signal.h>
#include <unistd.h>

#include "device.h"

enum { N = 1024, LAUNCHES = 20 };

static const char *source = "__kernel void bump(__global int *a) { a[get_global_id(0)]++; }\n";

int main(int count, char **words)
{
	static int numbers[N];
	struct session s;

	open_device(&s, 0);
	build(&s, source);
	cl_mem buffer = buffer_of(&s, CL_MEM_COPY_HOST_PTR, sizeof(numbers), numbers);
	cl_kernel kernel = kernel_of(&s, "bump");

	SET(kernel, 0, buffer);
	for (int i = 0; i < LAUNCHES; i++)
		run1(&s, kernel, N, 0);
	if (count > 1 && !strcmp(words[1], "leave"))
		return 0; /* whatever has ended by now */
	MUST(clFinish(s.queue));
	if (count > 1 && !strcmp(words[1], "kill"))
		raise(SIGKILL);
	_exit(0);
}
