/* SPDX-License-Identifier: Apache-2.0 */
/* Hides that a line has many stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "finder.h"

#define PLACES_MAX (1u << 20)
#define SHOWN_MAX 4u /* changed files */

struct wti_finder {
	struct wti_native *native;
	struct wti_map first; /* reader, file and line: the first stack */
};

struct wti_finder *wti_finder_new(void)
{
	struct wti_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return NULL;
	wti_map_init(&finder->first, PLACES_MAX);
	finder->native = wti_native_new();
	if (!finder->native) {
		wti_finder_free(finder);
		return NULL;
	}
	return finder;
}

void wti_finder_free(struct wti_finder *finder)
{
	if (!finder)
		return;
	wti_native_free(finder->native);
	wti_map_release(&finder->first);
	free(finder);
}

struct wti_native *wti_finder_native(const struct wti_finder *finder)
{
	return finder->native;
}

uint32_t wti_finder_place(void *opaque, const struct wt_reader *reader, uint32_t stack)
{
	struct wti_finder *finder = opaque;
	const struct wti_frame *frame = wti_native_place(finder->native, reader, stack);
	char key[4096];
	uint64_t *slot;
	int bytes;

	if (!frame)
		return 0;
	bytes = snprintf(key, sizeof(key), "%p:%u:%s", (const void *)reader, frame->line,
			 frame->file);
	if (bytes < 0 || (size_t)bytes >= sizeof(key))
		return stack;
	slot = wti_map_text(&finder->first, key, (size_t)bytes);
	if (!slot)
		return stack;
	if (!*slot)
		*slot = stack;
	return (uint32_t)*slot;
}

bool wti_finder_locate(struct wti_finder *finder, const struct wt_reader *reader, uint32_t stack,
		       char *ret_file, size_t file_bytes, uint32_t *ret_line)
{
	const struct wti_frame *frame = wti_native_place(finder->native, reader, stack);

	if (!frame)
		return false;
	snprintf(ret_file, file_bytes, "%s", frame->file);
	*ret_line = frame->line;
	return true;
}

void wti_finder_note(const struct wti_finder *finder, struct wt_result *result)
{
	const char *path;

	for (size_t i = 0; i < SHOWN_MAX && (path = wti_native_changed(finder->native, i)); i++)
		wt_result_note(
			result,
			"'%s' has changed since the run: its addresses are shown without names",
			path);
}
