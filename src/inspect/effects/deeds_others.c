/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the calls about programs, connections and what the moment decides. */
#include <fcntl.h>
#include <string.h>

#include "deeds.h"

/* ---- Programs -------------------------------------------------------------------------------- */

/*
 * Failed attempts are a search through $PATH. That the first process became the program is the
 * recorder's doing.
 */
static void prepare_exec(struct wti_doing *d, unsigned path, int32_t dirfd)
{
	const struct wti_actor *actor = &d->s->fx->actors[d->s->process - 1];
	struct wt_text text;

	d->is_ignored = d->call->result < 0 || !wti_syscall_text(d->call, path, &text) ||
			(!actor->parent && !d->s->fx->syscall_count);
	if (!d->is_ignored)
		d->thing = wti_thing_of_program(d->s, text, dirfd);
}

static void prepare_execve(struct wti_doing *d)
{
	prepare_exec(d, 0, AT_FDCWD);
}

static void prepare_execveat(struct wti_doing *d)
{
	prepare_exec(d, 1, (int32_t)d->call->args[0]);
}

static void act_exec(struct wti_doing *d)
{
	wti_did(d, WTI_DEED_EXECUTED, 1);
}

/* ---- Connections ----------------------------------------------------------------------------- */

/* Also when it failed: whom one tried to reach is what matters. */
static void prepare_address(struct wti_doing *d)
{
	const uint8_t *memory = NULL;
	uint64_t bytes = d->call->args[2];
	enum wti_thing_type type;
	struct wti_buf text;

	for (size_t i = 0; i < d->call->piece_count && !memory; i++)
		if (d->call->pieces[i].address == d->call->args[1]) {
			memory = d->call->pieces[i].data;
			bytes = d->call->pieces[i].bytes;
		}
	wti_buf_init(&text, 4096);
	if (memory && wti_address_text(memory, bytes, &text)) {
		wti_buf_clear(&d->s->text);
		type = wti_names_peer(&d->s->names, wti_buf_cstr(&text), d->s->pid, &d->s->text);
		d->thing = wti_model_thing(d->s->fx, type, wti_model_text(d->s->fx, &d->s->text),
					   wti_buf_cstr(&text));
	}
	wti_buf_release(&text);
}

static void act_connect(struct wti_doing *d)
{
	wti_did(d, WTI_DEED_CONNECTED, 1);
}

static void act_listen(struct wti_doing *d)
{
	wti_did(d, WTI_DEED_LISTENED, 1);
}

static void act_accept(struct wti_doing *d)
{
	wti_did(d, WTI_DEED_ACCEPTED, 1);
}

static void act_send(struct wti_doing *d)
{
	wti_did(d, WTI_DEED_WRITTEN_BYTES, (uint64_t)d->call->result);
}

static void act_receive(struct wti_doing *d)
{
	wti_did(d, WTI_DEED_READ_BYTES, (uint64_t)d->call->result);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* How often one waits depends on who comes first: as little to be compared as a pipe. */
static void prepare_waiting(struct wti_doing *d)
{
	d->thing = wti_model_thing(d->s->fx, WTI_THING_CHANNEL, "waiting", "waiting");
}

static void prepare_random(struct wti_doing *d)
{
	d->thing = wti_model_thing(d->s->fx, WTI_THING_KERNEL, "random numbers", "random numbers");
}

const struct wti_deed_row wti_deed_others[] = {
	{"execve", prepare_execve, act_exec},
	{"execveat", prepare_execveat, act_exec},
	{"connect", prepare_address, act_connect},
	{"bind", prepare_address, NULL},
	{"listen", NULL, act_listen},
	{"accept", NULL, act_accept},
	{"accept4", NULL, act_accept},
	{"sendto", NULL, act_send},
	{"sendmsg", NULL, act_send},
	{"recvfrom", NULL, act_receive},
	{"recvmsg", NULL, act_receive},
	{"futex", prepare_waiting, NULL},
	{"futex_waitv", prepare_waiting, NULL},
	{"sched_yield", prepare_waiting, NULL},
	{"poll", prepare_waiting, NULL},
	{"ppoll", prepare_waiting, NULL},
	{"select", prepare_waiting, NULL},
	{"pselect6", prepare_waiting, NULL},
	{"epoll_wait", prepare_waiting, NULL},
	{"epoll_pwait", prepare_waiting, NULL},
	{"epoll_pwait2", prepare_waiting, NULL},
	{"epoll_ctl", prepare_waiting, NULL},
	{"restart_syscall", prepare_waiting, NULL},
	{"wait4", prepare_waiting, NULL},
	{"waitid", prepare_waiting, NULL},
	{"getrandom", prepare_random, NULL},
};
const size_t wti_deed_other_count = sizeof(wti_deed_others) / sizeof(*wti_deed_others);
