/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the folders of a machine: which are the program's work, which its code, which the system's.
 */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

#define PIDS_MAX (1u << 16)
#define TEMPS_MAX (1u << 16)
#define CACHE "__pycache__/"

const char *wti_thing_word(enum wti_thing_type type)
{
	static const char *const words[] = {"file",    "library", "code",    "system",
					    "cache",   "peer",    "program", "process",
					    "console", "channel", "calls",   "function"};

	return type < WTI_THING_TYPES ? words[type] : "?";
}

int wti_names_init(struct wti_names *names, const struct wti_root *roots, size_t count,
		   struct wt_err *err)
{
	size_t bytes = 1;
	char *at;

	*names = (struct wti_names){0};
	wti_map_init(&names->pids, PIDS_MAX);
	wti_map_init(&names->temps, TEMPS_MAX);
	count = count < WTI_ROOTS_MAX ? count : WTI_ROOTS_MAX;
	for (size_t i = 0; i < count; i++)
		bytes += strlen(roots[i].path) + strlen(roots[i].variable) + 2;
	at = names->memory = malloc(bytes);
	if (!at)
		return wti_err(err, WT_E_NOMEM, "out of memory for names");
	for (size_t i = 0; i < count; i++) {
		struct wti_root *root = &names->roots[names->root_count++];
		size_t length = strlen(roots[i].path);

		root->path = memcpy(at, roots[i].path, length + 1);
		at += length + 1;
		length = strlen(roots[i].variable);
		root->variable = memcpy(at, roots[i].variable, length + 1);
		at += length + 1;
		if (!names->cwd && !strcmp(root->variable, "$CWD"))
			names->cwd = root->path;
	}
	return 0;
}

void wti_names_release(struct wti_names *names)
{
	wti_map_release(&names->pids);
	wti_map_release(&names->temps);
	free(names->memory);
	*names = (struct wti_names){0};
}

void wti_names_pid(struct wti_names *names, uint32_t pid)
{
	wti_map_number(&names->pids, pid);
}

void wti_names_temp(struct wti_names *names, const char *path)
{
	wti_map_text(&names->temps, path, strlen(path));
}

/* ---- Parts of paths -------------------------------------------------------------------------- */

/* What is left of `path` below `folder`, or NULL. "" if it is the folder itself. */
static const char *below(const char *path, const char *folder)
{
	size_t bytes = strlen(folder);

	if (strncmp(path, folder, bytes) || (path[bytes] && path[bytes] != '/'))
		return NULL;
	return path + bytes;
}

static bool is_library(const char *path)
{
	const char *base = strrchr(path, '/');
	const char *so = strstr(base ? base : path, ".so");

	if (!so)
		return false;
	so += 3;
	return !*so || (*so == '.' && isdigit((unsigned char)so[1]));
}

/* Folders in which the dynamic linker looks first, which depends on the processor. */
static bool is_search(const char *path)
{
	static const char *const names[] = {"/glibc-hwcaps", "/x86-64-v2", "/x86-64-v3",
					    "/x86-64-v4",    "/tls",       "/haswell",
					    "/avx512_1",     "/x86_64",    "/atomics"};
	const char *base = strrchr(path, '/');

	for (size_t i = 0; base && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(base, names[i]))
			return true;
	return false;
}

/* Digits between slashes become a class: of /proc/4242/task/4243/fd/7. */
static void add_proc(struct wti_buf *out, const char *rest, uint32_t pid)
{
	char *end;
	unsigned long number = strtoul(rest + 1, &end, 10);

	wti_buf_text(out, "/proc");
	if (end != rest + 1 && (!*end || *end == '/')) {
		wti_buf_text(out, number == pid ? "/self" : "/<pid>");
		rest = end;
	}
	while (*rest) {
		size_t part = 1 + strcspn(rest + 1, "/");

		if (isdigit((unsigned char)rest[1]))
			wti_buf_text(out, "/<n>");
		else
			wti_buf_append(out, rest, part);
		rest += part;
	}
}

/* ---- Code ------------------------------------------------------------------------------------ */

/* Behind ".../site-packages" and the like, or behind ".../lib/python3.11"; NULL: no such part. */
static const char *package_in(const char *path, const char **ret_variable)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *at;

	*ret_variable = "$PACKAGES/";
	for (size_t i = 0; i < 2; i++) {
		at = strstr(path, folders[i]);
		if (at)
			return at + strlen(folders[i]);
	}
	*ret_variable = "$PYTHON/";
	at = strstr(path, "/lib/python");
	if (!at || !isdigit((unsigned char)at[11]))
		return NULL;
	at += 11 + strspn(at + 11, "0123456789.");
	if (!strncmp(at, "zip", 3))
		return "zip";
	return *at == '/' ? at + 1 : *at ? NULL : at;
}

