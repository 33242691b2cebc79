/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what a trace of system calls cannot show, and by what it is recognised there. */
#include "unseen.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "effects.h"
#include "syscall/compat.h"
#include "syscall/handles.h"

/* Paths of the process mean other files from now on. */
static bool moves_root(const struct wti_syscall *call, const char *name)
{
	if (!strcmp(name, "unshare"))
		return call->args[0] & CLONE_NEWNS;
	return !strcmp(name, "chroot") || !strcmp(name, "pivot_root") || !strcmp(name, "setns");
}

/* A child that a tracer is not to follow. BPF does, and then it is among the threads. */
static bool is_untraced(const struct wti_syscall *call, const char *name,
			const struct wti_map *threads)
{
	const uint8_t *memory;
	uint64_t flags = call->args[0];

	if (strncmp(name, "clone", 5) != 0 || call->result <= 0)
		return false;
	if (!strcmp(name, "clone3")) {
		memory = wti_syscall_memory(call, 0, WTI_AT_ENTRY, sizeof(flags));
		if (!memory)
			return false;
		memcpy(&flags, memory, sizeof(flags));
	}
	return flags & CLONE_UNTRACED && !wti_map_find_number(threads, (uint64_t)call->result);
}

void wti_unseen_call(struct wti_unseen *unseen, const struct wti_syscall *call,
		     const struct wti_map *threads)
{
	const char *name = wti_call_name((enum wti_arch)call->arch, call->nr);

	if (name && is_untraced(call, name, threads) && !unseen->untraced_count++)
		unseen->untraced_tid = (uint32_t)call->result;

	/* A number that is missing from the table of this architecture hides nothing: kernels of
	 * that table only return an error for it. */
	if (call->arch == WTI_ARCH_I386)
		unseen->foreign_count += !wti_compat_is_harmless(call->nr);
	else if (call->arch != WTI_ARCH_X86_64 && call->arch != WTI_ARCH_AARCH64)
		unseen->foreign_count++;
	else if (name && call->result >= 0 && !strcmp(name, "io_uring_setup"))
		unseen->uring_count++;
	else if (name && call->result >= 0 && moves_root(call, name) && !unseen->unplaced_count++)
		snprintf(unseen->unplaced, sizeof(unseen->unplaced), "those behind %s", name);
}

void wti_unseen_finish(struct wti_effects *fx)
{
	struct wti_unseen *unseen = &fx->unseen;

	for (size_t i = 0; i < fx->actor_count; i++) {
		const struct wti_actor *actor = &fx->actors[i];

		if (actor->process || actor->ended)
			continue;
		if (!unseen->alive_count++) {
			unseen->alive_pid = actor->pid;
			memcpy(unseen->alive_command, actor->command,
			       sizeof(unseen->alive_command));
		}
	}
}

static void name_alive(const struct wti_unseen *unseen, char *why, size_t bytes)
{
	char others[48] = "";

	if (unseen->alive_count > 1)
		snprintf(others, sizeof(others), " and %llu more",
			 (unsigned long long)unseen->alive_count - 1);
	snprintf(why, bytes,
		 "process %u (%s)%s outlived the recording, and what it did later was not seen: "
		 "record with --wait",
		 unseen->alive_pid, unseen->alive_command, others);
}

bool wti_unseen(const struct wti_unseen *unseen, unsigned about, char *why, size_t bytes)
{
	if (unseen->alive_count)
		name_alive(unseen, why, bytes);
	else if (unseen->untraced_count)
		snprintf(why, bytes,
			 "process %u asked not to be traced (CLONE_UNTRACED), and what it did is "
			 "not "
			 "seen: record it with --backend bpf",
			 unseen->untraced_tid);
	else if (unseen->foreign_count)
		snprintf(why, bytes,
			 "%llu system calls are those of another architecture, which are not "
			 "decoded: what they did is not known",
			 (unsigned long long)unseen->foreign_count);
	else if (unseen->uring_count && about & (WTI_ABOUT_FILES | WTI_ABOUT_NETWORK))
		snprintf(why, bytes,
			 "the program uses io_uring, and what it did through it is not seen: "
			 "record it with io_uring switched off (sysctl kernel.io_uring_disabled=2, "
			 "or an option of the program)");
	else if (unseen->message_count && about & WTI_ABOUT_NETWORK)
		snprintf(why, bytes,
			 "%llu calls of sendmmsg sent several messages, and only whom the first of "
			 "each goes to is known",
			 (unsigned long long)unseen->message_count);
	else if (unseen->unplaced_count && about & WTI_ABOUT_PLACES)
		snprintf(why, bytes, "where files really are that were written to is not known: %s",
			 unseen->unplaced);
	else
		return false;
	return true;
}
