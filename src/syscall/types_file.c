/* SPDX-License-Identifier: Apache-2.0 */
/* Files: how they are opened, what they are, locks, folders. */
#include "show.h"

#include <linux/fcntl.h>
#include <sys/stat.h>

/* ---- Opening --------------------------------------------------------------------------------- */

void wti_say_open_flags(struct wti_show *show, uint32_t flags)
{
	wti_say_enum(show, &wti_flags_open_access, flags & O_ACCMODE);
	wti_say_more_flags(show, &wti_flags_open_mode, flags & ~(uint32_t)O_ACCMODE);
}

bool wti_type_open_flags(struct wti_show *show, unsigned i)
{
	wti_say_open_flags(show, wti_arg32(show, i));
	return true;
}

/* Only a call that may make a file has a mode; it stands behind the flags. */
bool wti_type_create_mode(struct wti_show *show, unsigned i)
{
	uint32_t flags = wti_arg32(show, i - 1);

	if (!(flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE)
		return false;
	return wti_type_mode(show, i);
}

bool wti_type_open_how(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 24, WTI_AT_ENTRY);
	uint64_t flags;

	if (!at)
		return true;
	flags = wti_get64(at);
	WTI_SHOW(show, "{flags=");
	wti_say_open_flags(show, (uint32_t)flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE || wti_get64(at + 8))
		WTI_SHOW(show, ", mode=%#03llo", (unsigned long long)wti_get64(at + 8));
	WTI_SHOW(show, ", resolve=");
	wti_say_flags(show, &wti_flags_resolve, wti_get64(at + 16));
	WTI_SHOW(show, "}");
	return true;
}

bool wti_type_memfd_flags(struct wti_show *show, unsigned i)
{
	uint32_t flags = wti_arg32(show, i), huge = flags >> 26;

	if (flags & 0x3ffffff || !flags)
		wti_say_flags(show, &wti_flags_memfd, flags & 0x3ffffff);
	if (huge)
		WTI_SHOW(show, "%s%u<<MFD_HUGE_SHIFT", flags & 0x3ffffff ? "|" : "", huge);
	return true;
}

bool wti_type_node_mode(struct wti_show *show, unsigned i)
{
	wti_say_mode(show, wti_arg32(show, i) & 0xffff);
	return true;
}

/* Only devices have a number. */
bool wti_type_node_dev(struct wti_show *show, unsigned i)
{
	uint32_t type = wti_arg32(show, i - 1) & S_IFMT;

	if (type != S_IFCHR && type != S_IFBLK)
		return false;
	return wti_type_dev(show, i);
}

/* ---- What a file is -------------------------------------------------------------------------- */

bool wti_type_stat_out(struct wti_show *show, unsigned i)
{
	const struct wti_layout *layout = wti_layout(show->call->arch);
	const uint8_t *at = wti_pointed(show, i, layout->stat_bytes, WTI_AT_EXIT);
	uint32_t mode;

	if (!at)
		return true;
	mode = wti_get32(at + layout->stat_mode);
	WTI_SHOW(show, "{st_mode=");
	wti_say_mode(show, mode);
	if ((mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK) {
		WTI_SHOW(show, ", st_rdev=");
		wti_say_device(show, wti_get64(at + layout->stat_rdev));
	} else {
		WTI_SHOW(show, ", st_size=%llu",
			 (unsigned long long)wti_get64(at + layout->stat_size));
	}
	WTI_SHOW(show, ", ...}");
	return true;
}

bool wti_type_statx_flags(struct wti_show *show, unsigned i)
{
	uint32_t flags = wti_arg32(show, i), sync = flags & AT_STATX_SYNC_TYPE;

	/* Both at once is nothing the kernel knows, but shown as two. */
	if (sync == AT_STATX_SYNC_TYPE)
		wti_say_flags(show, &wti_flags_statx_sync, sync);
	else
		wti_say_enum(show, &wti_flags_statx_sync, sync);
	wti_say_more_flags(show, &wti_flags_at, flags & ~(uint32_t)AT_STATX_SYNC_TYPE);
	return true;
}

bool wti_type_statx_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 256, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "{stx_mask=");
	wti_say_flags(show, &wti_flags_statx_mask, wti_get32(at));
	WTI_SHOW(show, ", stx_attributes=");
	wti_say_flags(show, &wti_flags_statx_attributes, wti_get64(at + 8));
	WTI_SHOW(show, ", stx_mode=");
	wti_say_mode(show, wti_get16(at + 28));
	WTI_SHOW(show, ", stx_size=%llu, ...}", (unsigned long long)wti_get64(at + 40));
	return true;
}

