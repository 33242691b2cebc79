/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what each system call does, and to what. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/number.h"
#include "effect_row.h"
#include "syscall/described.h"

/* Results that say no more than "later" or "again": they depend on the moment, not on the program.
 */
static bool is_momentary(int64_t result)
{
	return result == -EAGAIN || result == -EINTR || result == -EINPROGRESS ||
	       (result <= -512 && result >= -516);
}

/* ---- What a call is about -------------------------------------------------------------------- */

static uint32_t kernel_thing(struct wti_effects_state *s, const char *name)
{
	return wti_world_thing(s->fx, WTI_THING_KERNEL, name, name);
}

static uint32_t thing_by_class(struct wti_effects_state *s, const struct wti_described *what)
{
	static const struct {
		uint16_t class;
		const char *name;
	} classes[] = {{WTI_CLASS_M, "memory"},   {WTI_CLASS_P, "processes"},
		       {WTI_CLASS_S, "signals"},  {WTI_CLASS_K, "time"},
		       {WTI_CLASS_C, "identity"}, {WTI_CLASS_I, "ipc"},
		       {WTI_CLASS_N, "sockets"},  {WTI_CLASS_D, "descriptors"}};

	for (size_t i = 0; what && i < sizeof(classes) / sizeof(*classes); i++)
		if (what->classes & classes[i].class)
			return kernel_thing(s, classes[i].name);
	return kernel_thing(s, "other");
}

/* The first place is kept. If a link leads elsewhere later, the thing is counted as unplaced: not
 * all of its places are known. */
static void set_place(struct wti_effects_state *s, struct wti_thing *thing, struct wt_text path)
{
	const char *raw = wti_arena_text(&s->fx->arena, path.data, path.bytes), *name;
	struct wti_buf text;

	if (!raw || (thing->place_raw && !strcmp(thing->place_raw, raw)))
		return;
	if (thing->place && !s->fx->unseen.unplaced_count++)
		snprintf(s->fx->unseen.unplaced, sizeof(s->fx->unseen.unplaced),
			 "%.40s is in several places", thing->name);
	if (thing->place)
		return;
	wti_buf_init(&text, 8192);
	wti_names_path(&s->names, raw, s->pid, &text);
	name = wti_arena_text(&s->fx->arena, text.data, text.bytes);
	if (name) {
		thing->place = name;
		thing->place_raw = raw;
	}
	wti_buf_release(&text);
}

uint32_t wti_thing_at(struct wti_effects_state *s, const struct wti_syscall *call, unsigned path,
		      int32_t dirfd)
{
	struct wt_text text;
	uint32_t thing;

	if (!wti_syscall_text(call, path, &text))
		return UINT32_MAX;
	if (!text.bytes && dirfd != AT_FDCWD) /* AT_EMPTY_PATH: the descriptor itself */
		return wti_thing_of_fd(s, dirfd);
	wti_buf_clear(&s->text);
	wti_handles_path(&s->handles, s->pid, dirfd, text, &s->text);
	thing = wti_thing_of_path(s, wti_world_text(s->fx, &s->text));
	if (thing != UINT32_MAX && wti_syscall_place(call, (int32_t)path, 0, &text))
		set_place(s, &s->fx->things[thing], text);
	return thing;
}

/* The first descriptor or path among the arguments, as they are described. */
static uint32_t thing_by_arguments(struct wti_effects_state *s, const struct wti_syscall *call,
				   const struct wti_described *what)
{
	for (unsigned i = 0; what && i < what->arg_count; i++) {
		if (what->args[i].type == WTI_TYPE_PATH)
			return wti_thing_at(s, call, i, AT_FDCWD);
		if (what->args[i].type == WTI_TYPE_DIRFD && i + 1u < what->arg_count &&
		    what->args[i + 1].type == WTI_TYPE_PATH)
			return wti_thing_at(s, call, i + 1, (int32_t)call->args[i]);
		if (what->args[i].type == WTI_TYPE_FD && (int32_t)call->args[i] >= 0)
			return wti_thing_of_fd(s, (int32_t)call->args[i]);
	}
	return thing_by_class(s, what);
}

static bool is_by_path(const struct wti_described *what)
{
	for (unsigned i = 0; what && i < what->arg_count; i++)
		if (what->args[i].type == WTI_TYPE_PATH)
			return true;
	return false;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static uint32_t new_effect(struct wti_effects_state *s, const struct wti_syscall *call)
{
	const char *name = wti_call_name(call->arch, call->nr);
	uint32_t number = call->result < 0 ? (uint32_t)wti_magnitude(call->result) : 0;
	char text[64];

	if (!name)
		snprintf(text, sizeof(text), "syscall_%u", call->nr);
	else if (number && number < wti_errno_count && wti_errno_names[number])
		snprintf(text, sizeof(text), "%s %s", name, wti_errno_names[number]);
	else if (number)
		snprintf(text, sizeof(text), "%s %u", name, number);
	else
		snprintf(text, sizeof(text), "%s", name);
	return wti_world_call(s->fx, text);
}

/* Whoever is killed in such a call does not come again, and has reached out all the same. */
static void try_to_reach(const struct wti_effect_row *row, struct wti_doing *doing)
{
	if (!row || !row->reaches)
		return;
	row->prepare(doing);
	if (doing->thing != UINT32_MAX)
		doing->s->fx->things[doing->thing].is_tried = true;
}

/* Most calls succeed, and are then known by their number. */
static uint32_t call_effect(struct wti_effects_state *s, const struct wti_syscall *call)
{
	bool is_known = (call->arch == WTI_ARCH_X86_64 || call->arch == WTI_ARCH_AARCH64) &&
			call->nr < WTI_CALLS_MAX && call->result >= 0;
	uint32_t *effect = is_known ? &s->successes[call->arch - 1][call->nr] : NULL;

	if (!effect)
		return new_effect(s, call);
	if (!*effect)
		*effect = new_effect(s, call);
	return *effect;
}

void wti_effect_of_call(struct wti_effects_state *s, const struct wti_syscall *call)
{
	const struct wti_described *what = wti_described(call->arch, call->nr);
	const struct wti_effect_row *row = wti_effect_row(s, call);
	struct wti_doing doing = {.s = s, .call = call, .thing = UINT32_MAX, .effect = UINT32_MAX};
	uint32_t effect;

	s->fx->actors[s->process - 1].call_count++;
	if (call->flags & WT_SYSCALL_JOINED)
		return;
	if (is_momentary(call->result)) {
		try_to_reach(row, &doing);
		return;
	}
	if (row && row->prepare)
		row->prepare(&doing);
	if (doing.is_ignored)
		return;
	if (doing.thing == UINT32_MAX)
		doing.thing = thing_by_arguments(s, call, what);
	if (doing.thing == UINT32_MAX)
		doing.thing = thing_by_class(s, what);
	if (doing.thing == UINT32_MAX)
		return; /* beyond the ceiling: it is counted */
	effect = call_effect(s, call);
	wti_world_add(s, doing.thing, effect, 1);
	wti_world_stage(s, doing.thing, effect);
	if (is_by_path(what) && (call->result >= 0 || call->result == -ENOENT))
		wti_searches_look(s, doing.thing, call->result >= 0);
	if (call->flags & WT_SYSCALL_UNFINISHED || call->result < 0) {
		wti_world_act(s, doing.thing, effect);
		return;
	}
	if (row && row->act)
		row->act(&doing);
	wti_world_act(s, wti_thing_now(s->fx, doing.thing),
		      doing.effect == UINT32_MAX ? effect : doing.effect);
}
