/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that the recorder left for agents: lines of key=value. Makes no use of the heap. */
#ifndef WTI_AGENTS_SETTING_H
#define WTI_AGENTS_SETTING_H

#include <stdbool.h>
#include <stddef.h>

struct wti_meeting;

#pragma GCC visibility push(hidden)

/* All of them as one text, to be given to wti_settings_release(); NULL: there are none. */
char *wti_settings_read(const struct wti_meeting *meeting);
void wti_settings_release(char *text);
/* What follows "key=" on a line of its own; false if it is not there or there is no room for it. */
bool wti_setting(const char *text, const char *key, char *out, size_t out_bytes);

#pragma GCC visibility pop

#endif
