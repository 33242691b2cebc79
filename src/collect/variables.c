/* SPDX-License-Identifier: Apache-2.0 */
/* The program's environment: ours, with the one variable that agents read, and the additions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#include "recorder.h"

/* True if a list of NAME=value has an entry of the same name as this one. */
static bool names_same(char *const *list, const char *entry)
{
	size_t bytes = strcspn(entry, "=") + 1;

	for (size_t i = 0; list && list[i]; i++)
		if (!strncmp(list[i], entry, bytes))
			return true;
	return false;
}

/* LD_PRELOAD with our library behind what is there: a sanitizer wants to be the first. */
static int make_preload(struct wti_recorder *recorder, struct wt_err *err)
{
	static const char name[] = "LD_PRELOAD=";
	char *const *old = recorder->options->environment;
	const char *given = name, *own = recorder->options->preload;

	if (!own)
		return 0;
	for (size_t i = 0; old[i]; i++)
		if (!strncmp(old[i], name, sizeof(name) - 1))
			given = old[i];
	if (asprintf(&recorder->preload, "%s%s%s", given, given[sizeof(name) - 1] ? ":" : "", own) <
	    0) {
		recorder->preload = NULL;
		return wti_err(err, WT_E_NOMEM, "out of memory for the environment");
	}
	return 0;
}

int wti_variables_make(struct wti_recorder *recorder, struct wt_err *err)
{
	char *const *old = recorder->options->environment;
	char *const *additions = recorder->python_kept_out[0] ? NULL : recorder->options->additions;
	size_t count = 0, kept = 0, bytes = sizeof(recorder->session.inner) + 64;
	char *const *variables = recorder->options->variables;
	size_t addition_count = 0, variable_count = 0;
	char *variable = malloc(bytes);
	char *own[2] = {NULL};

	while (old[count])
		count++;
	while (additions && additions[addition_count])
		addition_count++;
	while (variables && variables[variable_count])
		variable_count++;
	recorder->variables = calloc(count + addition_count + variable_count + 3, sizeof(char *));
	if (!variable || !recorder->variables || make_preload(recorder, err)) {
		free(variable);
		return wti_err(err, WT_E_NOMEM, "out of memory for the environment");
	}
	own[0] = recorder->preload;
	memcpy(variable, WTI_ENV "=", sizeof(WTI_ENV));
	wti_session_variable(&recorder->session, variable + sizeof(WTI_ENV),
			     bytes - sizeof(WTI_ENV));
	recorder->variables[kept++] = variable;
	for (size_t i = 0; i < count; i++)
		if (strncmp(old[i], WTI_ENV "=", sizeof(WTI_ENV)) &&
		    !names_same(additions, old[i]) && !names_same(variables, old[i]) &&
		    !names_same(own, old[i]))
			recorder->variables[kept++] = old[i];
	if (recorder->preload)
		recorder->variables[kept++] = recorder->preload;
	for (size_t i = 0; i < addition_count; i++)
		recorder->variables[kept++] = additions[i];
	for (size_t i = 0; i < variable_count; i++)
		recorder->variables[kept++] = variables[i];
	return 0;
}

void wti_variables_release(struct wti_recorder *recorder)
{
	if (recorder->variables)
		free(recorder->variables[0]);
	free(recorder->variables);
	free(recorder->preload);
}
