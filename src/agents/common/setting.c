/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how the lines of the settings file are written. */
#include "setting.h"

#include <string.h>
#include <sys/mman.h>

#include "meeting.h"
#include "trace/protocol.h"

enum { SETTINGS_BYTES_MAX = 1 << 20 }; /* the recorder's own ceiling */

char *wti_settings_read(const struct wti_meeting *meeting)
{
	char *text = mmap(NULL, SETTINGS_BYTES_MAX + 1, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		return NULL;
	if (wti_meeting_read(meeting, WTI_SETTINGS_FILE, text, SETTINGS_BYTES_MAX) > 0)
		return text;
	wti_settings_release(text);
	return NULL;
}

void wti_settings_release(char *text)
{
	if (text)
		munmap(text, SETTINGS_BYTES_MAX + 1);
}

bool wti_setting(const char *text, const char *key, char *out, size_t out_bytes)
{
	const size_t key_bytes = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t bytes;

		line += *line == '\n';
		if (strncmp(line, key, key_bytes) != 0 || line[key_bytes] != '=')
			continue;
		line += key_bytes + 1;
		bytes = strcspn(line, "\n");
		if (bytes >= out_bytes)
			return false;
		memcpy(out, line, bytes);
		out[bytes] = 0;
		return true;
	}
	return false;
}
