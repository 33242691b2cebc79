/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that all examples share. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdint.h>

struct options {
	uint64_t seed;
	uint64_t epochs;
	uint64_t steps;   /* in all epochs together */
	const char *file; /* of model_io */
};

/* Set the defaults before. Ends the program after --help or a mistake. */
void options_parse(struct options *options, int argc, char **argv);

#endif
