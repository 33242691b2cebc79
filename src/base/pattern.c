/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an expression far enough to know what it unfolds to; its grammar is regcomp()'s business.
 */
#include "pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <wheeltap/err.h>

struct group {
	size_t size; /* of all before the last item */
	size_t last; /* what a repetition would repeat */
};

struct reading {
	const char *at;
	struct group groups[WTI_REGEX_DEPTH_MAX + 1];
	unsigned depth;
	const char *why;
};

static size_t bounded(size_t size)
{
	return size > WTI_REGEX_SIZE_MAX ? WTI_REGEX_SIZE_MAX + 1 : size;
}

static void add_item(struct reading *in, size_t size)
{
	struct group *group = &in->groups[in->depth];

	group->size = bounded(group->size + group->last);
	group->last = size;
}

static void open_group(struct reading *in)
{
	if (in->depth == WTI_REGEX_DEPTH_MAX) {
		in->why = "its parentheses are nested too deep";
		return;
	}
	in->groups[++in->depth] = (struct group){0};
}

static void close_group(struct reading *in)
{
	const struct group *group = &in->groups[in->depth];

	if (!in->depth) { /* a character like others */
		add_item(in, 1);
		return;
	}
	in->depth--;
	add_item(in, bounded(group->size + group->last + 1));
}

static void repeat(struct reading *in, size_t times)
{
	struct group *group = &in->groups[in->depth];

	group->last = bounded(group->last * (times ? times : 1));
}

/* A number beyond what any repetition may be stays beyond. */
static size_t number(const char **at)
{
	size_t value = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		value = value < WTI_REGEX_SIZE_MAX ? value * 10 + (size_t)(**at - '0') : value;
	return bounded(value);
}

/* {3}, {3,}, {,5}, {3,5}; `at` is behind the brace. Anything else is left to regcomp(). */
static void interval(struct reading *in)
{
	const char *at = in->at;
	size_t least = number(&at), most = least;

	if (*at == ',') {
		at++;
		most = *at == '}' ? least + 1 : number(&at);
	}
	if (*at != '}')
		return;
	in->at = at + 1;
	repeat(in, most > least ? most : least);
}

/* [^]a-z[:alpha:]]; `at` is behind the bracket. */
static void bracket(struct reading *in)
{
	const char *at = in->at;

	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		char inner = *at == '[' ? at[1] : 0;

		if (inner == ':' || inner == '.' || inner == '=') {
			const char end[3] = {inner, ']', 0};
			const char *stop = strstr(at + 2, end);

			at = stop ? stop + 2 : at + strlen(at);
		} else {
			at++;
		}
	}
	in->at = at + (*at == ']');
	add_item(in, 1);
}

static void escape(struct reading *in)
{
	if (*in->at >= '1' && *in->at <= '9')
		in->why = "it refers back to what a part of it has matched, which is not supported";
	in->at += *in->at != 0;
	add_item(in, 1);
}

static void read_one(struct reading *in)
{
	switch (*in->at++) {
	case '(':
		open_group(in);
		break;
	case ')':
		close_group(in);
		break;
	case '[':
		bracket(in);
		break;
	case '\\':
		escape(in);
		break;
	case '{':
		interval(in);
		break;
	case '+':
		repeat(in, 2); /* once, and any number of times */
		break;
	case '*':
	case '?':
		break;
	default:
		add_item(in, 1);
	}
}

/* NULL: nothing is wrong with its size. */
static const char *check(const char *pattern)
{
	struct reading in = {.at = pattern};

	if (strnlen(pattern, WTI_REGEX_BYTES_MAX + 1) > WTI_REGEX_BYTES_MAX)
		return "it is too long";
	while (*in.at && !in.why) {
		read_one(&in);
		if (in.groups[in.depth].size + in.groups[in.depth].last > WTI_REGEX_SIZE_MAX)
			return "its repetitions make it too large";
	}
	return in.why;
}

int wti_regex_compile(const char *pattern, regex_t *ret_regex, char ret_why[WTI_REGEX_WHY_BYTES])
{
	const char *why = check(pattern);
	regex_t regex;
	int r;

	if (why) {
		snprintf(ret_why, WTI_REGEX_WHY_BYTES, "%s", why);
		return WT_E_ARG;
	}
	r = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (r) {
		regerror(r, &regex, ret_why, WTI_REGEX_WHY_BYTES);
		return WT_E_ARG;
	}
	*ret_regex = regex;
	return 0;
}
