/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to devices: terminals by name, all others by the parts of their number. */
#include "show.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/ioctl.h>

/* _IOC(_IOC_READ|_IOC_WRITE, 0x46, 0x2a, 0x20) */
static void show_parts(struct wti_show *show, uint32_t command)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
						 "_IOC_READ|_IOC_WRITE"};

	WTI_SHOW(show, "_IOC(%s, %#x, %#x, %#x)", directions[_IOC_DIR(command) & 3],
		 _IOC_TYPE(command), _IOC_NR(command), _IOC_SIZE(command));
}

bool wti_type_ioctl_command(struct wti_show *show, unsigned i)
{
	uint32_t command = wti_arg32(show, i);
	const char *name = wti_flag_name(&wti_flags_ioctl, command);

	if (name)
		WTI_SHOW(show, "%s", name);
	else
		show_parts(show, command);
	return true;
}

/* {B38400 opost isig icanon echo ...} */
static void show_terminal(struct wti_show *show, const uint8_t *at)
{
	uint32_t output = wti_u32(at + 4), control = wti_u32(at + 8), local = wti_u32(at + 12);

	WTI_SHOW(show, "{");
	wti_say_enum(show, &wti_flags_tty_speed, control & CBAUD);
	WTI_SHOW(show, " %sopost %sisig %sicanon %secho ...}", output & OPOST ? "" : "-",
		 local & ISIG ? "" : "-", local & ICANON ? "" : "-", local & ECHO ? "" : "-");
}

static void show_window(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", wti_u16(at),
		 wti_u16(at + 2), wti_u16(at + 4), wti_u16(at + 6));
}

static void show_number(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "[%d]", (int32_t)wti_u32(at));
}

static const struct {
	uint32_t command;
	uint16_t bytes;
	uint8_t when;
	void (*show)(struct wti_show *show, const uint8_t *at);
} known[] = {
	{TCGETS, 36, WTI_AT_EXIT, show_terminal},   {TCSETS, 36, WTI_AT_ENTRY, show_terminal},
	{TCSETSW, 36, WTI_AT_ENTRY, show_terminal}, {TCSETSF, 36, WTI_AT_ENTRY, show_terminal},
	{TIOCGWINSZ, 8, WTI_AT_EXIT, show_window},  {TIOCSWINSZ, 8, WTI_AT_ENTRY, show_window},
	{FIONREAD, 4, WTI_AT_EXIT, show_number},    {FIONBIO, 4, WTI_AT_ENTRY, show_number},
	{TIOCGPGRP, 4, WTI_AT_EXIT, show_number},   {TIOCSPGRP, 4, WTI_AT_ENTRY, show_number},
};

bool wti_type_ioctl_arg(struct wti_show *show, unsigned i)
{
	uint32_t command = wti_arg32(show, i - 1);

	if (command == FIOCLEX || command == FIONCLEX)
		return false;
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		const uint8_t *at;

		if (known[k].command != command)
			continue;
		at = wti_pointed(show, i, known[k].bytes, known[k].when);
		if (at)
			known[k].show(show, at);
		return true;
	}
	return wti_type_hex(show, i);
}
