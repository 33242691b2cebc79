/* SPDX-License-Identifier: Apache-2.0 */
/* A library of the program's own. The second of its kind is longer, so that addresses differ. */
#include <unistd.h>

#include "places.h"

#ifdef PADDING
int wt_padding(int x);
int wt_padding(int x)
{
	for (int i = 0; i < 100; i++)
		x = x * 31 + i;
	return x;
}
#endif

__attribute__((noinline)) static void in_depth(void)
{
	access(NAME, F_OK); /* HERE in-library in_depth */
	barrier();
}

__attribute__((visibility("default"))) void in_library(void)
{
	in_depth(); /* CALLER in-library in_library */
	barrier();
}
