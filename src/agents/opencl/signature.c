/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the declaration of a kernel in its source, without a preprocessor: drivers tell what an
 * argument is only if the program was built with an option that is not ours to add. Whatever is not
 * plain is not believed. Comments count as space; nothing recurses, and the time is bounded.
 */
#include "signature.h"

#include <ctype.h>
#include <string.h>

#include <wheeltap/kinds.h>

enum { PLACES_MAX = 64 }; /* that look like a declaration: each may be followed by a long text */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind a comment that begins here; NULL: none begins. */
static const char *comment_end(const char *at)
{
	const char *end;

	if (at[0] == '/' && at[1] == '/') {
		end = strchr(at, '\n');
		return end ? end : at + strlen(at);
	}
	if (at[0] == '/' && at[1] == '*') {
		end = strstr(at + 2, "*/");
		return end ? end + 2 : at + strlen(at);
	}
	return NULL;
}

static const char *skip_space(const char *at)
{
	const char *end;

	for (;;) {
		if (isspace((unsigned char)*at))
			at++;
		else if ((end = comment_end(at)))
			at = end;
		else
			return at;
	}
}

static bool word_is(const char *begin, const char *end, const char *word)
{
	return (size_t)(end - begin) == strlen(word) && !memcmp(begin, word, strlen(word));
}

struct argument {
	bool is_pointer, is_const, is_constant, reads, writes;
};

static void add_word(struct argument *argument, const char *begin, const char *end)
{
	if (word_is(begin, end, "const") && !argument->is_pointer)
		argument->is_const = true; /* behind the star it is the pointer's own */
	else if (word_is(begin, end, "constant") || word_is(begin, end, "__constant"))
		argument->is_constant = true;
	else if (word_is(begin, end, "read_only") || word_is(begin, end, "__read_only"))
		argument->reads = true;
	else if (word_is(begin, end, "write_only") || word_is(begin, end, "__write_only"))
		argument->writes = true;
}

static uint32_t mode_of(const struct argument *argument)
{
	if (argument->reads ||
	    (argument->is_pointer && (argument->is_const || argument->is_constant)))
		return WT_ACCESS_MODE_READ;
	return argument->writes ? WT_ACCESS_MODE_WRITE : WT_ACCESS_MODE_BOTH;
}

/*
 * Arguments from behind the opening bracket to the closing one; how many, or -1. Brackets within
 * (attributes) are passed over; a # begins what only a preprocessor understands.
 */
static int64_t read_arguments(const char *at, uint32_t count, uint32_t *ret_modes)
{
	struct argument argument = {0};
	uint32_t depth = 0, found = 0;

	while (*(at = skip_space(at))) {
		const char *begin = at;

		while (is_word(*at))
			at++;
		if (at > begin) {
			if (!depth)
				add_word(&argument, begin, at);
			continue;
		}
		if (*at == '#' || *at == '{' || *at == ';')
			return -1;
		depth += *at == '(';
		if (*at == '*' && !depth)
			argument.is_pointer = true;
		if (!depth && (*at == ',' || *at == ')')) {
			if (found >= count)
				return -1;
			ret_modes[found++] = mode_of(&argument);
			argument = (struct argument){0};
			if (*at == ')')
				return found;
		}
		depth -= *at == ')' && depth;
		at++;
	}
	return -1;
}

/* Whether the word before this place is `void`: the name of a function that is declared. */
static bool is_declared(const char *source, const char *name)
{
	const char *end = name;

	while (end > source && isspace((unsigned char)end[-1]))
		end--;
	return end - source >= 4 && !memcmp(end - 4, "void", 4) && end < name &&
	       (end - source == 4 || !is_word(end[-5]));
}

bool wti_cl_signature(const char *source, const char *kernel, uint32_t count, uint32_t *ret_modes)
{
	const size_t bytes = strlen(kernel);
	uint32_t places = 0;
	bool found = false;

	if (!bytes)
		return false;
	for (const char *at = strstr(source, kernel); at; at = strstr(at + bytes, kernel)) {
		const char *behind;

		if (is_word(at[bytes]) || !is_declared(source, at))
			continue;
		if (++places > PLACES_MAX)
			return false;
		behind = skip_space(at + bytes);
		if (*behind != '(')
			continue;
		if (read_arguments(behind + 1, count, ret_modes) != (int64_t)count)
			return false; /* a second declaration may say something else */
		found = true;
	}
	return found;
}
