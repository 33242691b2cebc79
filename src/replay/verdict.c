/* SPDX-License-Identifier: Apache-2.0 */
/* Follows what an origin wrote through everything that read it. */
#include "verdict.h"

#include <stdlib.h>

#include "base/err.h"

const char *wti_replay_verdict_word(enum wti_replay_verdict verdict)
{
	static const char *const words[WTI_VERDICTS] = {"-",         "same",    "ORIGIN",
							"inherited", "missing", "unknown"};

	return words[verdict];
}

/* What is wrong with the content of an object: its verdict, and since which operation. */
struct taint {
	uint8_t verdict; /* WTI_VERDICT_NONE: nothing; _ORIGIN or _MISSING */
	uint32_t cause;
};

struct judging {
	const struct wti_replay_plan *plan;
	const struct wti_replay_races *races;
	const struct wti_replay_pass *serial, *other;
	const struct wti_replay_uninitialised *uninitialised;
	struct wti_replay_verdicts *verdicts;
	struct taint *taints;     /* of each object */
	uint32_t *writer;         /* of each object: the kernel that wrote it last, plus one */
	uint32_t *unproven_count; /* of each object: kernels that may have made it what it is */
};

static bool races_on(const struct judging *j, uint32_t object)
{
	for (size_t i = 0; i < j->races->count; i++)
		if (j->races->all[i].object == object)
			return true;
	return false;
}

/* The worst of what it reads. */
static struct taint taint_in(const struct judging *j, const struct wti_replay_plan_op *op)
{
	struct taint worst = {0};

	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&j->plan->accesses[op->access_first + i];

		if (wti_replay_plan_reads(j->plan, access) &&
		    j->taints[access->object].verdict > worst.verdict)
			worst = j->taints[access->object];
	}
	return worst;
}

/* A transfer that writes all of an object makes it whole again; of a kernel nobody knows. */
static bool writes_all(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
		       const struct wti_replay_plan_access *access)
{
	return access->mode == WT_ACCESS_MODE_WRITE && op->call != WTI_CALL_KERNEL &&
	       plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_IMAGE &&
	       !access->offset && access->bytes == plan->objects[access->object].bytes;
}

/* It, and all that may have gone wrong in what it used before. */
static uint32_t unproven_of(const struct judging *j, const struct wti_replay_plan_op *op)
{
	uint32_t count = 1;

	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&j->plan->accesses[op->access_first + i];
		bool is_used = wti_replay_plan_reads(j->plan, access) ||
			       wti_replay_plan_writes(j->plan, access);

		if (is_used &&
		    __builtin_add_overflow(count, j->unproven_count[access->object], &count))
			return UINT32_MAX;
	}
	return count;
}

static void taint_out(struct judging *j, uint32_t index, struct taint taint)
{
	const struct wti_replay_plan_op *op = &j->plan->ops[index];
	uint32_t unproven = unproven_of(j, op);

	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&j->plan->accesses[op->access_first + i];

		if (!wti_replay_plan_writes(j->plan, access))
			continue;
		if (taint.verdict > j->taints[access->object].verdict ||
		    writes_all(j->plan, op, access))
			j->taints[access->object] = taint;
		if (op->call == WTI_CALL_KERNEL) {
			j->writer[access->object] = index + 1;
			j->unproven_count[access->object] = unproven;
		} else if (writes_all(j->plan, op, access)) {
			j->unproven_count[access->object] = 0;
		}
	}
}

static const struct wti_replay_pass_found *found_in(const struct wti_replay_pass *pass, uint32_t op)
{
	uint32_t found = pass ? pass->outcomes[op].found : 0;

	return found ? &pass->founds[found - 1] : NULL;
}

