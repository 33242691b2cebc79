/* SPDX-License-Identifier: Apache-2.0 */
/* Where an imported run goes if nobody says it. */
#ifndef WTI_CLI_KEEP_IMPORT_FOLDER_H
#define WTI_CLI_KEEP_IMPORT_FOLDER_H

#include <limits.h>

#include <wheeltap/err.h>

/* A new folder below the home, after the file and the time. */
int wti_import_folder(const char *path, char ret_folder[PATH_MAX], struct wt_err *err);

#endif
