/* SPDX-License-Identifier: Apache-2.0 */
/* Long options with numbers, and their bounds. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static void usage(const char *program, const struct options *defaults)
{
	printf("usage: %s [options]\n"
	       "  --seed N    of all random numbers (%llu)\n"
	       "  --epochs N  passes over the data (%llu)\n"
	       "  --steps N   optimizer steps in all epochs together (%llu)\n",
	       program, (unsigned long long)defaults->seed, (unsigned long long)defaults->epochs,
	       (unsigned long long)defaults->steps);
	if (defaults->file)
		printf("  --file F    where the model is saved (%s)\n", defaults->file);
}

static uint64_t number(const char *text, const char *name, uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < least || value > most) {
		fprintf(stderr, "bad number '%s' for --%s: give one from %llu to %llu\n", text,
			name, (unsigned long long)least, (unsigned long long)most);
		exit(2);
	}
	return value;
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{"seed", required_argument, NULL, 's'},  {"epochs", required_argument, NULL, 'e'},
		{"steps", required_argument, NULL, 'n'}, {"file", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		if (c == 's') {
			options->seed = number(optarg, "seed", 0, INT64_MAX);
		} else if (c == 'e') {
			options->epochs = number(optarg, "epochs", 1, 1000000);
		} else if (c == 'n') {
			options->steps = number(optarg, "steps", 1, 1000000000);
		} else if (c == 'f' && options->file) {
			options->file = optarg;
		} else if (c == 'h') {
			usage(argv[0], options);
			exit(0);
		} else {
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "unexpected argument '%s': see %s --help\n", argv[optind], argv[0]);
		exit(2);
	}
}