/* Objects that it reads: of a host's wait those whose content was recorded. */
static uint32_t read_object(const struct judging *j, uint32_t index)
{
	const struct wti_replay_pass_found *found = found_in(j->serial, index);
	const struct wti_replay_plan_op *op = &j->plan->ops[index];

	if (!found)
		found = found_in(j->other, index);
	if (found && found->object != WTI_PLAN_NONE)
		return found->object;
	for (uint32_t i = 0; i < op->access_count; i++)
		if (wti_replay_plan_reads(j->plan, &j->plan->accesses[op->access_first + i]))
			return j->plan->accesses[op->access_first + i].object;
	return WTI_PLAN_NONE;
}

/* A result is not the recorded one, and all that led to it seemed right: who wrote it last. */
static void blame(struct judging *j, uint32_t index)
{
	uint32_t object = read_object(j, index);
	uint32_t writer = object == WTI_PLAN_NONE ? 0 : j->writer[object];
	uint32_t at = writer ? writer - 1 : index;
	struct wti_replay_judged *judged = &j->verdicts->ops[at];

	*judged = (struct wti_replay_judged){
		.verdict = WTI_VERDICT_ORIGIN,
		.reason = object != WTI_PLAN_NONE && races_on(j, object) ? WTI_ORIGIN_ORDER
									 : WTI_ORIGIN_RECORDING,
		.candidates = object == WTI_PLAN_NONE ? 1 : j->unproven_count[object],
		.cause = WTI_PLAN_NONE,
		.found = found_in(j->serial, index) ? found_in(j->serial, index)
						    : found_in(j->other, index)};
	if (at != index)
		j->verdicts->ops[index] = (struct wti_replay_judged){
			.verdict = WTI_VERDICT_INHERITED, .cause = at, .found = judged->found};
	if (object != WTI_PLAN_NONE)
		j->taints[object] = (struct taint){WTI_VERDICT_ORIGIN, at};
}

static enum wti_replay_uninitialised_use use_of(const struct judging *j, uint32_t index)
{
	return j->uninitialised->uses ? j->uninitialised->uses[index] : WTI_UNINITIALISED_NONE;
}

/* Of bytes that nothing has written the recording has whatever was there. */
static bool differs_from_recording(const struct judging *j, uint32_t index)
{
	if (use_of(j, index) == WTI_UNINITIALISED_UNWRITTEN)
		return false;
	return j->serial->outcomes[index].recorded == WTI_RECORDED_DIFFERS ||
	       (j->other && j->other->outcomes[index].recorded == WTI_RECORDED_DIFFERS);
}

/* In another order it read the same, and wrote something else. */
static bool differs_by_order(const struct judging *j, uint32_t index)
{
	const struct wti_replay_outcome *a = &j->serial->outcomes[index];
	const struct wti_replay_outcome *b = j->other ? &j->other->outcomes[index] : NULL;

	return b && a->state == WTI_OUTCOME_EXECUTED && b->state == WTI_OUTCOME_EXECUTED &&
	       a->out && b->out && a->in == b->in && a->out != b->out;
}

static const struct wti_replay_pass_found *found_uninitialised(const struct judging *j,
							       uint32_t index)
{
	uint32_t found = j->uninitialised->found_of[index];

	return found ? &j->uninitialised->founds[found - 1] : NULL;
}

