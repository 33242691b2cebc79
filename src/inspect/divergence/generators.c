/* SPDX-License-Identifier: Apache-2.0 */
/* Generators by name: see generators.h. */
#include "generators.h"

#include <stdio.h>
#include <string.h>

void wti_generators_take(struct wti_generators *generators, const char *name, bool differs)
{
	size_t i = 0;

	while (i < generators->count && strcmp(generators->all[i].name, name) != 0)
		i++;
	if (i == WTI_GENERATORS)
		return;
	if (i == generators->count)
		snprintf(generators->all[generators->count++].name, sizeof(generators->all[i].name),
			 "%s", name);
	generators->all[i].times++;
	generators->all[i].differs |= differs;
}

/* One that nobody seeded and nobody uses differs in every run, and does not matter. */
void wti_generators_differing(const struct wti_generators *generators, char *out, size_t bytes)
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < generators->count && used < bytes; i++) {
		const struct wti_generator_state *state = &generators->all[i];
		int written = state->differs && state->times > 1
				      ? snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
						 state->name)
				      : 0;

		used += written > 0 ? (size_t)written : 0;
	}
}
