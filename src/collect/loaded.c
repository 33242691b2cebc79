/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the lines of /proc/PID/maps: what is mapped executable from a file has been loaded. */
#include <stdio.h>
#include <string.h>

#include "loaded.h"

#define LINES_MAX 100000

void wti_loaded_init(struct wti_loaded *loaded)
{
	wti_map_init(&loaded->paths, WTI_LOADED_MAX);
}

void wti_loaded_release(struct wti_loaded *loaded)
{
	wti_map_release(&loaded->paths);
}

/* The path in a line "start-end perms offset device inode   path", or NULL. */
static const char *loaded_path(char *line)
{
	char *perms = strchr(line, ' ');
	char *path = strchr(line, '/');

	if (!perms || strlen(perms) < 5 || perms[3] != 'x' || !path || path < perms)
		return NULL;
	path[strcspn(path, "\n")] = 0;
	if (!strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/", 5) ||
	    strstr(path, " (deleted)"))
		return NULL;
	return path;
}

void wti_loaded_look(struct wti_loaded *loaded, uint32_t pid)
{
	char name[64], line[4608];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	file = fopen(name, "re");
	if (!file)
		return;
	for (int i = 0; i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
		const char *path = loaded_path(line);

		if (path)
			wti_map_text(&loaded->paths, path, strlen(path));
	}
	fclose(file);
}