static void judge_one(struct judging *j, uint32_t index)
{
	const struct wti_replay_plan_op *op = &j->plan->ops[index];
	const struct wti_replay_outcome *outcome = &j->serial->outcomes[index];
	struct wti_replay_judged *judged = &j->verdicts->ops[index];
	struct taint taint = taint_in(j, op);

	*judged = (struct wti_replay_judged){.cause = taint.verdict ? taint.cause : WTI_PLAN_NONE};
	if (outcome->state == WTI_OUTCOME_NONE && outcome->recorded == WTI_RECORDED_NOTHING)
		return;
	if (outcome->state == WTI_OUTCOME_MISSING) {
		judged->verdict = WTI_VERDICT_MISSING;
		taint = (struct taint){WTI_VERDICT_MISSING, index};
	} else if (outcome->distinct > 1 || differs_by_order(j, index)) {
		judged->verdict = WTI_VERDICT_ORIGIN;
		judged->reason = WTI_ORIGIN_INTRINSIC;
		judged->found = found_in(j->serial, index);
		taint = (struct taint){WTI_VERDICT_ORIGIN, index};
	} else if (taint.verdict == WTI_VERDICT_MISSING) {
		judged->verdict = WTI_VERDICT_UNKNOWN;
	} else if (taint.verdict && outcome->recorded == WTI_RECORDED_SAME) {
		judged->verdict = WTI_VERDICT_SAME;
	} else if (taint.verdict) {
		judged->verdict = WTI_VERDICT_INHERITED;
		judged->found = found_in(j->serial, index);
	} else if (use_of(j, index) == WTI_UNINITIALISED_DEPENDS) {
		judged->verdict = WTI_VERDICT_ORIGIN;
		judged->reason = WTI_ORIGIN_UNINITIALISED;
		judged->found = found_uninitialised(j, index);
		taint = (struct taint){WTI_VERDICT_ORIGIN, index};
	} else if (differs_from_recording(j, index)) {
		blame(j, index);
		return;
	} else {
		judged->verdict = WTI_VERDICT_SAME;
	}
	taint_out(j, index, taint);
	if (outcome->recorded == WTI_RECORDED_SAME && op->call == WTI_CALL_SYNC)
		for (uint32_t i = 0; i < op->access_count; i++)
			if (j->plan->accesses[op->access_first + i].object != WTI_PLAN_NONE)
				j->unproven_count[j->plan->accesses[op->access_first + i].object] =
					0;
}

static void count(const struct wti_replay_plan *plan, struct wti_replay_verdicts *verdicts)
{
	verdicts->first_origin = WTI_PLAN_NONE;
	for (size_t i = plan->serial_count; i-- > 0;) {
		uint32_t op = plan->serial[i];
		const struct wti_replay_judged *judged = &verdicts->ops[op];

		if (wti_replay_plan_is_command(&plan->ops[op]))
			verdicts->counts[judged->verdict]++;
		if (judged->verdict == WTI_VERDICT_ORIGIN)
			verdicts->first_origin = op;
	}
}

int wti_replay_verdicts_judge(const struct wti_replay_plan *plan,
			      const struct wti_replay_races *races,
			      const struct wti_replay_pass *serial,
			      const struct wti_replay_pass *other,
			      const struct wti_replay_uninitialised *uninitialised,
			      struct wti_replay_verdicts *ret_verdicts, struct wt_err *err)
{
	struct wti_replay_verdicts verdicts = {
		.ops = calloc(plan->op_count + 1, sizeof(*verdicts.ops))};
	struct judging j = {.plan = plan,
			    .races = races,
			    .serial = serial,
			    .other = other,
			    .uninitialised = uninitialised,
			    .verdicts = &verdicts,
			    .taints = calloc(plan->object_count + 1, sizeof(*j.taints)),
			    .writer = calloc(plan->object_count + 1, sizeof(*j.writer)),
			    .unproven_count =
				    calloc(plan->object_count + 1, sizeof(*j.unproven_count))};
	bool has_memory = verdicts.ops && j.taints && j.writer && j.unproven_count;

	for (size_t i = 0; has_memory && i < plan->serial_count; i++)
		judge_one(&j, plan->serial[i]);
	if (has_memory)
		count(plan, &verdicts);
	free(j.taints);
	free(j.writer);
	free(j.unproven_count);
	if (!has_memory) {
		wti_replay_verdicts_release(&verdicts);
		return wti_err(err, WT_E_NOMEM, "out of memory for verdicts");
	}
	*ret_verdicts = verdicts;
	return 0;
}

void wti_replay_verdicts_release(struct wti_replay_verdicts *verdicts)
{
	free(verdicts->ops);
	*verdicts = (struct wti_replay_verdicts){0};
}