/* A package is one thing: its modules come and go with its version. */
static bool add_code(struct wti_buf *out, const char *path)
{
	const char *variable;
	const char *package = package_in(path, &variable);

	if (!package)
		return false;
	wti_buf_text(out, variable);
	if (!strncmp(package, CACHE, strlen(CACHE))) { /* of a module that is no package */
		package += strlen(CACHE);
		wti_buf_append(out, package, strcspn(package, "./"));
		wti_buf_text(out, ".py");
		return true;
	}
	wti_buf_append(out, package, strcspn(package, "/"));
	return true;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/*
 * Roots and the folders on the way to them. How deep they lie is no matter of the program's, and
 * interpreters look at them whenever they look for anything.
 */
static bool is_above(const struct wti_names *names, const char *path)
{
	for (size_t i = 0; i < names->root_count; i++)
		if (below(names->roots[i].path, path))
			return true;
	return false;
}

static bool is_system(const char *path)
{
	static const char *const folders[] = {"/proc",    "/sys", "/etc",   "/usr",  "/bin",
					      "/sbin",    "/lib", "/lib64", "/dev",  "/run",
					      "/var/lib", "/opt", "/boot",  "/snap", "/nix/store"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (below(path, folders[i]))
			return true;
	return !strcmp(path, "/");
}

/* "/<key>.<segment>" and what is in it (src/trace/protocol.h); before protocol 2 there was no key.
 */
static bool is_meeting_place(const char *path)
{
	return !strcmp(path, "/socket") || !strcmp(path, "/control") || !strcmp(path, "/knock") ||
	       (strlen(path) > 24 && path[23] == '.' && !memchr(path + 1, '/', 22));
}

/*
 * The folder that the recorder makes for its guests, and where its guest in Python comes from: no
 * part of the program.
 */
static bool is_recorders(const char *path)
{
	static const char *const folders[] = {"/python/inject",
					      "/python/wheeltap",
					      "/python/source",
					      "/site-packages/wheeltap",
					      "/dist-packages/wheeltap",
					      "/share/wheeltap",
					      "/lib/wheeltap"};
	const char *at = strstr(path, "/wheeltap-");

	if (at && strlen(at) >= 16 && is_meeting_place(at + 16))
		return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		at = strstr(path, folders[i]);
		if (at && (!at[strlen(folders[i])] || at[strlen(folders[i])] == '/'))
			return true;
	}
	return false;
}

/* /home/somebody and the like: how many bytes of it, or 0. */
static size_t home_of(const char *path)
{
	static const char *const folders[] = {"/home/", "/Users/"};

	if (below(path, "/root"))
		return 5;
	for (size_t i = 0; i < 2; i++) {
		size_t bytes = strlen(folders[i]);

		if (!strncmp(path, folders[i], bytes) && path[bytes])
			return bytes + strcspn(path + bytes, "/");
	}
	return 0;
}

static size_t temp_of(const char *path)
{
	static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm"};

	for (size_t i = 0; i < 3; i++)
		if (below(path, folders[i]))
			return strlen(folders[i]);
	return 0;
}

/* The root that covers most of the path: how much, and its name. */
static size_t root_of(const struct wti_names *names, const char *path, const char **ret_variable)
{
	size_t best = home_of(path), bytes = temp_of(path);

	*ret_variable = "$HOME";
	if (bytes > best) {
		best = bytes;
		*ret_variable = "$TMP";
	}
	for (size_t i = 0; i < names->root_count; i++) {
		bytes = strlen(names->roots[i].path);
		if (bytes > best && below(path, names->roots[i].path)) {
			best = bytes;
			*ret_variable = names->roots[i].variable;
		}
	}
	return best;
}

static size_t common_folder(const char *path, const char *other)
{
	size_t common = 0, i = 0;

	for (; path[i] && path[i] == other[i]; i++)
		if (path[i] == '/')
			common = i;
	if ((!path[i] || path[i] == '/') && (!other[i] || other[i] == '/'))
		common = i;
	return common;
}

/* Beside a root: $CWD/../data. At least one folder must be common to both. */
static size_t add_beside(const struct wti_names *names, struct wti_buf *out, const char *path)
{
	const struct wti_root *best = NULL;
	size_t common = 0;

	for (size_t i = 0; i < names->root_count; i++) {
		size_t shared = common_folder(path, names->roots[i].path);

		if (shared > common) {
			common = shared;
			best = &names->roots[i];
		}
	}
	if (!best)
		return 0;
	wti_buf_text(out, best->variable);
	for (const char *up = best->path + common; *up;) {
		wti_buf_text(out, "/..");
		up += 1 + strcspn(up + 1, "/");
	}
	return common;
}

/* The path from byte `at` on, with classes in place of what is random. */
static void add_parts(const struct wti_names *names, const char *path, size_t at,
		      enum wti_temp temp, struct wti_buf *out)
{
	size_t begin = at;

	while (names->temps.count && path[at]) {
		size_t end = at + 1 + strcspn(path + at + 1, "/");

		if (wti_map_find_text(&names->temps, path, end)) {
			wti_names_classes(names, path + begin, at - begin, temp, out);
			wti_names_classes(names, path + at, end - at, temp ? temp : WTI_TEMP_MADE,
					  out);
			begin = end;
		}
		at = end;
	}
	wti_names_classes(names, path + begin, strlen(path + begin), temp, out);
}

static void add_file(const struct wti_names *names, struct wti_buf *out, const char *path)
{
	const char *variable;
	size_t covered = root_of(names, path, &variable);

	if (covered)
		wti_buf_text(out, variable);
	else
		covered = add_beside(names, out, path);
	add_parts(names, path, covered,
		  covered && !strcmp(variable, "$TMP") ? WTI_TEMP_FOLDER : WTI_TEMP_NOT, out);
}

enum wti_thing_type wti_names_path(const struct wti_names *names, const char *path, uint32_t pid,
				   struct wti_buf *out)
{
	const char *rest = below(path, "/proc"), *variable;
	const char *cache = strstr(path, "/__pycache__");

	if (rest) {
		add_proc(out, rest, pid);
		return WTI_THING_SYSTEM;
	}
	if (is_recorders(path)) {
		wti_buf_text(out, "$RECORDER");
		return WTI_THING_CACHE;
	}
	if (is_library(path)) {
		wti_buf_printf(out, "$LIB%s", strrchr(path, '/') ? strrchr(path, '/') : path);
		return WTI_THING_LIBRARY;
	}
	if (is_search(path)) {
		wti_buf_text(out, "$LIB");
		return WTI_THING_LIBRARY;
	}
	if (add_code(out, path))
		return WTI_THING_CODE;
	if (is_above(names, path)) {
		add_file(names, out, path);
		return WTI_THING_SYSTEM;
	}
	if (!strcmp(path, "/dev/shm") || !is_system(path) || root_of(names, path, &variable)) {
		add_file(names, out, path);
		return cache ? WTI_THING_CACHE : WTI_THING_FILE;
	}
	wti_buf_text(out, path);
	return WTI_THING_SYSTEM;
}

/* In which of the system's folders it was found depends on the machine; elsewhere it is another
 * program of that name. */
void wti_names_program(const struct wti_names *names, const char *path, uint32_t pid,
		       struct wti_buf *out)
{
	if (is_system(path) && !below(path, "/proc") && !below(path, "/dev") &&
	    !below(path, "/run"))
		wti_buf_text(out, strrchr(path, '/') + 1);
	else
		wti_names_path(names, path, pid, out);
}

/* ---- Peers ----------------------------------------------------------------------------------- */

enum { EPHEMERAL_FIRST = 32768, EPHEMERAL_LAST = 60999, DNS = 53 };

enum wti_thing_type wti_names_peer(const struct wti_names *names, const char *address, uint32_t pid,
				   struct wti_buf *out)
{
	const char *colon = strrchr(address, ':');
	uint64_t port;

	if (!strncmp(address, "unix:/", 6)) {
		wti_buf_text(out, "unix:");
		if (wti_names_path(names, address + 5, pid, out) == WTI_THING_CACHE)
			return WTI_THING_CACHE;
	} else if (!strncmp(address, "unix:", 5)) {
		wti_names_classes(names, address, strlen(address), WTI_TEMP_FOLDER, out);
	} else if (!colon || !wti_parse_u64(colon + 1, &port)) {
		wti_buf_text(out, address);
	} else if (port == DNS) {
		wti_buf_text(out, "$DNS"); /* the machine's choice, not the program's */
	} else if (port >= EPHEMERAL_FIRST && port <= EPHEMERAL_LAST) {
		wti_buf_append(out, address, (size_t)(colon - address));
		wti_buf_text(out, ":<port>");
	} else {
		wti_buf_text(out, address);
	}
	return WTI_THING_PEER;
}
