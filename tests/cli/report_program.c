/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to report on: COUNT values of a metric, the ones at SPIKE and BROKEN being a spike and
 * no number; then it ends as asked for: good, wrong (a check fails), fail (the same, and status 3),
 * hang (until it is killed).
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

enum { STEPS = 20, SETTINGS = 30 }; /* more settings than a history shows metrics */

int main(int argc, char **argv)
{
	bool is_failing = !strcmp(argv[1], "fail"), is_wrong = !strcmp(argv[1], "wrong");
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	long spike = argc > 3 ? strtol(argv[3], NULL, 10) : -1;
	long broken = argc > 4 ? strtol(argv[4], NULL, 10) : -1;

	for (long i = 0; i < count; i++)
		wt_counter(WT_NAME("many"), i == spike ? 1000 : i == broken ? NAN : 1);
	for (int i = 0; i < SETTINGS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%d", i);
		wt_state_float(WT_NAME("trainer"), wt_name_of(name), 0, i);
	}
	for (int i = 0; i < STEPS; i++) {
		wt_step((uint64_t)i);
		wt_counter(WT_NAME("loss"), 1.0 / (i + 1));
	}
	wt_check_close(WT_NAME("a | loss"), 0.05, 0.05, 1e-3);
	wt_check_int(WT_NAME("steps"), STEPS, is_failing || is_wrong ? STEPS + 1 : STEPS);
	wt_check_bits(WT_NAME("bits"), "same", "same", 4);
	wt_observe(WT_NAME("accuracy"), 0.7);
	printf("ready\n");
	fflush(stdout);
	while (!strcmp(argv[1], "hang"))
		pause();
	return is_failing ? 3 : 0;
}
