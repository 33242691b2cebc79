/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about going on from a checkpoint: with all of it, and where it stood. */
#include <string.h>

#include "base/text.h"
#include "inspect/judge/rule.h"
#include "inspect/training/optimizer_state.h"

/* ---- The state of an optimizer in a file ---------------------------------------------------- */

/* A file may hold several of them: the next one, other than this; `place` is 0 in the beginning. */
static bool next_part(const struct wti_moment *moment, uint32_t *place,
		      struct wti_optimizer_part *part)
{
	struct wti_optimizer_part found;

	while (*place < moment->call->value_count) {
		uint32_t name = moment->call->values[(*place)++].name;

		if (wti_optimizer_groups(wti_moment_text(moment, name), &found) &&
		    (found.bytes != part->bytes || !part->path ||
		     memcmp(found.path, part->path, found.bytes) != 0)) {
			*part = found;
			return true;
		}
	}
	return false;
}

static bool holds_optimizer(const struct wti_moment *moment)
{
	struct wti_optimizer_part part = {0};
	uint32_t place = 0;

	return next_part(moment, &place, &part);
}

/* ---- WT-RESUME-001: without the optimizer's state ------------------------------------------- */

enum { OF_FILE, OF_SAVED, OF_LOADED, OF_STEPPED }; /* keeps */

/* The last one that a process read. */
struct file {
	uint64_t count;   /* of OF_SAVED */
	uint64_t ordinal; /* of the files that it read, from 1 */
};

/* What the last file that a process read has for a parameter, by its number there. */
struct saved {
	uint32_t optimizer; /* which one of the file */
	uint32_t shape;
};

static bool is_loaded(const struct wti_case *account, size_t stream, uint32_t name)
{
	const bool *loaded = wti_kept_find_key(account, OF_LOADED, stream, name);

	return loaded && *loaded;
}

static bool model_is_loaded(const struct wti_case *account, const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);

		if (is_loaded(account, parameter->stream, parameter->owner))
			return true;
	}
	return false;
}

/* Of each parameter the first tensor: what is kept for it has its shape, but for counts of steps.
 */
static uint64_t note_part(struct wti_case *account, const struct wti_moment *moment,
			  const struct wti_optimizer_part *part, struct saved saved, uint64_t count)
{
	const char *last = "";
	size_t last_bytes = 0;

	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];
		const char *name = wti_moment_text(moment, value->name);
		size_t bytes = wti_optimizer_state_bytes(name, part);
		struct saved *kept;

		if (!bytes || value->type != WTI_VALUE_TENSOR || !value->digest.shape ||
		    (bytes == last_bytes && !memcmp(name, last, bytes)))
			continue;
		last = name;
		last_bytes = bytes;
		saved.shape = value->digest.shape;
		kept = wti_kept_of_key(account, OF_SAVED, moment->process->stream, count);
		if (!kept)
			break;
		*kept = saved;
		count++;
	}
	return count;
}

/* How many it has in all. */
static uint64_t note_file(struct wti_case *account, const struct wti_moment *moment)
{
	struct saved saved = {0};
	struct wti_optimizer_part part = {0};
	uint64_t count = 0;
	uint32_t place = 0;

	for (; next_part(moment, &place, &part); saved.optimizer++)
		count = note_part(account, moment, &part, saved, count);
	return count;
}

/* All that it has fits a parameter of this one, and is not too much. */
static bool fits(const struct wti_case *account, uint64_t count, uint32_t saved_optimizer,
		 const struct wti_map *shapes, const struct wti_object *optimizer)
{
	uint32_t tensors = 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct saved *saved =
			wti_kept_find_key(account, OF_SAVED, optimizer->stream, i);

		if (saved->optimizer != saved_optimizer)
			continue;
		if (!wti_map_find_number(shapes, saved->shape))
			return false;
		tensors++;
	}
	return tensors <= optimizer->member_count;
}

static bool any_fits(const struct wti_case *account, uint64_t count, const struct wti_map *shapes,
		     const struct wti_object *optimizer)
{
	uint32_t last = 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct saved *saved =
			wti_kept_find_key(account, OF_SAVED, optimizer->stream, i);

		if (i && saved->optimizer == last)
			continue; /* has been looked at */
		if (fits(account, count, saved->optimizer, shapes, optimizer))
			return true;
		last = saved->optimizer;
	}
	return false;
}

/*
 * Whether one of the saved optimizers trained what this one trains. A new one over other parameters
 * (a head on a frozen body) has nothing to restore: that is a transfer, and no resume.
 */
