/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the files fd, fdinfo and cwd of /proc/PID. */
#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "collect/procfs.h"

#define DESCRIPTORS_MAX (1u << 16) /* of a process */

/* "pos:	0\nflags:	02100002\n...": in octal, close-on-exec among them. */
static uint32_t flags_of(pid_t pid, const char *fd)
{
	char name[64], text[512];
	const char *at = NULL;

	snprintf(name, sizeof(name), "fdinfo/%.20s", fd);
	if (wti_proc_file((uint32_t)pid, name, text, sizeof(text)) > 0)
		at = strstr(text, "flags:");
	return at ? (uint32_t)strtoul(at + 6, NULL, 8) : 0;
}

static bool read_target(struct wti_open_descriptor *open, const char *name)
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%.40s", open->pid, name);
	n = readlink(path, open->target, sizeof(open->target) - 1);
	open->target[n > 0 ? n : 0] = 0;
	return n > 0;
}

void wti_descriptors_list(pid_t pid,
			  void (*take)(void *context, const struct wti_open_descriptor *open),
			  void *context)
{
	struct wti_open_descriptor open = {.pid = (uint32_t)pid, .fd = AT_FDCWD};
	struct dirent *entry;
	uint32_t count = 0;
	uint64_t fd;
	char name[64];
	DIR *folder;

	if (read_target(&open, "cwd"))
		take(context, &open);
	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	folder = opendir(name);
	while (folder && count < DESCRIPTORS_MAX && (entry = readdir(folder))) {
		if (!wti_parse_u64(entry->d_name, &fd) || fd > INT32_MAX)
			continue;
		snprintf(name, sizeof(name), "fd/%.20s", entry->d_name);
		open.fd = (int32_t)fd;
		open.flags = flags_of(pid, entry->d_name);
		if (read_target(&open, name))
			take(context, &open);
		count++;
	}
	if (folder)
		closedir(folder);
}
