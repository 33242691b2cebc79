/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the calls that do something to files: which make, change, move and remove them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "effect_row.h"

/* Kept with a handle, beside the thing: it was opened for writing where it stood. */
#define MAY_CHANGE ((uint64_t)1 << 40)

static int32_t arg(const struct wti_doing *d, unsigned i)
{
	return (int32_t)d->call->args[i];
}

/* ---- From names to things -------------------------------------------------------------------- */

uint32_t wti_thing_of_path(struct wti_effects_state *s, const char *path)
{
	size_t bytes = strlen(path);
	uint64_t *slot =
		strncmp(path, "/proc", 5) ? wti_map_text(&s->raw_names, path, bytes) : NULL;
	enum wti_thing_type type;
	struct wti_buf name;
	uint32_t thing;

	if (slot && *slot)
		return (uint32_t)*slot - 1;
	wti_buf_init(&name, 8192);
	type = wti_names_path(&s->names, path, s->pid, &name);
	thing = wti_world_thing(s->fx, type, wti_world_text(s->fx, &name), path);
	wti_buf_release(&name);
	if (slot && thing != UINT32_MAX)
		*slot = thing + 1;
	return thing;
}

uint32_t wti_thing_of_program(struct wti_effects_state *s, struct wt_text path, int32_t dirfd)
{
	struct wti_buf raw;
	uint32_t thing;

	wti_buf_init(&raw, 8192);
	if (path.bytes) {
		wti_handles_path(&s->handles, s->pid, dirfd, path, &raw);
	} else { /* AT_EMPTY_PATH: the descriptor itself */
		thing = wti_thing_of_fd(s, dirfd);
		wti_buf_text(&raw, thing == UINT32_MAX ? "?" : s->fx->things[thing].raw);
	}
	wti_buf_clear(&s->text);
	wti_names_program(&s->names, wti_world_text(s->fx, &raw), s->pid, &s->text);
	thing = wti_world_thing(s->fx, WTI_THING_PROGRAM, wti_world_text(s->fx, &s->text),
				wti_buf_cstr(&raw));
	wti_buf_release(&raw);
	return thing;
}

static uint32_t thing_of_socket(struct wti_effects_state *s, const struct wti_handle *handle)
{
	/* Whoever connects from outside comes from anywhere: what counts is where we wait. */
	const char *address = handle->is_accepted || !handle->peer ? handle->local : handle->peer;
	enum wti_thing_type type;

	if (handle->name || !address) {
		const char *name = handle->name ? handle->name : "socket";

		return wti_world_thing(s->fx, WTI_THING_CHANNEL, name, name);
	}
	wti_buf_clear(&s->text);
	type = wti_names_peer(&s->names, address, s->pid, &s->text);
	return wti_world_thing(s->fx, type, wti_world_text(s->fx, &s->text), address);
}

static uint32_t thing_of_before(struct wti_effects_state *s, uint32_t number)
{
	static const char *const names[] = {"stdin", "stdout", "stderr"};
	char text[32];

	snprintf(text, sizeof(text), "descriptor %u", number);
	return wti_world_thing(s->fx, WTI_THING_CONSOLE, number < 3 ? names[number] : text, text);
}

static uint32_t thing_of_handle(struct wti_effects_state *s, const struct wti_handle *handle)
{
	switch (handle->type) {
	case WTI_HANDLE_FILE:
		return handle->name ? wti_thing_of_path(s, handle->name) : UINT32_MAX;
	case WTI_HANDLE_SOCKET:
		return thing_of_socket(s, handle);
	case WTI_HANDLE_BEFORE:
		return thing_of_before(s, handle->before);
	default:
		return wti_world_thing(s->fx, WTI_THING_CHANNEL,
				       handle->name ? handle->name : "pipe",
				       handle->name ? handle->name : "pipe");
	}
}

uint32_t wti_thing_of_fd(struct wti_effects_state *s, int32_t fd)
{
	struct wti_handle *handle = wti_handles_of(&s->handles, s->pid, fd);
	uint32_t thing;

	if (!handle)
		return UINT32_MAX;
	if ((uint32_t)handle->attached && handle->type == WTI_HANDLE_FILE)
		return wti_thing_now(s->fx, (uint32_t)handle->attached - 1);
	thing = thing_of_handle(s, handle);
	if (thing != UINT32_MAX)
		handle->attached = (handle->attached & MAY_CHANGE) | (thing + 1u);
	return wti_thing_now(s->fx, thing);
}

