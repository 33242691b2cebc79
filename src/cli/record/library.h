/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are put into a recorded program. */
#ifndef WTI_CLI_RECORD_LIBRARY_H
#define WTI_CLI_RECORD_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

/* Of the agent in src/agents/FOLDER: in the build tree, or where it is installed. */
bool wti_record_library(const char *folder, const char *file, char ret_path[PATH_MAX]);

#endif
