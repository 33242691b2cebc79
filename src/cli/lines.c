/* SPDX-License-Identifier: Apache-2.0 */
/* Hides that a line has many stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "lines.h"

#define PLACES_MAX (1u << 20)
#define SHOWN_MAX 4u /* changed files */

struct wti_lines {
	struct wti_native *native;
	struct wti_map first; /* reader, file and line: the first stack */
};

struct wti_lines *wti_lines_new(void)
{
	struct wti_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	wti_map_init(&lines->first, PLACES_MAX);
	lines->native = wti_native_new();
	if (!lines->native) {
		wti_lines_free(lines);
		return NULL;
	}
	return lines;
}

void wti_lines_free(struct wti_lines *lines)
{
	if (!lines)
		return;
	wti_native_free(lines->native);
	wti_map_release(&lines->first);
	free(lines);
}

struct wti_native *wti_lines_native(const struct wti_lines *lines)
{
	return lines->native;
}

uint32_t wti_lines_place(void *opaque, const struct wt_reader *reader, uint32_t stack)
{
	struct wti_lines *lines = opaque;
	const struct wti_frame *frame = wti_native_place(lines->native, reader, stack);
	char key[4096];
	uint64_t *slot;
	int bytes;

	if (!frame)
		return 0;
	bytes = snprintf(key, sizeof(key), "%p:%u:%s", (const void *)reader, frame->line,
			 frame->file);
	if (bytes < 0 || (size_t)bytes >= sizeof(key))
		return stack;
	slot = wti_map_text(&lines->first, key, (size_t)bytes);
	if (!slot)
		return stack;
	if (!*slot)
		*slot = stack;
	return (uint32_t)*slot;
}

bool wti_lines_locate(struct wti_lines *lines, const struct wt_reader *reader, uint32_t stack,
		      char *ret_file, size_t file_bytes, uint32_t *ret_line)
{
	const struct wti_frame *frame = wti_native_place(lines->native, reader, stack);

	if (!frame)
		return false;
	snprintf(ret_file, file_bytes, "%s", frame->file);
	*ret_line = frame->line;
	return true;
}

void wti_lines_note(const struct wti_lines *lines, struct wt_result *result)
{
	const char *path;

	for (size_t i = 0; i < SHOWN_MAX && (path = wti_native_changed(lines->native, i)); i++)
		wt_result_note(result,
			       "'%s' has changed since the run: its addresses stay without names",
			       path);
}