static bool is_resumed(const struct wti_case *account, uint64_t count,
		       const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	struct wti_map shapes;
	bool is;

	wti_map_init(&shapes, optimizer->member_count + 1u);
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		wti_map_number(&shapes, wti_object_member(moment->training, optimizer, i)->shape);
	is = any_fits(account, count, &shapes, optimizer);
	wti_map_release(&shapes);
	return is;
}

/* The first optimizer that steps a parameter resumes: another one is a phase of its own. */
static bool has_gone_on(const struct wti_case *account, const struct file *file,
			const struct wti_object *optimizer)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const uint64_t *after = wti_kept_find_key(account, OF_STEPPED, optimizer->stream,
							  optimizer->members[i]);

		if (after && *after == file->ordinal)
			return true;
	}
	return false;
}

static void note_going_on(struct wti_case *account, const struct file *file,
			  const struct wti_object *optimizer)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		uint64_t *after = wti_kept_of_key(account, OF_STEPPED, optimizer->stream,
						  optimizer->members[i]);

		if (after)
			*after = file->ordinal;
	}
}

static enum wti_answer judge_first_step(struct wti_case *account, const struct file *file,
					const struct wti_moment *moment)
{
	bool is_second;

	if (moment->object->step_count != 1 || !file->count || !model_is_loaded(account, moment) ||
	    !is_resumed(account, file->count, moment))
		return WTI_RULE_NO_CASE;
	is_second = has_gone_on(account, file, moment->object);
	note_going_on(account, file, moment->object);
	if (is_loaded(account, moment->process->stream, moment->object->name))
		return WTI_RULE_HELD;
	if (is_second)
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->object->name,
			    "the checkpoint holds an optimizer's state; the model was loaded from "
			    "it, and this optimizer steps without it");
}

static enum wti_answer see_state(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct file *file = kept;
	bool *loaded;

	if (moment->type == WTI_MOMENT_STEPPED)
		return judge_first_step(account, file, moment);
	if (moment->type == WTI_MOMENT_LOAD && wti_is_of_arrays(moment))
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_LOAD) {
		file->count = note_file(account, moment);
		file->ordinal++;
		return WTI_RULE_NO_CASE;
	}
	if (moment->object && moment->object->step_count && !moment->call->exception)
		note_going_on(account, file, moment->object);
	loaded = moment->call->exception ? NULL : wti_kept(account, OF_LOADED, moment);
	if (loaded)
		*loaded = true;
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_resume_001 = {
	.code = "WT-RESUME-001",
	.severity = WT_WARNING,
	.title = "the optimizer's state in the checkpoint is not restored",
	.means = "momentum and second moments begin at zero: the first steps after the resume are "
		 "far too large, or go the wrong way",
	.hint = "optimizer.load_state_dict(checkpoint[...]) before the first step",
	.definition =
		"If torch.load() returned the state of an optimizer (`state` and `param_groups`), "
		"and a model was loaded after it, the optimizer of that model is loaded before its "
		"first step, unless it trains other parameters than the saved one, by number and "
		"shapes, or a parameter that another optimizer has stepped since: that is a second "
		"phase. A case is the first step of such an optimizer.",
	.innocent = "Fine-tuning of all parameters from a checkpoint that happens to hold an "
		    "optimizer too.",
	.needs = "no model was loaded from a checkpoint with an optimizer's state, and stepped",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_LOAD | WTI_MOMENT_STEPPED,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {[OF_FILE] = {WTI_PER_PROCESS, sizeof(struct file)},
		  [OF_SAVED] = {WTI_PER_KEY, sizeof(struct saved)},
		  [OF_LOADED] = {WTI_PER_MODULE, sizeof(bool)},
		  /* of a parameter: after which file it was stepped */
		  [OF_STEPPED] = {WTI_PER_KEY, sizeof(uint64_t)}},
	.see = see_state,
};

/* ---- WT-RESUME-002: the schedule begins anew ------------------------------------------------ */

enum { STEPS, TIMES };

enum { OF_PROCESS, OF_OBJECT }; /* keeps */

/* Of a process: how far the schedule had come in the last file; 0: it holds none. */
struct schedule_in_file {
	double done;
	bool is_one; /* no more than one */
};

/* Of an optimizer or a scheduler. */
struct restored {
	bool is_loaded;
	bool is_judged;
	struct wti_call call; /* of a scheduler: its last step, without values */
	double lr;            /* of an optimizer, in its first step after loading */
	uint64_t step_count;  /* at that step */
};

