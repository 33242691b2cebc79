/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreters in the PATH. A name says nothing: a folder may be called python, a script may hang,
 * and a version may be one that the agent does not know. So each is run, with a limit of time, and
 * asked what it is.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"
#include "cli/record/python_ask.h"

#define INTERPRETERS_MAX 64u

/* As in compat.h of the agent and in _build.py. */
#define MAJOR 3
#define MINOR_MIN 9
#define MINOR_MAX 13

/* ---- Asking one -------------------------------------------------------------------------------
 */

static void judge(const char *path, const struct wti_python_version *found, struct wti_probed *ret)
{
	bool is_cpython = !strcmp(found->name, "cpython");

	if (!is_cpython || found->major != MAJOR || found->minor < MINOR_MIN ||
	    found->minor > MINOR_MAX)
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "Python calls are recorded with CPython 3.9 to 3.13",
			       "%.160s: %s %d.%d.%d is not supported", path,
			       is_cpython ? "CPython" : found->name, found->major, found->minor,
			       found->micro);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%.160s: CPython %d.%d.%d", path,
			       found->major, found->minor, found->micro);
}

static void ask(const char *path, struct wti_probed *ret)
{
	static const char repair[] = "repair it, or take it out of the PATH";
	struct wti_python_version found;
	int r = wti_python_ask_version(path, &found);

	if (!r)
		judge(path, &found, ret);
	else if (r == EMFILE || r == ENFILE)
		wti_probed_say(ret, WTI_PROBE_LIMITED, "ulimit -n 4096", "%.160s: not known", path);
	else if (r == ENOEXEC)
		wti_probed_say(ret, WTI_PROBE_LIMITED, repair,
			       "%.160s: not a Python interpreter that works", path);
	else if (r == ETIMEDOUT)
		wti_probed_say(ret, WTI_PROBE_LIMITED, repair, "%.160s: no answer within %d s",
			       path, WTI_ANSWER_PATIENCE_S);
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED, repair, "%.160s: cannot be run: %s", path,
			       strerror(r));
}

/* ---- Finding them -----------------------------------------------------------------------------
 */

/* python, python3, python3.11; not python3-config. */
static bool is_python(const char *name)
{
	if (strncmp(name, "python", 6))
		return false;
	return !name[6 + strspn(name + 6, "0123456789.t")];
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

struct search {
	char *paths[INTERPRETERS_MAX]; /* seen, under their real names */
	size_t count;
	wti_interpreter_fn *found;
	void *cookie;
};

static bool is_new(struct search *search, const char *real)
{
	for (size_t i = 0; i < search->count; i++) {
		if (!strcmp(search->paths[i], real))
			return false;
	}
	if (search->count == INTERPRETERS_MAX)
		return false;
	search->paths[search->count] = strdup(real);
	return search->paths[search->count] && ++search->count;
}

static int python_only(const struct dirent *entry)
{
	return is_python(entry->d_name);
}

static void look_at(struct search *search, const char *path)
{
	char *real = is_program(path) ? realpath(path, NULL) : NULL;
	struct wti_probed probed = {0};

	if (real && is_new(search, real)) {
		const char *slash = strrchr(real, '/');

		ask(path, &probed);
		search->found(search->cookie, slash ? slash + 1 : real, &probed);
	}
	free(real);
}

static void look_in(struct search *search, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, python_only, versionsort);

	for (int i = 0; i < count; i++) {
		char *path;
		int bytes = asprintf(&path, "%s/%s", folder, entries[i]->d_name);

		free(entries[i]);
		if (bytes < 0)
			continue;
		look_at(search, path);
		free(path);
	}
	free(entries);
}

void wti_probe_interpreters(wti_interpreter_fn *found, void *cookie)
{
	const char *path = getenv("PATH");
	struct search search = {.found = found, .cookie = cookie};

	for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
		size_t bytes = strcspn(at, ":");
		char *folder = strndup(at, bytes);

		if (folder && *folder)
			look_in(&search, folder);
		free(folder);
		at += bytes + (at[bytes] == ':');
	}
	for (size_t i = 0; i < search.count; i++)
		free(search.paths[i]);
}
