/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of several streams, and names that need no quoting. */
#include "kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct wt_kind *wti_widest_kind(const struct wt_trace *trace, uint16_t number)
{
	const struct wt_kind *widest = NULL;

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_kind *kind = wt_reader_kind(wt_trace_stream(trace, i), number);

		if (kind && (!widest || kind->field_count > widest->field_count))
			widest = kind;
	}
	return widest;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

void wti_table_name(char out[WTI_TABLE_NAME_BYTES], const struct wt_kind *kind)
{
	const struct wt_kind *known = wt_kind_builtin(kind->number);
	size_t bytes = 0;

	if (known) { /* whatever a foreign trace calls it */
		snprintf(out, WTI_TABLE_NAME_BYTES, "%s", known->name);
		return;
	}
	if (!strncasecmp(kind->name, "sqlite_", 7)) /* which SQLite keeps for itself */
		bytes = (size_t)snprintf(out, WTI_TABLE_NAME_BYTES, "kind_");
	for (const char *c = kind->name; *c && bytes < WTI_TABLE_NAME_BYTES - 16; c++) {
		if (is_plain(*c))
			out[bytes++] = *c;
	}
	snprintf(out + bytes, WTI_TABLE_NAME_BYTES - bytes, "_%u", kind->number);
}

bool wti_table_is_other(const char *name, const struct wt_kind *kind)
{
	size_t bytes = strlen(kind->name);

	if (strncmp(name, kind->name, bytes))
		return true;
	return wt_kind_builtin(kind->number) ? name[bytes] : name[bytes] != '_';
}
