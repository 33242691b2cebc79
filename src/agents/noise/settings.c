/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings of the noise among those of all agents. Makes no use of the heap. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/meeting.h"
#include "common/setting.h"

enum { NAME_BYTES_MAX = 256 };

static bool parse(const char *text, struct wti_noise_settings *ret)
{
	char mode[32], seed[32];

	*ret = (struct wti_noise_settings){0};
	if (!wti_setting(text, "noise", mode, sizeof(mode)) ||
	    !wti_noise_parse(mode, &ret->noise) || ret->noise.mode == WTI_NOISE_OFF)
		return false;
	if (wti_setting(text, "noise_seed", seed, sizeof(seed)))
		ret->noise.seed = strtoull(seed, NULL, 10);
	wti_setting(text, "noise_only", ret->only, sizeof(ret->only));
	wti_setting(text, "noise_skip", ret->skip, sizeof(ret->skip));
	return true;
}

bool wti_noise_settings_read(const struct wti_meeting *meeting, struct wti_noise_settings *ret)
{
	char *text = wti_settings_read(meeting);
	bool is_on = text && parse(text, ret);

	wti_settings_release(text);
	return is_on;
}

static bool fits(const char *pattern, size_t bytes, const char *name)
{
	if (bytes && pattern[bytes - 1] == '*')
		return strncmp(pattern, name, bytes - 1) == 0;
	return bytes == strlen(name) && memcmp(pattern, name, bytes) == 0;
}

static bool fits_any(const char *patterns, const char *name)
{
	for (const char *at = patterns; *at;) {
		const size_t bytes = strcspn(at, ",");

		if (fits(at, bytes, name))
			return true;
		at += bytes + (at[bytes] == ',');
	}
	return false;
}

bool wti_noise_settings_want(const struct wti_noise_settings *settings, const char *group,
			     const char *name)
{
	const size_t group_bytes = strlen(group), name_bytes = strlen(name);
	char whole[NAME_BYTES_MAX];

	if (group_bytes + name_bytes + 2 > sizeof(whole)) /* no pattern is meant for it */
		return !*settings->only;
	memcpy(whole, group, group_bytes);
	whole[group_bytes] = '.';
	memcpy(whole + group_bytes + 1, name, name_bytes + 1);
	return (!*settings->only || fits_any(settings->only, whole)) &&
	       !fits_any(settings->skip, whole);
}
