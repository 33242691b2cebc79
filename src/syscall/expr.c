/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over system calls: cut at commas, each item a set of its own. */
#include "expr.h"

#include <string.h>

#include "base/err.h"
#include "base/pattern.h"
#include "base/text.h"
#include "described.h"

#define ITEM_MAX 255

static const struct {
	const char *name;
	uint16_t class;
} classes[] = {
	{"file", WTI_CLASS_F},   {"desc", WTI_CLASS_D},    {"network", WTI_CLASS_N},
	{"net", WTI_CLASS_N},    {"process", WTI_CLASS_P}, {"memory", WTI_CLASS_M},
	{"signal", WTI_CLASS_S}, {"ipc", WTI_CLASS_I},     {"creds", WTI_CLASS_C},
	{"clock", WTI_CLASS_K},
};
#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))

/* One item of the list, while it is looked at. */
struct item {
	char text[ITEM_MAX + 1]; /* without its marks */
	size_t offset;           /* in the expression */
	bool without;            /* ! */
	bool optional;           /* ? */
	bool regex;
};

void wti_call_set_all(struct wti_call_set *set)
{
	memset(set, 0xff, sizeof(*set));
}

size_t wti_call_set_count(const struct wti_call_set *set)
{
	size_t count = 0;

	for (size_t i = 0; i < WTI_CALLS_MAX / 64; i++)
		count += (size_t)__builtin_popcountll(set->bits[i]);
	return count;
}

