/* SPDX-License-Identifier: Apache-2.0 */
/* TrainCheck's invariants to a pack, as they are. */
#include <string.h>

#include "base/err.h"
#include "base/json_read.h"
#include "inspect/learn/relation.h"
#include "inspect/traincheck/entry.h"
#include "inspect/traincheck/traincheck.h"
#include "traincheck.h"

#define ENTRY_MAX ((size_t)1 << 20)

struct reading {
	const char *name;
	struct wti_pack *pack;
	struct wti_traincheck_count *count;
	struct wt_err *err;
};

/* Reasons are literals of a file: there are fewer than there is room for. */
static void leave_out(struct wti_traincheck_count *count, const char *why)
{
	size_t i = 0;

	count->left_out++;
	while (i < count->reason_count && strcmp(count->reasons[i].why, why))
		i++;
	if (i == WTI_TRAINCHECK_REASONS_MAX)
		return;
	if (i == count->reason_count)
		count->reasons[count->reason_count++].why = why;
	count->reasons[i].count++;
}

static uint64_t count_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return doc && doc->type == WTI_DOC_INT && doc->integer > 0 ? (uint64_t)doc->integer : 0;
}

static uint32_t keep_text(struct reading *reading, const struct wti_doc *doc)
{
	struct wti_buf text;
	uint32_t symbol;

	wti_buf_init(&text, ENTRY_MAX);
	wti_tc_entry_text(&text, doc);
	symbol = wti_buf_status(&text)
			 ? 0
			 : wti_symbol(&reading->pack->symbols, (const char *)text.data, text.bytes);
	wti_buf_release(&text);
	return symbol;
}

static int keep(struct reading *reading, const struct wti_doc *doc,
		const struct wti_tc_entry *entry)
{
	struct wti_symbols *symbols = &reading->pack->symbols;
	uint32_t text = keep_text(reading, doc);
	struct wti_invariant *place;

	if (!text) {
		leave_out(reading->count, "it is too large");
		return 0;
	}
	place = wti_pack_add(reading->pack);
	if (!place)
		return wti_err(reading->err, WT_E_LIMIT, "too many invariants: more than %d",
			       WTI_INVARIANTS_MAX);
	place->relation = (uint32_t)wti_relation_by_name(wti_relation_traincheck.name);
	place->subject[0] = wti_symbol_word(symbols, entry->subject);
	place->subject[1] = text;
	place->fact = (struct wti_fact){WTI_FORM_TRUE, wti_symbol_word(symbols, WTI_TC_HOLDS), 0};
	place->support.for_count = count_in(doc, "num_positive_examples");
	place->support.run_count = 1;
	place->confidence = wti_wilson(place->support.for_count, 0);
	return 0;
}

static int read_line(struct reading *reading, unsigned line, const char *text, size_t bytes)
{
	struct wti_tc_entry entry;
	struct wti_doc *doc;
	const char *why;
	int r = wti_json_parse_line(reading->name, line, text, bytes, &doc, reading->err);

	if (r)
		return r;
	if (doc->type != WTI_DOC_TABLE || !wti_doc_text(doc, "relation")) {
		r = wti_err(reading->err, WT_E_FORMAT,
			    "%.200s:%u:1: not a TrainCheck invariant: it has no \"relation\"",
			    reading->name, line);
	} else if (wti_tc_entry_read(&entry, &reading->pack->symbols, doc, &why)) {
		reading->count->entries++;
		leave_out(reading->count, why);
	} else {
		reading->count->entries++;
		r = keep(reading, doc, &entry);
		wti_tc_entry_release(&entry);
	}
	wti_doc_free(doc);
	return r;
}

/* The text need not end with a NUL. */
static bool is_blank(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
			return false;
	return true;
}

int wti_traincheck_read_line(const char *name, unsigned line, const char *text, size_t bytes,
			     struct wti_pack *pack, struct wti_traincheck_count *count,
			     struct wt_err *err)
{
	struct reading reading = {name, pack, count, err};

	return is_blank(text, bytes) ? 0 : read_line(&reading, line, text, bytes);
}

int wti_traincheck_read(const char *name, const char *text, size_t bytes, struct wti_pack *pack,
			struct wti_traincheck_count *count, struct wt_err *err)
{
	const char *end = text + bytes;
	unsigned line = 0;
	int r = 0;

	while (text < end && !r) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);

		r = wti_traincheck_read_line(name, ++line, text, length, pack, count, err);
		text += length + 1;
	}
	return r;
}
