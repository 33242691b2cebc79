/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of rows. Making one is hashing a text: what ids meant last time is remembered. */
#include "stat_rows.h"

#include <stdio.h>
#include <string.h>

#include "inspect/core/label.h"

#define CACHE_MAX (1u << 20)
#define LABEL_BYTES 1024 /* of modules and files; longer ones are cut */

void wti_stat_rows_init(struct wti_stat_rows *rows, const struct wti_roles *roles,
			enum wti_stat_by by, struct wti_profile *profile,
			const struct wti_steps *steps)
{
	*rows = (struct wti_stat_rows){
		.roles = roles, .by = by, .profile = profile, .steps = steps};
	wti_map_init(&rows->cache, CACHE_MAX);
}

void wti_stat_rows_release(struct wti_stat_rows *rows)
{
	wti_map_release(&rows->cache);
}

static int cut(size_t bytes)
{
	return (int)(bytes < LABEL_BYTES / 2 ? bytes : LABEL_BYTES / 2 - 1);
}

static struct wt_text function_label(char out[LABEL_BYTES], const struct wt_event *event,
				     const struct wti_subject *subject)
{
	struct wt_text module = wt_reader_string(event->reader, subject->module);
	struct wt_text name = subject->name;

	if (!subject->is_call || !module.bytes)
		return name;
	return (struct wt_text){out,
				(size_t)snprintf(out, LABEL_BYTES, "%.*s.%.*s", cut(module.bytes),
						 module.data, cut(name.bytes), name.data)};
}

static struct wt_text site_label(char out[LABEL_BYTES], const struct wt_event *event, uint32_t id)
{
	const struct wt_site *site = wt_reader_site(event->reader, id);
	struct wt_text file;

	if (!site)
		return (struct wt_text){"(no call site)", 14};
	file = wt_reader_string(event->reader, site->file);
	return (struct wt_text){out, (size_t)snprintf(out, LABEL_BYTES, "%.*s:%u", cut(file.bytes),
						      file.data, site->line)};
}

static struct wt_text module_label(const struct wt_event *event, const struct wti_subject *subject)
{
	struct wt_text module = wt_reader_string(event->reader, subject->module);

	return module.bytes ? module : (struct wt_text){"(no module)", 11};
}

static struct wt_text label_of(const struct wti_stat_rows *rows, char out[LABEL_BYTES],
			       const struct wt_event *event, const struct wti_subject *subject)
{
	switch (rows->by) {
	case WTI_STAT_BY_NAME:
		break;
	case WTI_STAT_BY_KIND:
		return (struct wt_text){subject->kind, strlen(subject->kind)};
	case WTI_STAT_BY_TRACK:
		return wti_role_label(out, rows->roles, event->stream, subject->track);
	case WTI_STAT_BY_STEP:
		return wti_steps_label(rows->steps, out, event);
	case WTI_STAT_BY_MODULE:
		return module_label(event, subject);
	case WTI_STAT_BY_FUNCTION:
		return function_label(out, event, subject);
	case WTI_STAT_BY_SITE:
		return site_label(out, event, subject->site);
	}
	return subject->name;
}

_Static_assert(LABEL_BYTES >= WTI_LABEL_BYTES, "labels of tracks and steps have room");

/* What separates subjects of one label from others, in 64 bits; false if that is too little. */
static bool cache_key(const struct wti_stat_rows *rows, const struct wt_event *event,
		      const struct wti_subject *subject, uint64_t *ret_key)
{
	uint64_t id = subject->name_id, stream = event->stream;
	uint64_t group = (uint64_t)event->kind->number << 5 | (subject->op & 31);

	if (rows->by == WTI_STAT_BY_STEP)
		return false;
	if (rows->by == WTI_STAT_BY_TRACK)
		id = subject->track;
	else if (rows->by == WTI_STAT_BY_SITE)
		id = subject->site;
	else if (rows->by == WTI_STAT_BY_MODULE)
		id = subject->module;
	else if (rows->by == WTI_STAT_BY_FUNCTION && subject->is_call)
		group = 1u << 12 | (subject->module & 0xfff);
	if (rows->by == WTI_STAT_BY_FUNCTION && subject->module >> 12)
		return false;
	if (stream >> 16 || group >> 16)
		return false;
	*ret_key = stream << 48 | group << 32 | id;
	return true;
}

static bool has_row(const struct wti_stat_rows *rows, const struct wti_subject *subject)
{
	if (rows->by == WTI_STAT_BY_MODULE || rows->by == WTI_STAT_BY_SITE)
		return subject->is_call;
	if (rows->by == WTI_STAT_BY_FUNCTION)
		return subject->is_call || !strcmp(subject->kind, "span");
	return true;
}

static const char *kind_of(const struct wti_stat_rows *rows, const struct wti_subject *subject)
{
	if (rows->by != WTI_STAT_BY_STEP)
		return subject->kind;
	return subject->side == WTI_PROFILE_HOST ? "host" : "device";
}

int wti_stat_row(struct wti_stat_rows *rows, const struct wt_event *event,
		 const struct wti_subject *subject, uint64_t *ret_row)
{
	char text[LABEL_BYTES];
	struct wt_text label;
	uint64_t *slot = NULL;
	uint64_t key;
	long row;

	*ret_row = WTI_STAT_NO_ROW;
	if (!has_row(rows, subject))
		return 0;
	if (cache_key(rows, event, subject, &key))
		slot = wti_map_number(&rows->cache, key);
	if (slot && *slot) {
		*ret_row = *slot - 1;
		return 0;
	}
	label = label_of(rows, text, event, subject);
	row = wti_profile_row(rows->profile, kind_of(rows, subject), subject->side, label.data,
			      label.bytes);
	if (row < 0)
		return WT_E_NOMEM;
	if (slot && !rows->profile->overflow_count)
		*slot = (uint64_t)row + 1;
	*ret_row = (uint64_t)row;
	return 0;
}
