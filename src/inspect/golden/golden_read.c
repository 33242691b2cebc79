/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a golden back. Whatever stands in the file is checked; errors say line and column. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/toml.h"
#include "golden.h"

#define FACTS_MAX 4096
#define ORDERS_MAX (1u << 14)

struct reading {
	const char *path;
	struct wti_golden *golden;
	struct wt_err *err;
};

static int bad(const struct reading *in, const struct wti_doc *at, const char *what)
{
	return wti_doc_fail(at, in->path, in->err, WT_E_FORMAT, "%s", what);
}

static int unknown(const struct reading *in, const struct wti_doc *at)
{
	return wti_doc_fail(at, in->path, in->err, WT_E_FORMAT, "unknown key '%s'", at->key);
}

static int take_text(const struct reading *in, const struct wti_doc *doc, const char **ret_text)
{
	if (doc->type != WTI_DOC_STRING)
		return bad(in, doc, "a text is expected here");
	*ret_text = wti_golden_keep_bytes(in->golden, doc->string.data, doc->string.bytes);
	return 0;
}

static int take_range(const struct reading *in, const struct wti_doc *doc,
		      struct wti_range *ret_range)
{
	if (doc->type == WTI_DOC_INT && doc->integer >= 0) {
		*ret_range = (struct wti_range){(uint64_t)doc->integer, (uint64_t)doc->integer};
		return 0;
	}
	if (doc->type == WTI_DOC_STRING && wti_range_parse(doc->string.data, ret_range))
		return 0;
	return bad(in, doc, "a count is expected here, or a range as \"3..5\"");
}

/* ---- Things ---------------------------------------------------------------------------------- */

static int take_fact(const struct reading *in, const struct wti_doc *doc,
		     struct wti_golden_thing *thing)
{
	struct wti_golden_fact fact = {.word = wti_golden_keep(in->golden, doc->key)};
	int r = 0;

	if (doc->type == WTI_DOC_TABLE) {
		for (const struct wti_doc *at = doc->first; at && !r; at = at->next) {
			if (!strcmp(at->key, "total"))
				r = take_range(in, at, &fact.total);
			else if (!strcmp(at->key, "step"))
				r = take_range(in, at, &fact.step);
			else
				r = unknown(in, at);
		}
	} else {
		r = take_range(in, doc, &fact.total);
	}
	if (r)
		return r;
	if (thing->fact_count == FACTS_MAX)
		return bad(in, doc, "too many counts of one thing");
	if (wti_grow(&thing->facts, thing->fact_count + 1, &thing->fact_capacity, FACTS_MAX))
		return wti_err(in->err, WT_E_NOMEM, "out of memory");
	thing->facts[thing->fact_count++] = fact;
	return 0;
}

static int take_mode(const struct reading *in, const struct wti_doc *doc, uint32_t *ret_mode)
{
	char *end;
	unsigned long mode;

	if (doc->type != WTI_DOC_STRING)
		return bad(in, doc, "permissions are a text, as \"0644\"");
	mode = strtoul(doc->string.data, &end, 8);
	if (*end || end == doc->string.data || mode > 07777)
		return bad(in, doc, "permissions are a text, as \"0644\"");
	*ret_mode = (uint32_t)mode;
	return 0;
}

static int take_trait(const struct reading *in, const struct wti_doc *doc,
		      struct wti_golden_thing *thing)
{
	if (!strcmp(doc->key, "via"))
		return take_text(in, doc, &thing->via);
	if (!strcmp(doc->key, "mode"))
		return take_mode(in, doc, &thing->permissions);
	if (!strcmp(doc->key, "umask") && thing->type == WTI_THING_PROCESS) {
		int r = take_mode(in, doc, &thing->permissions);

		thing->permissions |= WTI_UMASK;
		return r;
	}
	if (strcmp(doc->key, "optional"))
		return take_fact(in, doc, thing);
	if (doc->type != WTI_DOC_BOOL)
		return bad(in, doc, "true or false is expected here");
	thing->is_optional = doc->boolean;
	return 0;
}

static struct wti_golden_thing *new_thing(struct reading *in, enum wti_thing_type type,
					  const char *name, size_t bytes)
{
	struct wti_golden *golden = in->golden;

	if (wti_grow(&golden->things, golden->thing_count + 1, &golden->thing_capacity,
		     WTI_GOLDEN_THINGS_MAX)) {
		wti_err(in->err, WT_E_LIMIT, "'%s': too many things for one golden", in->path);
		return NULL;
	}
	golden->things[golden->thing_count] = (struct wti_golden_thing){
		.type = type, .name = wti_golden_keep_bytes(golden, name, bytes)};
	return &golden->things[golden->thing_count++];
}