/* "s.last_epoch" beside "s.base_lrs" or the like: the state of a scheduler. */
static struct schedule_in_file schedule_of(const struct wti_moment *moment)
{
	struct schedule_in_file found = {.is_one = true};
	double done;

	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];
		const char *name = wti_moment_text(moment, value->name);

		if (!wti_ends_with(name, ".last_epoch") || !wti_value_as_number(value, &done))
			continue;
		found.is_one = !found.done;
		found.done = done;
	}
	return found;
}

/*
 * The file holds a schedule; the optimizer was loaded from it, and after its first step the
 * scheduler has counted one. Not all of their load_state_dict() are recorded.
 */
static enum wti_answer judge_count(struct wti_case *account, struct restored *restored,
				   const struct schedule_in_file *file,
				   const struct wti_moment *moment)
{
	const struct wti_object *optimizer = wti_optimizer_of(moment->training, moment->object);
	const struct restored *other =
		optimizer ? wti_kept_of_object(account, OF_OBJECT, optimizer) : NULL;

	struct wti_moment at = *moment;

	if (restored->is_judged || !other || !other->is_loaded || !file->is_one || file->done < 1 ||
	    moment->number < 1)
		return WTI_RULE_NO_CASE;
	restored->is_judged = true;
	if (restored->is_loaded || moment->number > 1)
		return WTI_RULE_HELD;
	at.call = restored->call.callee ? &restored->call : NULL;
	return wti_violated(account, &at, moment->object->name,
			    "the checkpoint holds a schedule at %.0f, and %s was restored from it; "
			    "the scheduler was not, and begins at 0",
			    file->done, wti_moment_text(moment, optimizer->name));
}

static enum wti_answer judge_jump(struct wti_case *account, struct restored *restored,
				  const struct wti_moment *moment)
{
	const struct wti_object *scheduler =
		wti_scheduler_of(moment->training, moment->object, NULL);
	const struct restored *other =
		scheduler ? wti_kept_of_object(account, OF_OBJECT, scheduler) : NULL;
	double before = restored->lr, lr = moment->object->lr[0];
	double times = wti_threshold_real(account, TIMES);

	if (!scheduler || before <= 0)
		return WTI_RULE_NO_CASE;
	if (!other || other->is_loaded || (lr < before * times && before < lr * times))
		return WTI_RULE_HELD;
	restored->is_judged = true;
	return wti_violated(
		account, moment, scheduler->name,
		"the optimizer was restored with a learning rate of %.4g, %llu steps later it is "
		"%.4g; the scheduler was not restored",
		before, (unsigned long long)(moment->object->step_count - restored->step_count),
		lr);
}

static enum wti_answer see_step(struct wti_case *account, struct restored *restored,
				const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;

	if (!restored->is_loaded || restored->is_judged || !(optimizer->lr_known & 1))
		return WTI_RULE_NO_CASE;
	if (!restored->step_count) {
		restored->step_count = optimizer->step_count;
		restored->lr = optimizer->lr[0];
		return WTI_RULE_NO_CASE;
	}
	if (optimizer->step_count <= restored->step_count + wti_threshold(account, STEPS))
		return judge_jump(account, restored, moment);
	restored->is_judged = true;
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_schedule(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct schedule_in_file *file = kept;
	struct restored *restored;

	if (moment->type == WTI_MOMENT_LOAD && wti_is_of_arrays(moment))
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_LOAD) {
		*file = schedule_of(moment);
		return WTI_RULE_NO_CASE;
	}
	restored = moment->object ? wti_kept(account, OF_OBJECT, moment) : NULL;
	if (!restored)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_CALL)
		restored->is_loaded |= !moment->call->exception;
	else if (moment->type == WTI_MOMENT_STEPPED)
		return see_step(account, restored, moment);
	else if (moment->type == WTI_MOMENT_SCHEDULER)
		restored->call = wti_moment_call(moment);
	else if (!strcmp(wti_moment_text(moment, moment->attribute), "last_epoch"))
		return judge_count(account, restored, file, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_resume_002 = {
	.code = "WT-RESUME-002",
	.severity = WT_WARNING,
	.title = "the learning-rate schedule starts over after a resume",
	.means = "warm-up and decay start over: the learning rate jumps away from where the run "
		 "stood",
	.hint = "save and load scheduler.state_dict() too",
	.definition =
		"If an optimizer is loaded and has a scheduler that is not, its learning rate "
		"does not grow or shrink by a factor of `times` or more within `steps` steps "
		"after the first one since loading; and if what torch.load() returned holds the "
		"state of one scheduler, that of the optimizer does not begin at zero. A case is "
		"such a step of an optimizer with a scheduler.",
	.innocent = "A new schedule for a second phase of training, with the old optimizer.",
	.needs = "no optimizer with a scheduler was loaded and stepped",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED | WTI_MOMENT_LOAD | WTI_MOMENT_SCHEDULER |
		   WTI_MOMENT_STATE,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct schedule_in_file)},
		  [OF_OBJECT] = {WTI_PER_OBJECT, sizeof(struct restored)}},
	.see = see_schedule,
	.thresholds = {{"steps", 5,
			"a scheduler that starts over sets its own rate at its first step"},
		       {"times", 1.5,
			"a schedule that goes on does not move that far in a few steps"}},
};

