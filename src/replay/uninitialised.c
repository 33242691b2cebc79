/* SPDX-License-Identifier: Apache-2.0 */
/* Two sessions in step, and what differs between them after each operation. */
#include "uninitialised.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "pass_compare.h"
#include "store.h"

enum { ZEROS, OTHERS, SIDES };

struct looking {
	struct wti_replay_session *sides[SIDES];
	const struct wti_replay_plan *plan;
	const struct wti_replay_pass_how *how;
	struct wti_replay_uninitialised *ret;
	int failed;
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* As it was at first on both sides. */
static bool is_unwritten(uint8_t zero, uint8_t other)
{
	return zero == 0 && other == WTI_UNINITIALISED_BYTE;
}

/* A byte that differs, and not because nobody wrote it: it was computed. */
static bool depends(const uint8_t *zeros, const uint8_t *others, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (zeros[i] != others[i] && !is_unwritten(zeros[i], others[i]))
			return true;
	return false;
}

static bool differs_where_written(const uint8_t *const sides[SIDES], const uint8_t *recorded,
				  uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (recorded[i] != sides[ZEROS][i] &&
		    !is_unwritten(sides[ZEROS][i], sides[OTHERS][i]))
			return true;
	return false;
}

/* Contents of an object on both sides; NULL: they cannot be had. */
static uint8_t *get_both(struct looking *l, uint32_t object, const uint8_t *ret_sides[SIDES],
			 uint64_t *ret_bytes)
{
	uint64_t bytes = wti_replay_session_bytes(l->sides[ZEROS], object);
	uint8_t *room = bytes && bytes < SIZE_MAX / 2 ? malloc(2 * bytes) : NULL;

	if (!room || wti_replay_session_bytes(l->sides[OTHERS], object) != bytes ||
	    wti_replay_session_get(l->sides[ZEROS], object, room) ||
	    wti_replay_session_get(l->sides[OTHERS], object, room + bytes)) {
		free(room);
		return NULL;
	}
	ret_sides[ZEROS] = room;
	ret_sides[OTHERS] = room + bytes;
	*ret_bytes = bytes;
	return room;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void add_found(struct looking *l, struct wti_replay_pass_found found,
		      const uint8_t *const sides[SIDES], uint64_t bytes)
{
	struct wti_replay_uninitialised *ret = l->ret;
	int r = wti_grow(&ret->founds, ret->found_count + 1, &ret->found_capacity, WTI_NO_CEILING);

	if (r) {
		l->failed = r;
		return;
	}
	wti_replay_difference(sides[ZEROS], sides[OTHERS], bytes, wti_replay_element_of(found.type),
			      &found.difference);
	ret->founds[ret->found_count++] = found;
	ret->found_of[found.op] = (uint32_t)ret->found_count;
	ret->uses[found.op] = WTI_UNINITIALISED_DEPENDS;
}

static void see_written(struct looking *l, uint32_t op)
{
	const struct wti_replay_plan_op *about = &l->plan->ops[op];

	for (uint32_t i = 0; i < about->access_count && !l->ret->uses[op]; i++) {
		const struct wti_replay_plan_access *access =
			&l->plan->accesses[about->access_first + i];
		const uint8_t *sides[SIDES];
		uint64_t bytes = 0;
		uint8_t *room = wti_replay_plan_writes(l->plan, access)
					? get_both(l, access->object, sides, &bytes)
					: NULL;

		if (room && depends(sides[ZEROS], sides[OTHERS], bytes))
			add_found(l,
				  (struct wti_replay_pass_found){
					  .op = op,
					  .object = access->object,
					  .argument = access->argument,
					  .type = wti_replay_pass_type(l->sides[ZEROS], op,
								       access->object)},
				  sides, bytes);
		free(room);
	}
}

/* What the program itself was given. */
static void see_host(struct looking *l, uint32_t op,
		     const struct wti_replay_session_command commands[SIDES])
{
	const uint8_t *const sides[SIDES] = {commands[ZEROS].host, commands[OTHERS].host};
	const struct wti_replay_plan_access *from =
		wti_replay_plan_access(l->plan, &l->plan->ops[op], WT_ACCESS_MODE_READ, false);
	uint64_t bytes = commands[ZEROS].host_bytes;

	if (!from || !sides[ZEROS] || !sides[OTHERS] || bytes != commands[OTHERS].host_bytes ||
	    !memcmp(sides[ZEROS], sides[OTHERS], bytes))
		return;
	add_found(l,
		  (struct wti_replay_pass_found){
			  .op = op,
			  .object = WTI_PLAN_NONE,
			  .argument = -1,
			  .type = wti_replay_pass_type(l->sides[ZEROS], op, from->object)},
		  sides, bytes);
}

static void execute(struct looking *l, uint32_t op)
{
	struct wti_replay_session_command commands[SIDES] = {0};
	const char *why = NULL;

	for (size_t i = 0; !why && i < SIDES; i++) {
		why = wti_replay_session_enqueue(l->sides[i], op, 0, NULL, &commands[i]);
		why = why ? why : wti_replay_session_wait(l->sides[i], &commands[i]);
	}
	if (!why && l->plan->ops[op].call == WTI_CALL_KERNEL)
		see_written(l, op);
	else if (!why)
		see_host(l, op, commands);
	for (size_t i = 0; i < SIDES; i++)
		wti_replay_session_done(l->sides[i], &commands[i]);
}

/* ---- Contents that were recorded when the host had waited ------------------------------------ */

enum state { SAME, UNWRITTEN, OTHER };

static enum state state_of(struct looking *l, const struct wti_replay_plan_access *access)
{
	const uint8_t *sides[SIDES];
	uint64_t bytes = 0;
	uint8_t *room = get_both(l, access->object, sides, &bytes);
	struct wti_buf recorded;
	enum state state = OTHER;

	wti_buf_init(&recorded, SIZE_MAX);
	if (room && bytes == access->bytes &&
	    !wti_replay_store_read(l->sides[ZEROS]->store, access->hash, bytes, &recorded))
		state = !memcmp(recorded.data, sides[ZEROS], bytes)           ? SAME
			: !differs_where_written(sides, recorded.data, bytes) ? UNWRITTEN
									      : OTHER;
	wti_buf_release(&recorded);
	free(room);
	return state;
}

static bool is_state(const struct wti_replay_plan *plan,
		     const struct wti_replay_plan_access *access)
{
	return wti_replay_plan_reads(plan, access) && access->hash && !access->offset;
}

static void see_states(struct looking *l, uint32_t op)
{
	const struct wti_replay_plan_op *about = &l->plan->ops[op];
	uint64_t counts[OTHER + 1] = {0};

	for (uint32_t i = 0; i < about->access_count; i++)
		if (is_state(l->plan, &l->plan->accesses[about->access_first + i]))
			counts[state_of(l, &l->plan->accesses[about->access_first + i])]++;
	if (counts[OTHER] || !counts[UNWRITTEN])
		return;
	l->ret->uses[op] = WTI_UNINITIALISED_UNWRITTEN;
	l->ret->unwritten_count += counts[UNWRITTEN];
}

static void restore_states(struct looking *l, uint32_t op)
{
	const struct wti_replay_plan_op *about = &l->plan->ops[op];

	for (uint32_t i = 0; i < about->access_count; i++)
		for (size_t k = 0; k < SIDES; k++)
			if (is_state(l->plan, &l->plan->accesses[about->access_first + i]))
				wti_replay_pass_restore(
					l->sides[k], &l->plan->accesses[about->access_first + i]);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void look(struct looking *l)
{
	const struct wti_replay_pass_how *how = l->how;

	for (size_t i = 0; i < how->count && !l->failed; i++) {
		uint32_t op = how->order[i], call = l->plan->ops[op].call;
		bool is_asked = !how->is_asked || how->is_asked[op];

		if ((how->is_selected && !how->is_selected[op]) || call == WTI_CALL_USER_SET)
			continue;
		if (call == WTI_CALL_SYNC && is_asked)
			see_states(l, op);
		else if (call == WTI_CALL_SYNC)
			restore_states(l, op);
		else
			execute(l, op);
	}
}

int wti_replay_uninitialised_find(struct wti_replay_session *session,
				  const struct wti_replay_pass_how *how,
				  struct wti_replay_uninitialised *ret, struct wt_err *err)
{
	const struct wti_replay_plan *plan = session->plan;
	struct wti_replay_session_how other_how = session->how;
	struct wti_replay_session other;
	struct wti_replay_uninitialised found = {0};
	struct looking l = {.sides = {session, &other}, .plan = plan, .how = how, .ret = &found};
	int r;

	other_how.uninitialised = WTI_UNINITIALISED_BYTE;
	r = wti_replay_session_open(&other, plan, session->store, &other_how, err);
	if (r)
		return r;
	wti_replay_session_reset(session);
	found.uses = calloc(plan->op_count + 1, sizeof(*found.uses));
	found.found_of = calloc(plan->op_count + 1, sizeof(*found.found_of));
	if (!found.uses || !found.found_of)
		l.failed = WT_E_NOMEM;
	look(&l);
	wti_replay_session_close(&other);
	if (l.failed) {
		wti_replay_uninitialised_release(&found);
		return wti_err(err, l.failed, "out of memory for a replay");
	}
	*ret = found;
	return 0;
}

void wti_replay_uninitialised_release(struct wti_replay_uninitialised *uninitialised)
{
	free(uninitialised->uses);
	free(uninitialised->found_of);
	free(uninitialised->founds);
	*uninitialised = (struct wti_replay_uninitialised){0};
}
