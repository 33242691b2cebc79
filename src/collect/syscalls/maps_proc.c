/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has mapped, as /proc shows it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"

#define PATH_MAX_BYTES 4096u
#define LINES_MAX 65536u /* the kernel's own limit */

/* 55d0c2a00000-55d0c2a01000 r-xp 00001000 fe:01 1234       /usr/bin/true */
static bool take_line(char *line, struct wti_raw_map *map, const char **ret_path)
{
	uint64_t begin, end;
	char protection[5] = "";
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &begin, &end,
		   protection, (uint64_t *)&map->offset, &at) < 4 ||
	    !at || protection[2] != 'x' || end <= begin)
		return false;
	line[strcspn(line, "\n")] = 0;
	map->address = begin;
	map->bytes = end - begin;
	*ret_path = line + at;
	map->path_bytes = (uint32_t)strnlen(*ret_path, PATH_MAX_BYTES);
	return **ret_path == '/' || !strcmp(*ret_path, "[vdso]");
}

void wti_maps_of_process(pid_t pid, uint64_t time_ns,
			 void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
			 void *context)
{
	struct {
		struct wti_raw_map map;
		char path[PATH_MAX_BYTES];
	} record = {.map = {.raw = {.type = WTI_RAW_MAP, .time_ns = time_ns},
			    .pid = (uint32_t)pid,
			    .change = WTI_MAP_BEGIN}};
	char name[64], *line = NULL;
	const char *path;
	size_t capacity = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	file = fopen(name, "re");
	if (!file)
		return;
	take(context, &record.map.raw, sizeof(record.map));
	record.map.change = WTI_MAP_ADD;
	for (unsigned i = 0; i < LINES_MAX && getline(&line, &capacity, file) > 0; i++) {
		if (!take_line(line, &record.map, &path))
			continue;
		memcpy(record.path, path, record.map.path_bytes);
		take(context, &record.map.raw, sizeof(record.map) + record.map.path_bytes);
	}
	free(line);
	fclose(file);
}
