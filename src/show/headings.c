/* SPDX-License-Identifier: Apache-2.0 */
/* Hides how a name is made that no other field has: by a number behind it. */
#include "headings.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

#define NAME_BYTES_MAX 128u /* as long as somebody types */
#define TEXT_MAX ((size_t)4 << 20)

static bool is_same(enum wti_headings_for what, const char *a, const char *b)
{
	return what == WTI_HEADINGS_KEYS ? !strcmp(a, b) : !strcasecmp(a, b);
}

/* Whether an earlier column has the name, or, for one that is made up, any field. */
static bool is_taken(const struct wti_headings *headings, const struct wt_kind *kind, int field,
		     enum wti_headings_for what, const char *const *taken, bool is_made_up)
{
	const char *name = wti_headings_name(headings, field);

	for (; taken && *taken; taken++)
		if (is_same(what, *taken, name))
			return true;
	for (int i = 0; i < field; i++)
		if (is_same(what, wti_headings_name(headings, i), name))
			return true;
	for (int i = field + 1; is_made_up && i < kind->field_count; i++)
		if (is_same(what, kind->fields[i].name, name))
			return true;
	return false;
}

/* A character that does not fit is left out whole. */
static void cut(struct wti_buf *text, size_t begin)
{
	size_t bytes = 0, length;

	while (begin + bytes < text->bytes && bytes < NAME_BYTES_MAX) {
		length = wti_utf8_length((const char *)text->data + begin + bytes,
					 text->bytes - begin - bytes);
		if (bytes + length > NAME_BYTES_MAX)
			break;
		bytes += length ? length : 1;
	}
	text->bytes = begin + bytes;
}

static void put_base(struct wti_headings *headings, const char *name, int field,
		     enum wti_headings_for what)
{
	size_t begin = headings->at[field];

	headings->text.bytes = begin;
	if (what == WTI_HEADINGS_KEYS) {
		wti_buf_text(&headings->text, name);
		return;
	}
	if (!*name)
		wti_buf_printf(&headings->text, "field_%d", field + 1);
	wti_textf(&headings->text, "%s", name);
	if (!wti_buf_status(&headings->text))
		cut(&headings->text, begin);
}

static void put_name(struct wti_headings *headings, const struct wt_kind *kind, int field,
		     enum wti_headings_for what, const char *const *taken)
{
	const char *name = kind->fields[field].name;

	headings->at[field] = (uint32_t)headings->text.bytes;
	put_base(headings, name, field, what);
	wti_buf_byte(&headings->text, 0);
	for (unsigned n = 2; !wti_buf_status(&headings->text) &&
			     is_taken(headings, kind, field, what, taken, n > 2);
	     n++) {
		put_base(headings, name, field, what);
		wti_buf_printf(&headings->text, "_%u", n);
		wti_buf_byte(&headings->text, 0);
	}
	if (!wti_buf_status(&headings->text))
		headings->is_other[field] = strcmp(wti_headings_name(headings, field), name) != 0;
}

void wti_headings_init(struct wti_headings *headings, const struct wt_kind *kind,
		       enum wti_headings_for what, const char *const *taken)
{
	*headings = (struct wti_headings){0};
	wti_buf_init(&headings->text, TEXT_MAX);
	for (int i = 0; i < kind->field_count && !wti_buf_status(&headings->text); i++)
		put_name(headings, kind, i, what, taken);
}

void wti_headings_release(struct wti_headings *headings)
{
	wti_buf_release(&headings->text);
}

int wti_headings_status(const struct wti_headings *headings)
{
	return wti_buf_status(&headings->text);
}

const char *wti_headings_name(const struct wti_headings *headings, int field)
{
	return (const char *)headings->text.data + headings->at[field];
}

int wti_headings_find(const struct wti_headings *headings, const struct wt_kind *kind,
		      const char *name)
{
	for (int i = 0; i < kind->field_count && !wti_headings_status(headings); i++)
		if (!strcmp(wti_headings_name(headings, i), name))
			return i;
	return -1;
}

int wti_same_field(const struct wt_kind *kind, const char *name, int place)
{
	if (place < kind->field_count && !strcmp(kind->fields[place].name, name))
		return place;
	return wt_kind_field(kind, name);
}

bool wti_headings_twice(const struct wt_kind *kind)
{
	for (int i = 1; i < kind->field_count; i++)
		for (int j = 0; j < i; j++)
			if (kind->fields[i].name[0] == kind->fields[j].name[0] &&
			    !strcmp(kind->fields[i].name, kind->fields[j].name))
				return true;
	return false;
}