/* If it succeeds, the thing has a name with what is random in it left out from now on. */
static void made_as_temp(struct wti_doing *d, unsigned path, int32_t dirfd)
{
	struct wti_effects_state *s = d->s;
	struct wt_text text;

	if (d->call->result < 0 || !wti_syscall_text(d->call, path, &text) || !text.bytes)
		return;
	wti_buf_clear(&s->text);
	wti_handles_path(&s->handles, s->pid, dirfd, text, &s->text);
	wti_names_temp(&s->names, wti_world_text(s->fx, &s->text));
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static uint32_t open_flags(const struct wti_doing *d, uint32_t *ret_mode)
{
	const char *name = wti_call_name(d->call->arch, d->call->nr);
	const uint8_t *how;
	uint64_t pair[2] = {0};

	if (!strcmp(name, "creat")) {
		*ret_mode = (uint32_t)arg(d, 1);
		return O_WRONLY | O_CREAT | O_TRUNC;
	}
	if (!strcmp(name, "openat2")) {
		how = wti_syscall_memory(d->call, 2, 0, sizeof(pair));
		if (how)
			memcpy(pair, how, sizeof(pair));
		*ret_mode = (uint32_t)pair[1];
		return (uint32_t)pair[0];
	}
	*ret_mode = (uint32_t)arg(d, !strcmp(name, "open") ? 2 : 3);
	return (uint32_t)arg(d, !strcmp(name, "open") ? 1 : 2);
}

/* Under its old name there is something new from now on. */
static void begin_anew(struct wti_doing *d)
{
	d->s->fx->things[d->thing].moved_to = 0;
	d->s->fx->things[d->thing].is_gone = false;
}

/* mkstemp() and Python's tempfile make files that are new and theirs alone. */
static bool is_as_temp(uint32_t flags, uint32_t mode)
{
	return (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) && (mode & 07777) == 0600;
}

static void prepare_open(struct wti_doing *d)
{
	uint32_t mode, flags = open_flags(d, &mode);
	bool is_at = !strncmp(wti_call_name(d->call->arch, d->call->nr), "openat", 6);

	if (is_as_temp(flags, mode))
		made_as_temp(d, is_at ? 1 : 0, is_at ? arg(d, 0) : AT_FDCWD);
}

static void act_open(struct wti_doing *d)
{
	uint32_t mode, flags = open_flags(d, &mode);
	bool is_new = flags & O_TRUNC || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	bool may_write = (flags & O_ACCMODE) != O_RDONLY;

	if (flags & O_CREAT || is_new)
		begin_anew(d);
	d->s->fx->things[d->thing].is_made_as_temp |= is_as_temp(flags, mode);
	d->s->fx->things[d->thing].is_made_alone |=
		(flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	d->s->fx->things[d->thing].is_opened_to_write |= may_write;
	wti_world_add(d->s, d->thing, WTI_EFFECT_OPENED, 1);
	d->effect = WTI_EFFECT_OPENED;
	if (is_new && may_write)
		wti_did(d, WTI_EFFECT_MADE, 1);
	if (flags & O_CREAT)
		d->s->fx->things[d->thing].permissions = mode & 07777;
}

/* The handle exists only now; what is written through it later changes the file where it stands. */
void wti_effect_after_call(struct wti_effects_state *s, const struct wti_syscall *call)
{
	const struct wti_effect_row *row = wti_effect_row(s, call);
	struct wti_doing doing = {.s = s, .call = call};
	struct wti_handle *handle;
	uint32_t flags, mode;

	if (!row || row->act != act_open || call->result < 0)
		return;
	flags = open_flags(&doing, &mode);
	handle = wti_handles_of(&s->handles, s->pid, (int32_t)call->result);
	if (handle && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_TRUNC) &&
	    (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL))
		handle->attached |= MAY_CHANGE;
	wti_thing_of_fd(s, (int32_t)call->result);
}

/* Whether it was opened anew, nobody knows: what is written to it changes what was there. */
void wti_effect_open_before(struct wti_effects_state *s, const struct wt_event *event)
{
	uint32_t pid = (uint32_t)wt_event_u64(event, WT_DESCRIPTOR_FIELD_PID);
	int32_t fd = (int32_t)wt_event_i64(event, WT_DESCRIPTOR_FIELD_FD);
	uint64_t flags = wt_event_u64(event, WT_DESCRIPTOR_FIELD_FLAGS);
	struct wti_handle *handle = fd > 2 ? wti_handles_of(&s->handles, pid, fd) : NULL;

	if (handle && handle->type == WTI_HANDLE_FILE && (flags & O_ACCMODE) != O_RDONLY)
		handle->attached |= MAY_CHANGE;
}

/* Closing what is not open says nothing of any thing. */
static void prepare_close(struct wti_doing *d)
{
	d->thing = wti_thing_of_fd(d->s, arg(d, 0));
	d->is_ignored = d->thing == UINT32_MAX;
}

void wti_effect_left_open(struct wti_effects_state *s, uint32_t pid)
{
	const struct wti_handles_of_process *process = wti_handles_process(&s->handles, pid);

	for (size_t fd = 0; process && fd < process->descriptor_count; fd++) {
		uint32_t index = process->descriptors[fd].handle;
		const struct wti_handle *handle = index ? &s->handles.all[index - 1] : NULL;
		const uint64_t *opener =
			handle ? wti_map_find_number(&s->handles.by_tid, handle->opener) : NULL;
		uint32_t thing;

		if (!opener || *opener != pid ||
		    (handle->type != WTI_HANDLE_FILE && handle->type != WTI_HANDLE_SOCKET))
			continue;
		thing = wti_thing_of_fd(s, (int32_t)fd);
		s->stack = 0;
		wti_world_add(s, thing, WTI_EFFECT_LEFT_OPEN, 1);
	}
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* Through a descriptor of which nobody knows what it is. Standard output is the caller's. */
static void changed_unknown(const struct wti_doing *d, const struct wti_handle *handle)
{
	struct wti_unseen *unseen = &d->s->fx->unseen;

	if (!handle || handle->type != WTI_HANDLE_BEFORE || handle->before <= 2)
		return;
	if (!unseen->unplaced_count++)
		snprintf(unseen->unplaced, sizeof(unseen->unplaced),
			 "descriptor %u, which another process opened", handle->before);
}

static void written(struct wti_doing *d, int32_t fd)
{
	struct wti_handle *handle = wti_handles_of(&d->s->handles, d->s->pid, fd);

	if (!d->call->result)
		return;
	changed_unknown(d, handle);
	if (handle && handle->attached & MAY_CHANGE) {
		handle->attached &= ~MAY_CHANGE;
		wti_world_add(d->s, d->thing, WTI_EFFECT_CHANGED, 1);
	}
	d->s->fx->things[d->thing].is_dirty = !(handle && handle->flags & O_SYNC);
	wti_did(d, WTI_EFFECT_WRITTEN_BYTES, (uint64_t)d->call->result);
}

static void act_write(struct wti_doing *d)
{
	written(d, arg(d, 0));
}

static void act_read(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_READ_BYTES, (uint64_t)d->call->result);
}

/* From one descriptor to another: both get their bytes. */
static void copied(struct wti_doing *d, unsigned from, unsigned to)
{
	uint32_t source = wti_thing_of_fd(d->s, arg(d, from));

	wti_world_add(d->s, source, WTI_EFFECT_READ_BYTES, (uint64_t)d->call->result);
	d->thing = wti_thing_of_fd(d->s, arg(d, to));
	if (d->thing != UINT32_MAX)
		written(d, arg(d, to));
}

static void act_sendfile(struct wti_doing *d)
{
	copied(d, 1, 0);
}

static void act_copy(struct wti_doing *d)
{
	copied(d, 0, 2);
}

/* A folder on the way to the program's is looked at all the time, by whom is no matter; but who
 * syncs it does that for the names in it. */
static void prepare_sync(struct wti_doing *d)
{
	struct wti_buf name;

	d->thing = wti_thing_of_fd(d->s, arg(d, 0));
	if (d->thing == UINT32_MAX || d->s->fx->things[d->thing].type != WTI_THING_SYSTEM ||
	    *d->s->fx->things[d->thing].name != '$')
		return;
	wti_buf_init(&name, 8192);
	wti_buf_printf(&name, "%s/.", d->s->fx->things[d->thing].name);
	d->thing = wti_world_thing(d->s->fx, WTI_THING_FILE, wti_world_text(d->s->fx, &name),
				   d->s->fx->things[d->thing].raw);
	wti_buf_release(&name);
}

static void act_sync(struct wti_doing *d)
{
	d->s->fx->things[d->thing].is_dirty = false;
	wti_did(d, WTI_EFFECT_SYNCED, 1);
}

static void act_truncate(struct wti_doing *d)
{
	if (strcmp(wti_call_name(d->call->arch, d->call->nr), "truncate") != 0)
		changed_unknown(d, wti_handles_of(&d->s->handles, d->s->pid, arg(d, 0)));
	d->s->fx->things[d->thing].is_dirty = true;
	wti_did(d, WTI_EFFECT_CHANGED, 1);
}

static void prepare_map(struct wti_doing *d)
{
	if (d->call->args[3] & MAP_ANONYMOUS || arg(d, 4) < 0)
		d->thing = wti_world_thing(d->s->fx, WTI_THING_KERNEL, "memory", "memory");
	else
		d->thing = wti_thing_of_fd(d->s, arg(d, 4));
}

static void act_map(struct wti_doing *d)
{
	const struct wti_thing *thing = &d->s->fx->things[d->thing];
	uint64_t protection = d->call->args[2];

	if (thing->type == WTI_THING_KERNEL)
		return;
	if (protection & PROT_EXEC)
		wti_did(d, WTI_EFFECT_LOADED, 1);
	else if (protection & PROT_WRITE && d->call->args[3] & MAP_SHARED &&
		 thing->type == WTI_THING_FILE)
		wti_did(d, WTI_EFFECT_CHANGED, 1);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void renamed(struct wti_doing *d, uint32_t from, uint32_t to)
{
	struct wti_effects *fx = d->s->fx;

	if (from == UINT32_MAX || to == UINT32_MAX || from == to)
		return;
	fx->things[to].moved_to = 0;
	d->thing = to;
	wti_did(d, WTI_EFFECT_REPLACED, 1);
	if (fx->things[from].is_dirty)
		wti_world_add(d->s, to, WTI_EFFECT_UNSYNCED, 1);
	fx->things[to].is_dirty = false;
	fx->things[to].via = fx->things[from].name;
	if (fx->things[from].place && !fx->things[to].place) { /* it was written there */
		fx->things[to].place = fx->things[from].place;
		fx->things[to].place_raw = fx->things[from].place_raw;
	}
	if (fx->things[from].permissions)
		fx->things[to].permissions = fx->things[from].permissions;
	wti_world_move(d->s, from, to);
	fx->things[from].is_dirty = false;
	fx->things[from].moved_to = to + 1;
}

static void act_rename(struct wti_doing *d)
{
	uint32_t from = wti_thing_at(d->s, d->call, 0, AT_FDCWD);

	renamed(d, from, wti_thing_at(d->s, d->call, 1, AT_FDCWD));
}

static void act_renameat(struct wti_doing *d)
{
	uint32_t from = wti_thing_at(d->s, d->call, 1, arg(d, 0));

	renamed(d, from, wti_thing_at(d->s, d->call, 3, arg(d, 2)));
}

/* A rename is about what it makes, not about what it takes away. */
static void prepare_rename(struct wti_doing *d)
{
	d->thing = wti_thing_at(d->s, d->call, 1, AT_FDCWD);
}

static void prepare_renameat(struct wti_doing *d)
{
	d->thing = wti_thing_at(d->s, d->call, 3, arg(d, 2));
}

static void act_remove(struct wti_doing *d)
{
	d->s->fx->things[d->thing].is_dirty = false;
	d->s->fx->things[d->thing].is_gone = true;
	wti_did(d, WTI_EFFECT_REMOVED, 1);
}

static bool is_mkdirat(const struct wti_doing *d)
{
	return !strcmp(wti_call_name(d->call->arch, d->call->nr), "mkdirat");
}

static uint32_t mkdir_mode(const struct wti_doing *d)
{
	return (uint32_t)arg(d, is_mkdirat(d) ? 2 : 1) & 07777;
}

/* As mkdtemp() makes folders. */
static void prepare_mkdir(struct wti_doing *d)
{
	if (mkdir_mode(d) == 0700)
		made_as_temp(d, is_mkdirat(d) ? 1 : 0, is_mkdirat(d) ? arg(d, 0) : AT_FDCWD);
}

static void act_mkdir(struct wti_doing *d)
{
	begin_anew(d);
	d->s->fx->things[d->thing].permissions = mkdir_mode(d);
	d->s->fx->things[d->thing].is_made_as_temp |= mkdir_mode(d) == 0700;
	wti_did(d, WTI_EFFECT_MADE, 1);
}

static void prepare_second(struct wti_doing *d)
{
	d->thing = wti_thing_at(d->s, d->call, 1, AT_FDCWD);
}

static void prepare_symlinkat(struct wti_doing *d)
{
	d->thing = wti_thing_at(d->s, d->call, 2, arg(d, 1));
}

static void act_link(struct wti_doing *d)
{
	begin_anew(d);
	wti_did(d, WTI_EFFECT_LINKED, 1);
}

static void act_symlink(struct wti_doing *d)
{
	begin_anew(d);
	wti_world_add(d->s, d->thing, WTI_EFFECT_SYMLINKED, 1);
	wti_did(d, WTI_EFFECT_MADE, 1);
}

static void act_made(struct wti_doing *d)
{
	begin_anew(d);
	wti_did(d, WTI_EFFECT_MADE, 1);
}

static void act_chmod(struct wti_doing *d)
{
	bool is_at = !strncmp(wti_call_name(d->call->arch, d->call->nr), "fchmodat", 8);

	d->s->fx->things[d->thing].permissions = (uint32_t)arg(d, is_at ? 2 : 1) & 07777;
	wti_did(d, WTI_EFFECT_PERMISSIONS, 1);
}

static void act_chown(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_PERMISSIONS, 1);
}

const struct wti_effect_row wti_effect_file_rows[] = {
	{"open", prepare_open, act_open},
	{"openat", prepare_open, act_open},
	{"openat2", prepare_open, act_open},
	{"creat", NULL, act_open},
	{"close", prepare_close, NULL},
	{"write", NULL, act_write},
	{"pwrite64", NULL, act_write},
	{"writev", NULL, act_write},
	{"pwritev", NULL, act_write},
	{"pwritev2", NULL, act_write},
	{"read", NULL, act_read},
	{"pread64", NULL, act_read},
	{"readv", NULL, act_read},
	{"preadv", NULL, act_read},
	{"preadv2", NULL, act_read},
	{"sendfile", NULL, act_sendfile},
	{"copy_file_range", NULL, act_copy},
	{"splice", NULL, act_copy},
	{"fsync", prepare_sync, act_sync},
	{"fdatasync", prepare_sync, act_sync},
	{"sync_file_range", NULL, act_sync},
	{"truncate", NULL, act_truncate},
	{"ftruncate", NULL, act_truncate},
	{"fallocate", NULL, act_truncate},
	{"mmap", prepare_map, act_map},
	{"rename", prepare_rename, act_rename},
	{"renameat", prepare_renameat, act_renameat},
	{"renameat2", prepare_renameat, act_renameat},
	{"unlink", NULL, act_remove},
	{"unlinkat", NULL, act_remove},
	{"rmdir", NULL, act_remove},
	{"mkdir", prepare_mkdir, act_mkdir},
	{"mkdirat", prepare_mkdir, act_mkdir},
	{"mknod", NULL, act_made},
	{"mknodat", NULL, act_made},
	{"link", prepare_second, act_link},
	{"linkat", prepare_renameat, act_link},
	{"symlink", prepare_second, act_symlink},
	{"symlinkat", prepare_symlinkat, act_symlink},
	{"chmod", NULL, act_chmod},
	{"fchmod", NULL, act_chmod},
	{"fchmodat", NULL, act_chmod},
	{"fchmodat2", NULL, act_chmod},
	{"chown", NULL, act_chown},
	{"lchown", NULL, act_chown},
	{"fchown", NULL, act_chown},
	{"fchownat", NULL, act_chown},
};
const size_t wti_effect_file_row_count =
	sizeof(wti_effect_file_rows) / sizeof(*wti_effect_file_rows);
