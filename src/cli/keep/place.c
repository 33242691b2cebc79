/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the marks of containers and filters: files and lines of /proc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "probe.h"

/* The number behind a key of /proc/self/status; -1 if it is not there. */
static long status_number(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	const size_t bytes = strlen(key);
	char line[256];
	long number = -1;

	while (file && number < 0 && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, bytes) && line[bytes] == ':')
			number = strtol(line + bytes + 1, NULL, 10);
	}
	if (file)
		fclose(file);
	return number;
}

bool wti_place_is_container(void)
{
	return !access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK) ||
	       getenv("KUBERNETES_SERVICE_HOST") || getenv("container");
}

bool wti_place_is_confined(void)
{
	return wti_place_is_container() || status_number("Seccomp") == 2;
}

int wti_place_ptrace_scope(void)
{
	char scope[16];

	return wti_probe_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope))
		       ? (int)strtol(scope, NULL, 10)
		       : 0;
}