static void add(struct wti_call_set *set, uint32_t nr)
{
	if (nr < WTI_CALLS_MAX)
		set->bits[nr / 64] |= UINT64_C(1) << (nr % 64);
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Where the item ends that begins at `text`: at a comma, but commas of /a{1,2}/ are its own. */
static size_t item_bytes(const char *text)
{
	const char *end;

	if (*text != '/')
		return strcspn(text, ",");
	for (end = strchr(text + 1, '/'); end; end = strchr(end + 1, '/')) {
		if (end[1] == ',' || !end[1])
			return (size_t)(end + 1 - text);
	}
	return strcspn(text, ",");
}

static int read_item(const char *expression, size_t *at, struct item *item, struct wt_err *err)
{
	const char *text = expression + *at;
	size_t bytes;

	memset(item, 0, sizeof(*item));
	item->without = *text == '!';
	text += item->without;
	item->optional = *text == '?';
	text += item->optional;
	item->offset = (size_t)(text - expression);
	bytes = item_bytes(text);
	*at = item->offset + bytes;
	item->regex = *text == '/';
	if (item->regex) {
		text++;
		bytes--;
		bytes -= bytes && text[bytes - 1] == '/';
	}
	if (!bytes)
		return wti_err_at(err, WT_E_ARG, (int64_t)item->offset,
				  "a system call is missing at position %zu of '%s'",
				  item->offset + 1, expression);
	if (bytes > ITEM_MAX)
		return wti_err_at(err, WT_E_ARG, (int64_t)item->offset,
				  "the name at position %zu is longer than %d bytes",
				  item->offset + 1, ITEM_MAX);
	memcpy(item->text, text, bytes);
	return 0;
}

/* ---- Unknown names --------------------------------------------------------------------------- */

static int unknown_class(const struct item *item, struct wt_err *err)
{
	return wti_err_at(
		err, WT_E_ARG, (int64_t)item->offset,
		"unknown class '%s' at position %zu; there are %%file, %%desc, %%network, "
		"%%process, %%memory, %%signal, %%ipc, %%creds, %%clock",
		item->text, item->offset + 1);
}

static int unknown_name(enum wti_arch arch, const struct item *item, struct wt_err *err)
{
	const char *candidates[WTI_CALLS_MAX + CLASS_COUNT];
	const char *meant;
	size_t count = 0;

	for (size_t i = 0; i < CLASS_COUNT; i++) {
		if (!strcmp(item->text, classes[i].name))
			return wti_err_at(err, WT_E_ARG, (int64_t)item->offset,
					  "unknown system call '%s' at position %zu; did you mean "
					  "the class '%%%s'?",
					  item->text, item->offset + 1, item->text);
	}
	for (uint32_t nr = 0; nr < wti_named_count(arch) && nr < WTI_CALLS_MAX; nr++) {
		if (wti_named(arch, nr))
			candidates[count++] = wti_named(arch, nr)->name;
	}
	meant = wti_suggest(item->text, candidates, count);
	if (!meant)
		return wti_err_at(
			err, WT_E_ARG, (int64_t)item->offset,
			"unknown system call '%s' at position %zu; 'man 2 syscalls' lists "
			"them, /REGEX/ matches several",
			item->text, item->offset + 1);
	return wti_err_at(err, WT_E_ARG, (int64_t)item->offset,
			  "unknown system call '%s' at position %zu; did you mean '%s'?",
			  item->text, item->offset + 1, meant);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static int apply_class(enum wti_arch arch, const struct item *item, struct wti_call_set *set,
		       struct wt_err *err)
{
	uint16_t class = 0;

	for (size_t i = 0; i < CLASS_COUNT; i++) {
		if (!strcmp(item->text + 1, classes[i].name))
			class = classes[i].class;
	}
	if (!class)
		return unknown_class(item, err);
	for (uint32_t nr = 0; nr < wti_named_count(arch); nr++) {
		const struct wti_described *call = wti_described(arch, nr);

		if (call && call->classes & class)
			add(set, nr);
	}
	return 0;
}

static int apply_regex(enum wti_arch arch, const struct item *item, struct wti_call_set *set,
		       struct wt_err *err)
{
	bool found = false;
	char why[WTI_REGEX_WHY_BYTES];
	regex_t regex;

	if (wti_regex_compile(item->text, &regex, why))
		return wti_err_at(err, WT_E_ARG, (int64_t)item->offset,
				  "bad regular expression '%s' at position %zu: %s", item->text,
				  item->offset + 1, why);
	for (uint32_t nr = 0; nr < wti_named_count(arch); nr++) {
		const struct wti_named *named = wti_named(arch, nr);

		if (named && !regexec(&regex, named->name, 0, NULL, 0)) {
			add(set, nr);
			found = true;
		}
	}
	regfree(&regex);
	if (!found && !item->optional)
		return wti_err_at(err, WT_E_ARG, (int64_t)item->offset,
				  "no system call matches '/%s/' at position %zu", item->text,
				  item->offset + 1);
	return 0;
}

static int apply_item(enum wti_arch arch, const struct item *item, struct wti_call_set *set,
		      struct wt_err *err)
{
	int nr;

	if (item->regex)
		return apply_regex(arch, item, set, err);
	if (*item->text == '%')
		return apply_class(arch, item, set, err);
	if (!strcmp(item->text, "all"))
		wti_call_set_all(set);
	if (!strcmp(item->text, "all") || !strcmp(item->text, "none"))
		return 0;
	nr = wti_call_number(arch, item->text);
	if (nr < 0)
		return item->optional ? 0 : unknown_name(arch, item, err);
	add(set, (uint32_t)nr);
	return 0;
}

int wti_expr_compile(enum wti_arch arch, const char *text, struct wti_call_set *ret_set,
		     struct wt_err *err)
{
	/* A first ! turns the whole list around, as in strace; a later one only its item. */
	bool around = *text == '!';
	struct wti_call_set set = {0}, without = {0};
	struct item item;
	size_t at = 0;
	int r;

	for (;;) {
		r = read_item(text, &at, &item, err);
		if (!r)
			r = apply_item(arch, &item, item.without ? &without : &set, err);
		if (r)
			return r;
		if (!text[at])
			break;
		at++;
	}
	for (size_t i = 0; i < WTI_CALLS_MAX / 64; i++)
		ret_set->bits[i] =
			around ? ~(set.bits[i] | without.bits[i]) : set.bits[i] & ~without.bits[i];
	return 0;
}
