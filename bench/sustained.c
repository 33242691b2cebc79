/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One producer at a steady rate, for as long as asked: to be run under `wheeltap record`, whose
 * summary then says whether anything was lost on the way into the compressed trace.
 *
 * usage: sustained [MILLIONS_A_SECOND [SECONDS]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <wheeltap/wheeltap.h>

#include "bench.h"

#define BURST 2000u /* events between two looks at the clock */

int main(int argc, char **argv)
{
	double rate = argc > 1 ? atof(argv[1]) * 1e6 : 10e6;
	double seconds = argc > 2 ? atof(argv[2]) : 5;
	struct wt_name *names[] = {WT_NAME("loss"), WT_NAME("accuracy"), WT_NAME("norm")};
	uint64_t begin_ns = now_ns();
	uint64_t sent = 0, refused = 0, late = 0;

	while ((double)sent < rate * seconds) {
		uint64_t due_ns = begin_ns + (uint64_t)((double)sent / rate * 1e9);

		late += now_ns() > due_ns + 10000000;
		while (now_ns() < due_ns)
			;
		for (unsigned i = 0; i < BURST; i++, sent++)
			refused += !wt_counter(names[sent % 3], 1.0 / (double)(sent + 1));
	}
	printf("%.1f M events/s for %.1f s, %llu refused, behind by more than 10 ms in %llu of "
	       "%llu bursts\n",
	       (double)sent / (double)(now_ns() - begin_ns) * 1e3,
	       (double)(now_ns() - begin_ns) / 1e9, (unsigned long long)refused,
	       (unsigned long long)late, (unsigned long long)(sent / BURST));
	return 0;
}
