/* SPDX-License-Identifier: Apache-2.0 */
/* All relations. */
#include <string.h>

#include "inspect/learn/relation.h"
#include "inspect/learn/relations/relations.h"
#include "inspect/traincheck/traincheck.h"

/* Causes before what follows from them: of two findings of the same step the first is shown first.
 */
/* clang-format off */
const struct wti_relation *const wti_relations[] = {
	&wti_relation_mode,
	&wti_relation_data,
	&wti_relation_order,
	&wti_relation_loss,
	&wti_relation_parts,
	&wti_relation_schedule,
	&wti_relation_argument,
	&wti_relation_distinct,
	&wti_relation_every_step,
	&wti_relation_output,
	&wti_relation_contain,
	&wti_relation_changes,
	&wti_relation_consistent,
	&wti_relation_ranks,
	&wti_relation_saved,
	&wti_relation_count,
	&wti_relation_traincheck,
	NULL,
};
/* clang-format on */

int wti_relation_by_name(const char *name)
{
	for (int i = 0; wti_relations[i]; i++)
		if (!strcmp(wti_relations[i]->name, name))
			return i;
	return -1;
}
