/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the suite: each checks one thing and says with what evidence. */
#ifndef EXAMPLES_ROWS_H
#define EXAMPLES_ROWS_H

#include "files.h"

struct suite {
	const char *program; /* this one, for a second process */
	const char *data_path;
	const char *folder; /* where models are kept */
	uint64_t seed;
	uint64_t epochs;
	const char *fault; /* by name, for the second process; NULL: none */
	bool no_training;
	bool ancestor_loss;
	struct faults faults;
	struct csv data;
	struct tiny trained; /* by the first row */
};

struct row {
	const char *name;
	const char *fault; /* the switch that makes it fail */
	bool (*run)(struct suite *suite);
};

extern const struct row rows[]; /* ends with a name of NULL */

/* False: there is no such fault. */
bool fault_set(struct suite *suite, const char *name);
/* The second half of a training, in a process of its own. */
int suite_resume(struct suite *suite, const char *checkpoint, const char *output);

#endif
