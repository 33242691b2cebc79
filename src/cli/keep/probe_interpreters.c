/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreters in the PATH. A name says nothing: a folder may be called python, a script may hang,
 * and a version may be one that the agent does not know. So each is run, with a limit of time, and
 * asked what it is. A script that only starts an interpreter is none: the one that answered is.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/library.h"
#include "probe.h"
#include "cli/record/python_ask.h"

#define INTERPRETERS_MAX 64u

/* As in compat.h of the agent and in _build.py. */
#define MAJOR 3
#define MINOR_MIN 9
#define MINOR_MAX 14

/* ---- Asking one ------------------------------------------------------------------------------ */

static void judge(const char *path, const struct wti_python_version *found, struct wti_probed *ret)
{
	bool is_cpython = !strcmp(found->name, "cpython");

	if (!is_cpython || found->major != MAJOR || found->minor < MINOR_MIN ||
	    found->minor > MINOR_MAX)
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "Python calls are recorded with CPython 3.9 to 3.14",
			       "%.160s: %s %d.%d.%d is not supported", path,
			       is_cpython ? "CPython" : found->name, found->major, found->minor,
			       found->micro);
	else if (found->is_free_threaded)
		wti_probed_say(ret, WTI_PROBE_LIMITED, "use the standard build of the same version",
			       "%.160s: free-threaded CPython %d.%d.%d is not supported: the agent "
			       "relies on the global interpreter lock",
			       path, found->major, found->minor, found->micro);
	else if (wti_library_none())
		wti_probed_say(ret, WTI_PROBE_LIMITED, wti_library_cure(NULL),
			       "%.160s: CPython %d.%d.%d, for which there is no agent", path,
			       found->major, found->minor, found->micro);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%.160s: CPython %d.%d.%d", path,
			       found->major, found->minor, found->micro);
}

static void complain(const char *path, int r, struct wti_probed *ret)
{
	static const char repair[] = "repair it, or remove it from the PATH";

	if (r == EMFILE || r == ENFILE)
		wti_probed_say(ret, WTI_PROBE_LIMITED, "ulimit -n 4096", "%.160s: not known", path);
	else if (r == ENOEXEC || r == ENODATA)
		wti_probed_say(ret, WTI_PROBE_LIMITED, repair,
			       "%.160s: not a working Python interpreter", path);
	else if (r == ETIMEDOUT)
		wti_probed_say(ret, WTI_PROBE_LIMITED, repair, "%.160s: no answer within %d s",
			       path, WTI_ANSWER_PATIENCE_S);
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED, repair, "%.160s: cannot be run: %s", path,
			       strerror(r));
}

/* ---- Finding them ---------------------------------------------------------------------------- */

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
	char names[256]; /* of scripts that start none */
	size_t script_count;
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

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_script(const char *path)
{
	int fd = wti_open_regular(path, NULL);
	char begin[2] = "";
	bool is = fd >= 0 && wti_pread_all(fd, begin, 2, 0) == 2 && !memcmp(begin, "#!", 2);

	if (fd >= 0)
		close(fd);
	return is;
}

/* One for another version than the one that is chosen is no fault. */
static void note_script(struct search *search, const char *path)
{
	size_t used = strlen(search->names);

	snprintf(search->names + used, sizeof(search->names) - used, "%s%s", used ? ", " : "",
		 last_part(path));
	search->script_count++;
}

/* `path` is a script and `found` what it has started. */
static void look_behind(struct search *search, const char *path,
			const struct wti_python_version *found)
{
	char *real = realpath(found->executable, NULL);
	struct wti_probed probed = {0};

	if (real && is_new(search, real)) {
		judge(found->executable, found, &probed);
		search->found(search->cookie, last_part(real), &probed);
	} else if (!real) {
		judge(path, found, &probed);
		search->found(search->cookie, last_part(path), &probed);
	}
	free(real);
}

static void look_at(struct search *search, const char *path)
{
	char *real = is_program(path) ? realpath(path, NULL) : NULL;
	struct wti_python_version found = {0};
	struct wti_probed probed = {0};
	int r;

	if (!real || !is_new(search, real)) {
		free(real);
		return;
	}
	r = wti_python_ask_version(path, &found);
	if (r == ENODATA && is_script(real)) {
		note_script(search, path);
	} else if (!r && is_script(real) && strcmp(found.executable, path)) {
		look_behind(search, path, &found);
	} else {
		if (r)
			complain(path, r, &probed);
		else
			judge(path, &found, &probed);
		search->found(search->cookie, last_part(real), &probed);
	}
	free(real);
}

static void print_scripts(const struct search *search)
{
	struct wti_probed probed = {0};

	if (!search->script_count)
		return;
	wti_probed_say(&probed, WTI_PROBE_LIMITED,
		       "select the version in the version manager (pyenv local VERSION), or "
		       "give the path of the interpreter itself",
		       "%zu script%s start%s no interpreter in this folder, as where a version "
		       "manager has selected another version; nothing is wrong with these: "
		       "%.100s%s",
		       search->script_count, search->script_count == 1 ? "" : "s",
		       search->script_count == 1 ? "s" : "", search->names,
		       strlen(search->names) > 100 ? " ..." : "");
	search->found(search->cookie, "scripts", &probed);
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
	print_scripts(&search);
	for (size_t i = 0; i < search.count; i++)
		free(search.paths[i]);
}
