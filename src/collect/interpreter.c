/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how interpreters are called, how scripts name theirs, and which options keep us out. */
#include "interpreter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "launch.h"

#define FIRST_LINE_BYTES 512

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool wti_is_python(const char *program)
{
	const char *name = last_part(program);

	if (strncmp(name, "python", 6) != 0)
		return false;
	return !name[6 + strspn(name + 6, "0123456789.td")];
}

/* -I, -E and -S may stand among other letters; -c, -m, -W and -X take the rest of the word. */
static char shut_letter(const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		if (strchr("IES", *c))
			return *c;
		if (strchr("cmWX", *c))
			return 0;
	}
	return 0;
}

const char *wti_python_shut(const char *const *argv, char out[3])
{
	for (size_t i = 1; argv[i] && argv[i][0] == '-' && argv[i][1]; i++) {
		char letter = argv[i][1] == '-' ? 0 : shut_letter(argv[i]);

		if (letter) {
			snprintf(out, 3, "-%c", letter);
			return out;
		}
		if (argv[i][1] == 'c' || argv[i][1] == 'm')
			return NULL;
		if (!strcmp(argv[i], "-W") || !strcmp(argv[i], "-X"))
			i += argv[i + 1] != NULL;
	}
	return NULL;
}

/* The words of a script's first line, without #!; false if it has none. */
static bool first_line(const char *path, char line[FIRST_LINE_BYTES])
{
	int fd = wti_open_regular(path, NULL);
	ssize_t bytes = fd < 0 ? -1 : wti_pread_all(fd, line, FIRST_LINE_BYTES - 1, 0);

	if (fd >= 0)
		close(fd);
	if (bytes < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[bytes] = 0;
	line[strcspn(line, "\n")] = 0;
	memmove(line, line + 2, strlen(line + 2) + 1);
	return true;
}

/* The interpreter that a first line names: itself, or behind env and its options. */
static const char *named_by(char *line)
{
	char *rest = line, *word;

	while ((word = strsep(&rest, " \t"))) {
		if (!*word || !strcmp(last_part(word), "env") || word[0] == '-' ||
		    strchr(word, '='))
			continue;
		return wti_is_python(word) ? word : NULL;
	}
	return NULL;
}

int wti_python_of(char *const *argv, char *const *environment, char ret_path[PATH_MAX],
		  struct wt_err *err)
{
	char program[PATH_MAX], line[FIRST_LINE_BYTES];
	const char *named;
	int r = wti_launch_find(argv[0], environment, program, sizeof(program), err);

	if (r)
		return r;
	if (wti_is_python(argv[0])) {
		memcpy(ret_path, program, sizeof(program));
		return 0;
	}
	named = first_line(program, line) ? named_by(line) : NULL;
	if (!named)
		return wti_err(err, WT_E_ARG,
			       "cannot find out which Python '%.200s' starts; name it: wheeltap "
			       "record --dry-run -- python3",
			       argv[0]);
	return wti_launch_find(named, environment, ret_path, PATH_MAX, err);
}