bool wti_type_statfs_out(struct wti_show *show, unsigned i)
{
	static const char *const counts[] = {"f_bsize",  "f_blocks", "f_bfree",
					     "f_bavail", "f_files",  "f_ffree"};
	const uint8_t *at = wti_pointed(show, i, 120, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "{f_type=");
	wti_say_enum(show, &wti_flags_file_systems, wti_get64(at));
	for (size_t k = 0; k < 6; k++)
		WTI_SHOW(show, ", %s=%llu", counts[k],
			 (unsigned long long)wti_get64(at + 8 + 8 * k));
	WTI_SHOW(show, ", f_fsid={val=[%#x, %#x]}, f_namelen=%llu, f_frsize=%llu, f_flags=",
		 wti_get32(at + 56), wti_get32(at + 60), (unsigned long long)wti_get64(at + 64),
		 (unsigned long long)wti_get64(at + 72));
	wti_say_flags(show, &wti_flags_statfs, wti_get64(at + 80));
	WTI_SHOW(show, "}");
	return true;
}

/* How many there are: the records are counted by their own lengths. */
bool wti_type_dirents_out(struct wti_show *show, unsigned i)
{
	uint64_t address = wti_arg64(show, i), left = (uint64_t)show->call->result;
	size_t there = 0;
	const uint8_t *at = wti_memory_from(show, address, WTI_AT_EXIT, &there);
	unsigned long long count = 0;

	if (!wti_filled(show, i))
		return true;
	wti_say_address(show, address);
	if (left && !at)
		return true;
	while (left > 18 && there > 18) {
		uint16_t bytes = wti_get16(at + 16);

		if (bytes < 19 || bytes > left)
			break;
		count++;
		left -= bytes;
		if (bytes > there)
			break;
		at += bytes;
		there -= bytes;
	}
	WTI_SHOW(show, left ? " /* %llu entries or more */" : " /* %llu entries */", count);
	return true;
}

/* ---- fcntl ----------------------------------------------------------------------------------- */

static void show_lock(struct wti_show *show, unsigned i, const uint8_t *at, bool with_pid)
{
	if (!at) {
		wti_say_address(show, wti_arg64(show, i));
		return;
	}
	WTI_SHOW(show, "{l_type=");
	wti_say_enum(show, &wti_flags_lock_type, wti_get16(at));
	WTI_SHOW(show, ", l_whence=");
	wti_say_enum(show, &wti_flags_seek, wti_get16(at + 2));
	WTI_SHOW(show, ", l_start=%lld, l_len=%lld", (long long)wti_get64(at + 8),
		 (long long)wti_get64(at + 16));
	if (with_pid)
		WTI_SHOW(show, ", l_pid=%d", (int32_t)wti_get32(at + 24));
	WTI_SHOW(show, "}");
}

static bool show_lock_asked(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_memory(show, wti_arg64(show, i), 32, WTI_AT_EXIT);

	if (wti_filled(show, i))
		show_lock(show, i, at, true);
	return true;
}

bool wti_type_fcntl_arg(struct wti_show *show, unsigned i)
{
	switch (wti_arg32(show, i - 1)) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
	case F_GET_SEALS:
		return false;
	case F_SETFD:
		wti_say_flags(show, &wti_flags_fd_flags, wti_arg32(show, i));
		return true;
	case F_SETFL:
		wti_say_open_flags(show, wti_arg32(show, i));
		return true;
	case F_ADD_SEALS:
		wti_say_flags(show, &wti_flags_seals, wti_arg32(show, i));
		return true;
	case F_SETLEASE:
		wti_say_enum(show, &wti_flags_lease, wti_arg32(show, i));
		return true;
	case F_SETSIG:
		return wti_type_signal(show, i);
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETOWN:
	case F_SETPIPE_SZ:
		return wti_type_int(show, i);
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		show_lock(show, i, wti_memory(show, wti_arg64(show, i), 32, WTI_AT_ENTRY), false);
		return true;
	case F_GETLK:
	case F_OFD_GETLK:
		return show_lock_asked(show, i);
	default:
		return wti_type_hex(show, i);
	}
}
