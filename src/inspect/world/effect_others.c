/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the calls about programs, connections and what the moment decides. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "effect_row.h"

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
	wti_did(d, WTI_EFFECT_EXECUTED, 1);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static const struct wti_piece *piece_at(const struct wti_syscall *call, uint64_t address)
{
	for (size_t i = 0; address && i < call->piece_count; i++)
		if (call->pieces[i].address == address)
			return &call->pieces[i];
	return NULL;
}

/* Whom the call names at `address` is what it is about. */
static void prepare_peer(struct wti_doing *d, uint64_t address)
{
	const struct wti_piece *piece = piece_at(d->call, address);
	enum wti_thing_type type;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	if (piece && wti_address_text(piece->data, piece->bytes, &text)) {
		wti_buf_clear(&d->s->text);
		type = wti_names_peer(&d->s->names, wti_buf_cstr(&text), d->s->pid, &d->s->text);
		d->thing = wti_world_thing(d->s->fx, type, wti_world_text(d->s->fx, &d->s->text),
					   wti_buf_cstr(&text));
	}
	wti_buf_release(&text);
}

/* Also when it failed: whom one tried to reach is what matters. */
static void prepare_address(struct wti_doing *d)
{
	prepare_peer(d, d->call->args[1]);
}

/* Without a connection each message names whom it goes to. */
static void prepare_sendto(struct wti_doing *d)
{
	prepare_peer(d, d->call->args[4]);
}

/* msg_name is the first member of a message, and a message of an entry for sendmmsg(). */
static void prepare_sendmsg(struct wti_doing *d)
{
	const uint8_t *message = wti_syscall_memory(d->call, 1, 0, sizeof(uint64_t));
	uint64_t name = 0;

	if (message)
		memcpy(&name, message, sizeof(name));
	prepare_peer(d, name);
}

/* Of several only the first is known: the others may go elsewhere, if not all go to one peer. */
static void prepare_sendmmsg(struct wti_doing *d)
{
	prepare_sendmsg(d);
	d->s->fx->unseen.message_count += d->thing != UINT32_MAX && (uint32_t)d->call->args[2] > 1;
}

static void act_connect(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_CONNECTED, 1);
}

static void act_listen(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_LISTENED, 1);
}

static void act_accept(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_ACCEPTED, 1);
}

static void act_send(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_WRITTEN_BYTES, (uint64_t)d->call->result);
}

static void act_receive(struct wti_doing *d)
{
	wti_did(d, WTI_EFFECT_READ_BYTES, (uint64_t)d->call->result);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* How often one waits depends on who comes first: as little to be compared as a pipe. */
static void prepare_waiting(struct wti_doing *d)
{
	d->thing = wti_world_thing(d->s->fx, WTI_THING_CHANNEL, "waiting", "waiting");
}

static void prepare_random(struct wti_doing *d)
{
	d->thing = wti_world_thing(d->s->fx, WTI_THING_KERNEL, "random numbers", "random numbers");
}

static void act_wait4(struct wti_doing *d)
{
	if (d->call->result > 0)
		wti_actors_waited(d->s);
}

/* Whom it has found, if it did not wait, is not known. */
static void act_waitid(struct wti_doing *d)
{
	if (!(d->call->args[3] & (WNOHANG | WNOWAIT)))
		wti_actors_waited(d->s);
}

/* Of pipes that are closed on exec, many are for the starting alone. */
static void act_pipe(struct wti_doing *d)
{
	const char *name = wti_call_name(d->call->arch, d->call->nr);

	if (!strcmp(name, "pipe2") && d->call->args[1] & O_CLOEXEC)
		return;
	d->s->fx->actors[d->s->process - 1].pipe_call =
		d->s->fx->actors[d->s->process - 1].call_count;
}

/* The result is the mask that was valid before. */
static void act_umask(struct wti_doing *d)
{
	struct wti_actor *actor = &d->s->fx->actors[d->s->process - 1];
	uint32_t mask = (uint32_t)d->call->args[0] & 0777, before = actor->umask;

	if (!before)
		before = (uint32_t)d->call->result | WTI_UMASK;
	actor->first_umask = actor->first_umask ? actor->first_umask : before;
	actor->umask = mask | WTI_UMASK;
	if ((actor->first_umask & 0777) != mask || actor->first_umask & WTI_UMASK_SET)
		actor->umask |= WTI_UMASK_SET;
}

const struct wti_effect_row wti_effect_other_rows[] = {
	{"execve", prepare_execve, act_exec},
	{"execveat", prepare_execveat, act_exec},
	{"connect", prepare_address, act_connect, true},
	{"bind", prepare_address, NULL},
	{"listen", NULL, act_listen},
	{"accept", NULL, act_accept},
	{"accept4", NULL, act_accept},
	{"sendto", prepare_sendto, act_send, true},
	{"sendmsg", prepare_sendmsg, act_send, true},
	{"sendmmsg", prepare_sendmmsg, NULL, true},
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
	{"wait4", prepare_waiting, act_wait4},
	{"waitid", prepare_waiting, act_waitid},
	{"pipe", NULL, act_pipe},
	{"pipe2", NULL, act_pipe},
	{"umask", NULL, act_umask},
	{"getrandom", prepare_random, NULL},
};
const size_t wti_effect_other_row_count =
	sizeof(wti_effect_other_rows) / sizeof(*wti_effect_other_rows);
