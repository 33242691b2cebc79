/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents that `record` has built, or `wheeltap python add`. Knows where _places.py puts them:
 * BASE/added/SOURCES/TAG/PREFIX OF THE INTERPRETER/_wheeltap*.so. Those of other sources are not
 * used, and not listed.
 */
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/record/python.h"
#include "probe.h"

enum { AGENTS_MAX = 256 };

/* $XDG_DATA_HOME/wheeltap/python, or below the home of the user. */
static bool user_base(char base[PATH_MAX])
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int bytes = data && *data ? snprintf(base, PATH_MAX, "%s/wheeltap/python", data)
		    : home ? snprintf(base, PATH_MAX, "%s/.local/share/wheeltap/python", home)
			   : -1;

	return bytes > 0 && bytes < PATH_MAX;
}

static bool is_agent(const FTSENT *entry)
{
	size_t bytes = strlen(entry->fts_name);

	return entry->fts_info == FTS_F && !strncmp(entry->fts_name, "_wheeltap.", 10) &&
	       bytes > 3 && !strcmp(entry->fts_name + bytes - 3, ".so");
}

/* `below`: "cpython-312/usr/local/_wheeltap.cpython-312-x86_64-linux-gnu.so" */
static void report(const char *below, wti_interpreter_fn *found, void *cookie)
{
	const char *slash = strchr(below, '/'), *last = strrchr(below, '/');
	struct wti_probed probed = {0};
	char tag[64];

	if (!slash || slash == last)
		return;
	snprintf(tag, sizeof(tag), "%.*s", (int)(slash - below), below);
	wti_probed_say(&probed, WTI_PROBE_OK, NULL,
		       "built for the interpreter of %.*s and environments made from it",
		       (int)(last - slash < 140 ? last - slash : 140), slash);
	found(cookie, tag, &probed);
}

static void look_below(const char *base, const char *sources, wti_interpreter_fn *found,
		       void *cookie)
{
	char root[PATH_MAX];
	char *roots[] = {root, NULL};
	size_t root_bytes, count = 0;
	FTSENT *entry;
	FTS *fts;

	if (snprintf(root, sizeof(root), "%s/added/%s", base, sources) >= (int)sizeof(root))
		return;
	root_bytes = strlen(root);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (fts && count < AGENTS_MAX && (entry = fts_read(fts))) {
		if (!is_agent(entry) || strlen(entry->fts_path) <= root_bytes)
			continue;
		report(entry->fts_path + root_bytes + 1, found, cookie);
		count++;
	}
	if (fts)
		fts_close(fts);
}

void wti_probe_agents(wti_interpreter_fn *found, void *cookie)
{
	char home[PATH_MAX], path[PATH_MAX + 32], base[PATH_MAX], sources[128];

	if (!wti_python_home(home))
		return;
	snprintf(path, sizeof(path), "%s/wheeltap/source/identity", home);
	if (!wti_probe_line(path, sources, sizeof(sources)) || !*sources || strchr(sources, '/'))
		return;
	snprintf(path, sizeof(path), "%s/wheeltap", home);
	look_below(path, sources, found, cookie);
	if (user_base(base))
		look_below(base, sources, found, cookie);
}
