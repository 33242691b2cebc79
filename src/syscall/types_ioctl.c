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

/* Flags that may be none: strace shows nothing then. */
static void show_some(struct wti_show *show, const struct wti_flags *set, uint32_t value)
{
	if (value)
		wti_say_flags(show, set, value);
}

/* Small numbers within the flags, each with a name, before the flags themselves. */
static void show_output(struct wti_show *show, uint32_t value)
{
	static const struct {
		const struct wti_flags *set;
		uint32_t mask;
	} parts[] = {
		{&wti_flags_tty_newline, NLDLY},  {&wti_flags_tty_return, CRDLY},
		{&wti_flags_tty_tab, TABDLY},     {&wti_flags_tty_backspace, BSDLY},
		{&wti_flags_tty_vertical, VTDLY}, {&wti_flags_tty_feed, FFDLY},
	};

	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		wti_say_enum(show, parts[k].set, value & parts[k].mask);
		WTI_SHOW(show, "|");
		value &= ~parts[k].mask;
	}
	show_some(show, &wti_flags_tty_output, value);
}

static void show_control(struct wti_show *show, uint32_t value)
{
	uint32_t input_speed = (value & CIBAUD) >> IBSHIFT;

	wti_say_enum(show, &wti_flags_tty_speed, value & CBAUD);
	if (input_speed) {
		WTI_SHOW(show, "|");
		wti_say_enum(show, &wti_flags_tty_speed, input_speed);
		WTI_SHOW(show, "<<IBSHIFT");
	}
	WTI_SHOW(show, "|");
	wti_say_enum(show, &wti_flags_tty_size, value & CSIZE);
	WTI_SHOW(show, "|");
	show_some(show, &wti_flags_tty_control, value & ~(uint32_t)(CBAUD | CIBAUD | CSIZE));
}

/* {c_iflag=ICRNL|IXON, c_oflag=..., c_cflag=B38400|CS8|CREAD, c_lflag=ISIG|ICANON|ECHO, ...} */
static void show_terminal(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{c_iflag=");
	show_some(show, &wti_flags_tty_input, wti_get32(at));
	WTI_SHOW(show, ", c_oflag=");
	show_output(show, wti_get32(at + 4));
	WTI_SHOW(show, ", c_cflag=");
	show_control(show, wti_get32(at + 8));
	WTI_SHOW(show, ", c_lflag=");
	show_some(show, &wti_flags_tty_local, wti_get32(at + 12));
	WTI_SHOW(show, ", ...}");
}

static void show_window(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", wti_get16(at),
		 wti_get16(at + 2), wti_get16(at + 4), wti_get16(at + 6));
}

static void show_number(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "[%d]", (int32_t)wti_get32(at));
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

/* Commands that take nothing. */
static bool is_bare(uint32_t command)
{
	static const uint32_t bare[] = {FIOCLEX,   FIONCLEX, TIOCEXCL, TIOCNXCL,   TIOCCONS,
					TIOCNOTTY, TIOCSBRK, TIOCCBRK, TIOCVHANGUP};

	for (size_t k = 0; k < sizeof(bare) / sizeof(bare[0]); k++) {
		if (bare[k] == command)
			return true;
	}
	return false;
}

bool wti_type_ioctl_arg(struct wti_show *show, unsigned i)
{
	uint32_t command = wti_arg32(show, i - 1);

	if (is_bare(command))
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