static int take_names(struct reading *in, const struct wti_doc *doc, enum wti_thing_type type)
{
	bool is_optional = !strcmp(doc->key, "sometimes");

	if (!is_optional && strcmp(doc->key, "always"))
		return unknown(in, doc);
	if (doc->type != WTI_DOC_ARRAY)
		return bad(in, doc, "a list of names is expected here");
	for (const struct wti_doc *at = doc->first; at; at = at->next) {
		struct wti_golden_thing *thing;

		if (at->type != WTI_DOC_STRING)
			return bad(in, at, "a name is expected here");
		thing = new_thing(in, type, at->string.data, at->string.bytes);
		if (!thing)
			return WT_E_LIMIT;
		thing->is_optional = is_optional;
	}
	return 0;
}

static int take_things(struct reading *in, const struct wti_doc *doc, enum wti_thing_type type)
{
	bool is_list = wti_thing_exactness(type) == WTI_COMPARE_PRESENCE;
	int r = 0;

	if (doc->type != WTI_DOC_TABLE)
		return bad(in, doc, "a table is expected here");
	for (const struct wti_doc *at = doc->first; at && !r; at = at->next) {
		struct wti_golden_thing *thing;

		if (is_list) {
			r = take_names(in, at, type);
			continue;
		}
		if (at->type != WTI_DOC_TABLE)
			return bad(in, at, "a table is expected here");
		thing = new_thing(in, type, at->key, strlen(at->key));
		if (!thing)
			return WT_E_LIMIT;
		for (const struct wti_doc *trait = at->first; trait && !r; trait = trait->next)
			r = take_trait(in, trait, thing);
	}
	return r;
}

static enum wti_thing_type type_of(const char *word)
{
	int type = 0;

	while (type < WTI_THING_TYPES && strcmp(wti_thing_word((enum wti_thing_type)type), word))
		type++;
	return (enum wti_thing_type)type;
}

/* ---- Order and times ------------------------------------------------------------------------- */

struct way {
	const char *role;
	enum wti_when when;
	bool varies;
	struct wti_sequence acts;
};

static int take_acts(const struct reading *in, const struct wti_doc *doc, struct way *way)
{
	struct wti_order *order = &in->golden->order;

	if (doc->type != WTI_DOC_ARRAY)
		return bad(in, doc, "a list of acts is expected here");
	for (const struct wti_doc *at = doc->first; at; at = at->next) {
		if (at->type != WTI_DOC_STRING)
			return bad(in, at, "an act is expected here");
		if (way->acts.count >= WTI_WAY_ACTS_MAX)
			return bad(in, at, "too many acts in one order");
		if (!wti_sequence_add(&way->acts, wti_order_token(order, at->string.data)))
			return wti_err(in->err, WT_E_NOMEM, "out of memory");
	}
	return order->failed ? bad(in, doc, "too many different acts") : 0;
}

static int take_when(const struct reading *in, const struct wti_doc *doc, enum wti_when *ret_when)
{
	for (int i = 0; doc->type == WTI_DOC_STRING && i < WTI_WHENS; i++)
		if (!strcmp(wti_when_word((enum wti_when)i), doc->string.data)) {
			*ret_when = (enum wti_when)i;
			return 0;
		}
	return bad(in, doc, "\"start\", \"step\" or \"end\" is expected here");
}

static int take_way_key(const struct reading *in, const struct wti_doc *doc, struct way *way)
{
	if (!strcmp(doc->key, "of"))
		return take_text(in, doc, &way->role);
	if (!strcmp(doc->key, "when"))
		return take_when(in, doc, &way->when);
	if (!strcmp(doc->key, "acts"))
		return take_acts(in, doc, way);
	if (strcmp(doc->key, "varies"))
		return unknown(in, doc);
	if (doc->type != WTI_DOC_BOOL)
		return bad(in, doc, "true or false is expected here");
	way->varies = doc->boolean;
	return 0;
}

