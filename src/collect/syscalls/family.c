/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how children are found: by listing all processes with their parents, once. */
#include "family.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "collect/procfs.h"

#define PROCESSES_MAX (1u << 16)

struct pair {
	pid_t pid, parent;
};

static size_t list_all(struct pair *pairs)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;
	uint64_t pid;

	while (folder && count < PROCESSES_MAX && (entry = readdir(folder))) {
		struct wti_proc proc;

		if (!wti_parse_u64(entry->d_name, &pid) || pid > INT32_MAX ||
		    !wti_proc_read((uint32_t)pid, &proc))
			continue;
		pairs[count++] = (struct pair){(pid_t)pid, (pid_t)proc.ppid};
	}
	if (folder)
		closedir(folder);
	return count;
}

void wti_family_look(struct wti_family *family, pid_t pid)
{
	struct pair *pairs = malloc(PROCESSES_MAX * sizeof(*pairs));
	size_t count = pairs ? list_all(pairs) : 0;

	family->pids[0] = pid;
	family->count = 1;
	/* Each one that was found looks for its own; nobody is found twice. */
	for (size_t at = 0; at < family->count; at++)
		for (size_t i = 0; i < count && family->count < WTI_FAMILY_MAX; i++)
			if (pairs[i].parent == family->pids[at] && pairs[i].pid != getpid() &&
			    pairs[i].pid != pid)
				family->pids[family->count++] = pairs[i].pid;
	free(pairs);
}
