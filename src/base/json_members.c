/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where a member ends: strings and brackets. What is inside, the reader of JSON checks. */
#include "json_members.h"

#include "err.h"
#include "json_read.h"

struct walk {
	const char *name;
	const char *begin, *at, *end;
	wti_json_member_fn *member;
	void *self;
};

static int fail(const struct walk *walk, struct wt_err *err, const char *what)
{
	return wti_err(err, WT_E_FORMAT, "'%s': %s at byte %zu of the JSON text", walk->name, what,
		       (size_t)(walk->at - walk->begin));
}

static void skip_space(struct walk *walk)
{
	while (walk->at < walk->end &&
	       (*walk->at == ' ' || *walk->at == '\t' || *walk->at == '\n' || *walk->at == '\r'))
		walk->at++;
}

static bool take(struct walk *walk, char c)
{
	skip_space(walk);
	if (walk->at == walk->end || *walk->at != c)
		return false;
	walk->at++;
	return true;
}

/* `at` is behind the first quote, and then behind the last. */
static void skip_string(struct walk *walk)
{
	while (walk->at < walk->end && *walk->at != '"')
		walk->at += *walk->at == '\\' && walk->end - walk->at > 1 ? 2 : 1;
	walk->at += walk->at < walk->end;
}

/* To the comma or the brace behind a member. */
static void skip_member(struct walk *walk)
{
	size_t depth = 0;

	while (walk->at < walk->end) {
		char c = *walk->at;

		if (!depth && (c == ',' || c == '}'))
			return;
		walk->at++;
		if (c == '"')
			skip_string(walk);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth)
			depth--;
	}
}

static int hand_on(const struct walk *walk, const struct wti_doc *root, struct wt_err *err)
{
	for (const struct wti_doc *child = root->first; child; child = child->next) {
		int r = walk->member(walk->self, child, err);

		if (r)
			return r;
	}
	return 0;
}

/* A document of one member. */
static int take_member(struct walk *walk, struct wt_err *err)
{
	struct wti_doc *root;
	struct wti_buf text;
	const char *from, *to;
	int r;

	skip_space(walk);
	from = walk->at;
	skip_member(walk);
	for (to = walk->at; to > from && to[-1] == ' '; to--)
		continue; /* headers are padded */
	wti_buf_init(&text, WTI_DOC_TEXT_MAX);
	wti_buf_byte(&text, '{');
	wti_buf_append(&text, from, (size_t)(to - from));
	wti_buf_byte(&text, '}');
	r = wti_buf_status(&text);
	r = r ? wti_err(err, r, "'%s': a member of the JSON text is larger than %zu bytes",
			walk->name, WTI_DOC_TEXT_MAX)
	      : wti_json_parse(walk->name, (const char *)text.data, text.bytes, &root, err);
	wti_buf_release(&text);
	if (r)
		return r;
	/* An empty place between two commas is an object without members. */
	r = root->first ? hand_on(walk, root, err) : fail(walk, err, "a member is missing");
	wti_doc_free(root);
	return r;
}

static int walk_members(struct walk *walk, struct wt_err *err)
{
	if (!take(walk, '{'))
		return fail(walk, err, "'{' should be");
	if (!take(walk, '}')) {
		do {
			int r = take_member(walk, err);

			if (r)
				return r;
		} while (take(walk, ','));
		if (!take(walk, '}'))
			return fail(walk, err, "',' or '}' should be");
	}
	skip_space(walk);
	return walk->at == walk->end ? 0 : fail(walk, err, "the end should be");
}

int wti_json_members(const char *name, const char *text, size_t bytes, wti_json_member_fn *member,
		     void *self, struct wt_err *err)
{
	struct walk walk = {name, text, text, text + bytes, member, self};
	struct wti_doc *root;
	int r;

	if (bytes > WTI_DOC_TEXT_MAX)
		return walk_members(&walk, err);
	r = wti_json_parse(name, text, bytes, &root, err);
	if (r)
		return r;
	r = root->type == WTI_DOC_TABLE ? hand_on(&walk, root, err)
					: fail(&walk, err, "an object should be");
	wti_doc_free(root);
	return r;
}