/* ---- WT-RESUME-003: data come again --------------------------------------------------------- */

enum { BEFORE, REPEATS };
enum { OF_REPLAY, OF_BATCH }; /* keeps */

/* Of a process. */
struct replay {
	uint64_t before;   /* batches before the resume */
	uint64_t after;    /* and after it */
	uint64_t last;     /* which one the last batch repeated; 0: it is new */
	uint32_t repeated; /* in their order */
	bool has_repeats;  /* before the resume: then they mean nothing */
	bool is_resumed;
};

static bool is_trained_on(const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;

	return wti_is_model_call(call) && call->flags & WT_CALL_TRAIN &&
	       call->flags & WT_CALL_GRAD && moment->object &&
	       moment->object->type != WT_OBJECT_TYPE_OTHER;
}

/* `seen` is which batch of before the resume it was; 0: it is new. */
static enum wti_answer judge_batch(struct wti_case *account, struct replay *replay, uint64_t seen,
				   const struct wti_moment *moment)
{
	/* Batches of few rows come again by chance, but not one after the other. */
	bool is_next = seen && replay->last && seen == replay->last + 1;

	replay->last = seen;
	if (replay->has_repeats || replay->before < wti_threshold(account, BEFORE) ||
	    replay->after++ > replay->before)
		return WTI_RULE_NO_CASE;
	if (!seen) {
		replay->repeated = 0;
		return WTI_RULE_HELD;
	}
	replay->repeated = is_next ? replay->repeated + 1 : 1;
	if (replay->repeated < wti_threshold(account, REPEATS))
		return WTI_RULE_NO_CASE;
	return wti_violated(
		account, moment, moment->object->name,
		"%u batches in a row since the resume had been trained on before it, in the same "
		"order; none of %llu had come twice until then",
		replay->repeated, (unsigned long long)replay->before);
}

static enum wti_answer see_batch(struct wti_case *account, struct replay *replay,
				 const struct wti_moment *moment)
{
	uint64_t hash = wti_call_hash(moment->call, false);
	uint64_t *seen =
		hash ? wti_kept_of_key(account, OF_BATCH, moment->process->stream, hash) : NULL;

	if (!seen)
		return WTI_RULE_NO_CASE;
	if (replay->is_resumed)
		return judge_batch(account, replay, *seen, moment);
	replay->has_repeats |= *seen > 0;
	*seen = ++replay->before;
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_replay(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct replay *replay = kept;

	if (moment->type == WTI_MOMENT_MODULE)
		return is_trained_on(moment) ? see_batch(account, replay, moment)
					     : WTI_RULE_NO_CASE;
	replay->is_resumed |= replay->before && holds_optimizer(moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_resume_003 = {
	.code = "WT-RESUME-003",
	.severity = WT_WARNING,
	.title = "batches that were trained on before a resume are repeated after it",
	.means = "the place in the data was not restored: some rows are trained on twice in an "
		 "epoch, others not at all",
	.hint = "save and restore the position in the epoch, or the sampler's state",
	.definition =
		"If `before` or more batches, all different, came before a checkpoint with an "
		"optimizer's state was loaded, no `repeats` of them follow each other again in "
		"the same order after it. One batch may be repeated by chance, where rows are "
		"drawn with replacement. A case is a new batch after the resume.",
	.innocent = "A run that is resumed at the end of an epoch and has a fixed order.",
	.needs = "nothing was loaded during training, or batches were repeated before",
	.moments = WTI_MOMENT_LOAD | WTI_MOMENT_MODULE,
	.keeps = {[OF_REPLAY] = {WTI_PER_PROCESS, sizeof(struct replay)},
		  [OF_BATCH] = {WTI_PER_KEY, sizeof(uint64_t)}}, /* which one it was, from 1 */
	.see = see_replay,
	.thresholds = {{"before", 8, "with fewer, the absence of repeats says little"},
		       {"repeats", 2,
			"in their order: one batch of few rows may be drawn again by chance"}},
};
