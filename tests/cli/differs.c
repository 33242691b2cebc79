/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: differs STEPS FROM [VALUES]
 *
 * A tensor in each of STEPS steps, the same in every run until step FROM; from there on each run
 * has its own. Then it runs until it is ended, unless FROM is not below STEPS. With VALUES, a file
 * of numbers, `loss` is the one in the first line, which is taken away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#define PAUSE_NS 10000000
#define PATIENCE_S 600 /* of a program that nobody ends */

static double take_value(const char *path)
{
	char text[4096] = "", *rest;
	FILE *file = fopen(path, "r+");
	double value;

	if (!file || !fread(text, 1, sizeof(text) - 1, file))
		exit(1);
	value = strtod(text, &rest);
	rewind(file);
	fputs(rest + strspn(rest, "\n"), file);
	fflush(file);
	if (ftruncate(fileno(file), (off_t)strlen(rest + strspn(rest, "\n"))))
		exit(1);
	fclose(file);
	return value;
}

int main(int argc, char **argv)
{
	long steps = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	long from = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	float weight[4] = {1, 2, 3, 4};

	for (long step = 0; step < steps; step++) {
		wt_step((uint64_t)step);
		weight[0] = step < from ? (float)step : (float)getpid();
		wt_tensor(WT_NAME("weight"), weight, WT_DTYPE_F32, 1, (size_t[]){4});
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	if (argc > 3)
		wt_counter(WT_NAME("loss"), take_value(argv[3]));
	else if (from < steps)
		sleep(PATIENCE_S);
	return 0;
}
