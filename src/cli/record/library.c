/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where the libraries of agents lie. */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_there(char ret_path[PATH_MAX], const char *self, const char *before,
		     const char *folder, const char *file)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s%s%s", self, before, folder, *folder ? "/" : "",
		 file);
	return !access(path, R_OK) && realpath(path, ret_path);
}

bool wti_record_library(const char *folder, const char *file, char ret_path[PATH_MAX])
{
	char self[PATH_MAX];
	const ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[bytes > 0 ? bytes : 0] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = 0;
	return is_there(ret_path, self, "src/agents", folder, file) ||
	       is_there(ret_path, self, "../" WTI_LIBDIR "/wheeltap", "", file);
}