static int take_way(const struct reading *in, const struct wti_doc *doc)
{
	struct way way = {.when = WTI_WHENS};
	int r = doc->type == WTI_DOC_TABLE ? 0 : bad(in, doc, "a table is expected here");

	for (const struct wti_doc *at = r ? NULL : doc->first; at && !r; at = at->next)
		r = take_way_key(in, at, &way);
	if (!r && (!way.role || way.when == WTI_WHENS))
		r = bad(in, doc, "an order needs `of` and `when`");
	if (!r && way.varies)
		wti_order_vary(&in->golden->order, way.role, way.when);
	else if (!r && wti_order_way(&in->golden->order, way.role, way.when, &way.acts, 0))
		r = wti_err(in->err, WT_E_NOMEM, "out of memory");
	free(way.acts.tokens);
	return r;
}

static int take_orders(const struct reading *in, const struct wti_doc *doc)
{
	size_t count = 0;
	int r = doc->type == WTI_DOC_ARRAY ? 0 : bad(in, doc, "[[order]] is expected here");

	for (const struct wti_doc *at = r ? NULL : doc->first; at && !r; at = at->next)
		r = ++count > ORDERS_MAX ? bad(in, at, "too many orders") : take_way(in, at);
	return r;
}

static int take_times(const struct reading *in, const struct wti_doc *doc)
{
	int r = doc->type == WTI_DOC_TABLE ? 0 : bad(in, doc, "a table is expected here");

	for (const struct wti_doc *at = r ? NULL : doc->first; at && !r; at = at->next) {
		if (!strcmp(at->key, "step_ns")) {
			r = take_range(in, at, &in->golden->step_ns);
			in->golden->has_times = true;
		} else if (strcmp(at->key, "slower")) {
			r = unknown(in, at);
		} else if (at->type == WTI_DOC_FLOAT && at->number >= 0) {
			in->golden->slower = at->number;
		} else {
			r = bad(in, at, "a share such as 0.15 is expected here");
		}
	}
	return r;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int take_top(struct reading *in, const struct wti_doc *doc)
{
	struct wti_range runs;
	enum wti_thing_type type;
	int r;

	if (!strcmp(doc->key, "format"))
		return 0; /* looked at before all else */
	if (!strcmp(doc->key, "name"))
		return take_text(in, doc, &in->golden->name);
	if (!strcmp(doc->key, "arch"))
		return take_text(in, doc, &in->golden->arch);
	if (!strcmp(doc->key, "recorded"))
		return take_text(in, doc, &in->golden->recorded);
	if (!strcmp(doc->key, "steps"))
		return take_range(in, doc, &in->golden->steps);
	if (!strcmp(doc->key, "times"))
		return take_times(in, doc);
	if (!strcmp(doc->key, "order"))
		return take_orders(in, doc);
	if (!strcmp(doc->key, "runs")) {
		r = take_range(in, doc, &runs);
		in->golden->run_count = r ? 0 : runs.low;
		return r;
	}
	type = type_of(doc->key);
	if (wti_thing_exactness(type) == WTI_COMPARE_NOT)
		return unknown(in, doc);
	return take_things(in, doc, type);
}

static int check_format(const struct reading *in, const struct wti_doc *root)
{
	const struct wti_doc *format = wti_doc_get(root, "format");

	if (!format || format->type != WTI_DOC_INT)
		return wti_err(in->err, WT_E_FORMAT,
			       "'%s' is no golden: it does not begin with its format", in->path);
	if (format->integer < 1 || format->integer > WTI_GOLDEN_FORMAT)
		return wti_err(
			in->err, WT_E_VERSION,
			"'%s' has format %lld, and this wheeltap reads 1 to %d: make it again with "
			"`wheeltap golden add --force`",
			in->path, (long long)format->integer, WTI_GOLDEN_FORMAT);
	in->golden->format = (int)format->integer;
	return 0;
}

int wti_golden_read(const char *path, const char *text, size_t bytes, struct wti_golden *ret_golden,
		    struct wt_err *err)
{
	struct wti_golden golden;
	struct reading in = {.path = path, .golden = &golden, .err = err};
	struct wti_doc *root;
	int r = wti_toml_parse(path, text, bytes, &root, err);

	if (r)
		return r;
	wti_golden_init(&golden);
	r = check_format(&in, root);
	for (const struct wti_doc *doc = r ? NULL : root->first; doc && !r; doc = doc->next)
		r = take_top(&in, doc);
	wti_doc_free(root);
	if (!r && golden.arena.status)
		r = wti_err(err, golden.arena.status, "'%s' is too large", path);
	if (r) {
		wti_golden_release(&golden);
		return r;
	}
	wti_golden_sort(&golden);
	*ret_golden = golden;
	return 0;
}
