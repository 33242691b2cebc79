/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that do not round, by name: they move, choose, compare, make or draw numbers. What is
 * not here, and is written in C, rounds. Names are those of torch's functions, methods and
 * operators and of numpy's, without the marks of variants: "Tensor.add_", "aten::add_" and
 * "__iadd__" are all "add". docs/digits-python.md has the reasons.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>

#include "exact_names.h"

enum { NAME_BYTES_MAX = 128 };

static int by_name(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

#define IS_AMONG(names, name)                                                                      \
	(bsearch(name, names, sizeof(names) / sizeof(*(names)), sizeof(*(names)), by_name) != NULL)

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
	size_t bytes = strlen(text), with_bytes = strlen(with);

	return bytes >= with_bytes && strcmp(text + bytes - with_bytes, with) == 0;
}

/* What stands behind the last point or colon. */
static const char *own_name(const char *callee)
{
	const char *dot = strrchr(callee, '.');
	const char *colon = strrchr(dot ? dot : callee, ':');

	if (colon)
		return colon + 1;
	return dot ? dot + 1 : callee;
}

/* "__iadd__", "__radd__" and "add_" are "add". */
static void plain_name(const char *callee, char ret[NAME_BYTES_MAX])
{
	const char *name = own_name(callee);
	size_t bytes;

	if (begins(name, "__") && ends(name, "__") && strlen(name) > 4) {
		name += 2;
		bytes = strlen(name) - 2;
		if ((name[0] == 'i' || name[0] == 'r') && IS_AMONG(operators, name + 1))
			name++, bytes--;
	} else {
		while (*name == '_')
			name++;
		bytes = strlen(name);
		while (bytes && name[bytes - 1] == '_')
			bytes--;
	}
	bytes = bytes < NAME_BYTES_MAX - 1 ? bytes : NAME_BYTES_MAX - 1;
	memcpy(ret, name, bytes);
	ret[bytes] = 0;
}

bool wti_writes_in_place(const char *callee)
{
	const char *name = own_name(callee);

	if (begins(name, "__"))
		return name[2] == 'i' && IS_AMONG(operators, name + 3);
	return ends(name, "_");
}

/* Whole modules: random numbers, files, the machinery of arrays. */
static bool is_module_exact(const char *module)
{
	return begins(module, "numpy.random") || begins(module, "scipy.io") ||
	       begins(module, "torch.utils.data") || begins(module, "torch.distributed");
}

static enum wti_rounding rounding_of_sparse(const char *name)
{
	return IS_AMONG(sparse_rounding, name) ? WTI_ROUNDING_LAST : WTI_ROUNDING_NONE;
}

static enum wti_rounding rounding_of_plain(const char *name)
{
	if (IS_AMONG(exact, name))
		return WTI_ROUNDING_NONE;
	if (IS_AMONG(casts, name))
		return WTI_ROUNDING_CAST;
	if (IS_AMONG(partial, name))
		return WTI_ROUNDING_CHANGED;
	return WTI_ROUNDING_ALL;
}

enum wti_rounding wti_rounding_of(const char *module, const char *callee)
{
	char name[NAME_BYTES_MAX];

	if (is_module_exact(module))
		return WTI_ROUNDING_NONE;
	plain_name(callee, name);
	if (begins(module, "scipy.sparse._sparsetools"))
		return rounding_of_sparse(name);
	if (strcmp(callee, "ufunc.at") == 0 || strcmp(callee, "ufunc.reduce") == 0 ||
	    strcmp(callee, "ufunc.accumulate") == 0 || strcmp(callee, "ufunc.reduceat") == 0 ||
	    strcmp(callee, "ufunc.outer") == 0)
		return WTI_ROUNDING_METHOD;
	if (begins(callee, "_foreach_")) {
		if (IS_AMONG(exact, name + strlen("foreach_")))
			return WTI_ROUNDING_NONE;
		return wti_writes_in_place(callee) ? WTI_ROUNDING_FIRST : WTI_ROUNDING_ALL;
	}
	if (begins(callee,
		   "qr_r_raw")) /* numpy.linalg: into what it is given, and returns scales */
		return WTI_ROUNDING_FIRST;
	if (begins(callee, "_fused_") && wti_writes_in_place(callee))
		return WTI_ROUNDING_FUSED;
	return rounding_of_plain(name);
}

bool wti_rounds_below(const char *op)
{
	char name[NAME_BYTES_MAX];

	plain_name(op, name);
	return !IS_AMONG(exact_below, name) && rounding_of_plain(name) == WTI_ROUNDING_ALL;
}
