/* SPDX-License-Identifier: Apache-2.0 */
/* Settings by name, each with its last value in either run: see settings.h. */
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct wti_library_setting *find(struct wti_library_settings *settings, const char *name)
{
	struct wti_library_setting *setting;

	for (size_t i = 0; i < settings->count; i++)
		if (!strcmp(settings->all[i].name, name))
			return &settings->all[i];
	if (settings->count == WTI_SETTINGS)
		return NULL;
	setting = &settings->all[settings->count++];
	snprintf(setting->name, sizeof(setting->name), "%s", name);
	return setting;
}

void wti_settings_take(struct wti_library_settings *settings, unsigned run,
		       const struct wti_course *course, const struct wti_computed *item)
{
	const struct wti_value_row *value = &item->values[0];
	struct wti_library_setting *setting = find(settings, wti_course_text(course, item->callee));
	char *text = setting ? setting->values[run] : NULL;

	if (!text)
		return;
	if (value->type == WT_VALUE_TYPE_BOOL)
		snprintf(text, sizeof(setting->values[0]), "%s", value->bits ? "on" : "off");
	else if (value->type == WT_VALUE_TYPE_INT)
		snprintf(text, sizeof(setting->values[0]), "%" PRId64, (int64_t)value->bits);
	else
		snprintf(text, sizeof(setting->values[0]), "%s",
			 wti_course_text(course, value->text));
}

/* One that a run never had read is not known to differ. */
void wti_settings_differing(const struct wti_library_settings *settings, char *out, size_t bytes)
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < settings->count && used < bytes; i++) {
		const struct wti_library_setting *setting = &settings->all[i];
		const char *a = setting->values[0], *b = setting->values[1];
		int written = *a && *b && strcmp(a, b) != 0
				      ? snprintf(out + used, bytes - used, "%s%s %s and %s",
						 used ? ", " : "", setting->name, a, b)
				      : 0;

		used += written > 0 ? (size_t)written : 0;
	}
}
