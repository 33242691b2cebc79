/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the program's Python has an agent, known and said before the program starts. */
#ifndef WTI_CLI_RECORD_AGENT_H
#define WTI_CLI_RECORD_AGENT_H

#include <stdbool.h>

#include "python.h"

struct wti_record_agent {
	char *const *argv; /* of the program */
	const struct wti_python_plan *plan;
	bool build;          /* one that is missing */
	bool with_shim;      /* and what watches torch below Python */
	bool others_suffice; /* something else is recorded: a Python that is shut may be meant so */
};

/* Whatever comes of it, the program is to be started: what cannot be recorded is said here. */
void wti_record_agent_prepare(const struct wti_record_agent *agent);

#endif
