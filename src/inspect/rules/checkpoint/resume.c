/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about going on from a checkpoint: with all of it, and where it stood. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_load(const struct wti_moment *moment)
{
	return moment->call->what == WTI_CALLEE_LOAD_STATE_DICT && moment->call->object &&
	       !moment->call->exception;
}

static uint64_t object_key(size_t stream, uint32_t name)
{
	return (uint64_t)stream << 32 | name;
}

/* Of a model, an optimizer or a scheduler; of a process under name 0. */
struct restored {
	bool is_loaded;     /* load_state_dict() was called */
	bool has_optimizer; /* of a process: what torch.load() last gave has an optimizer's tensors
			     */
	bool is_judged;
	double lr;           /* of an optimizer, in its first step after loading */
	uint64_t step_count; /* at that step */
	uint64_t load_count; /* of a process: calls of torch.load() */
};

/* "optimizer.state.0.exp_avg" -> where the word begins; NULL: it is not of an optimizer's state. */
static const char *word_of_state(const char *name)
{
	static const char *const words[] = {".exp_avg", ".momentum_buffer", ".square_avg",
					    ".exp_inf", ".acc_delta"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *word = strstr(name, words[i]);

		if (word)
			return word;
	}
	return NULL;
}

/* Whether what was read from a file holds the state of an optimizer. */
static bool holds_optimizer(const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < moment->call->value_count; i++)
		if (word_of_state(wti_moment_text(moment, moment->call->values[i].name)))
			return true;
	return false;
}

static void note_load(struct wti_slots *slots, const struct wti_moment *moment)
{
	uint32_t name = moment->type == WTI_MOMENT_LOAD ? 0 : moment->call->object;
	struct restored *restored =
		wti_slot(slots, object_key(moment->process->stream, name), sizeof(*restored));

	if (!restored)
		return;
	if (moment->type == WTI_MOMENT_LOAD) {
		restored->has_optimizer = holds_optimizer(moment);
		restored->load_count++;
	} else {
		restored->is_loaded = true;
	}
}

static struct restored *restored_of(struct wti_slots *slots, size_t stream, uint32_t name)
{
	return wti_slot(slots, object_key(stream, name), sizeof(struct restored));
}

/* ---- WT-RESUME-001: without the optimizer's state ------------------------------------------- */

static bool model_is_loaded(struct wti_slots *slots, const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		const struct restored *model =
			restored_of(slots, parameter->stream, parameter->owner);

		if (model && model->is_loaded)
			return true;
	}
	return false;
}

enum { SAVED_MAX = 1 << 16 };

/* A tensor of an optimizer's state in the last file that was read. */
struct saved {
	size_t stream;
	uint64_t optimizer; /* print of what stands before ".state" in its name */
	uint32_t shape;
};

struct resumed {
	struct wti_slots slots;   /* struct restored */
	struct wti_slots stepped; /* by place of a parameter: after which torch.load() an optimizer
				   * that has it has stepped, or was restored after steps */
	struct saved *saved;
	size_t saved_count;
	size_t capacity;
};

static void release_resumed(void *state)
{
	struct resumed *resumed = state;

	wti_slots_release(&resumed->slots);
	wti_slots_release(&resumed->stepped);
	free(resumed->saved);
}

/* A checkpoint may hold several optimizers: the key of each comes before its ".state". */
static uint64_t print_of_optimizer(const char *name, const char *word)
{
	const char *end = strstr(name, "state");
	uint64_t print = 0xcbf29ce484222325u;

	for (const char *next = end; next && next < word; next = strstr(next + 1, ".state"))
		end = next;
	for (const char *at = name; end && at < end; at++)
		print = (print ^ (unsigned char)*at) * 0x100000001b3u;
	return print;
}

static void note_saved(struct resumed *resumed, const struct wti_moment *moment)
{
	resumed->saved_count = 0;
	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];
		const char *name = wti_moment_text(moment, value->name);
		const char *word = word_of_state(name);

		if (!word || value->type != WTI_VALUE_TENSOR || strstr(word, "_sq") ||
		    wti_grow(&resumed->saved, resumed->saved_count + 1, &resumed->capacity,
			     SAVED_MAX))
			continue;
		resumed->saved[resumed->saved_count++] =
			(struct saved){.stream = moment->process->stream,
				       .optimizer = print_of_optimizer(name, word),
				       .shape = value->digest.shape};
	}
}

/* Each tensor of that saved optimizer fits a parameter of this one, and they are not too many. */
static bool fits(const struct resumed *resumed, const struct saved *of,
		 const struct wti_map *shapes, const struct wti_object *optimizer)
{
	uint32_t count = 0;

	for (size_t i = 0; i < resumed->saved_count; i++) {
		const struct saved *saved = &resumed->saved[i];

		if (saved->stream != of->stream || saved->optimizer != of->optimizer)
			continue;
		if (!wti_map_find_number(shapes, saved->shape))
			return false;
		count++;
	}
	return count <= optimizer->member_count;
}

/*
 * Whether one of the saved optimizers trained what this one trains. A new one over other parameters
 * (a head on a frozen body) has nothing to restore: that is a transfer, and no resume.
 */
static bool is_resumed(const struct resumed *resumed, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	bool is = false;
	struct wti_map shapes;

	wti_map_init(&shapes, optimizer->member_count + 1u);
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		wti_map_number(&shapes, wti_object_member(moment->training, optimizer, i)->shape);
	for (size_t i = 0; i < resumed->saved_count && !is; i++) {
		const struct saved *saved = &resumed->saved[i];

		if (i && saved->optimizer == saved[-1].optimizer)
			continue; /* has been looked at */
		is = saved->stream == moment->process->stream &&
		     fits(resumed, saved, &shapes, optimizer);
	}
	wti_map_release(&shapes);
	return is;
}

/* The first optimizer that steps a parameter resumes: another one is a phase of its own. */
static void note_going_on(struct resumed *resumed, const struct wti_object *optimizer,
			  uint64_t load_count)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		uint64_t *after =
			wti_slot(&resumed->stepped, optimizer->members[i], sizeof(*after));

		if (after)
			*after = load_count;
	}
}

static bool has_gone_on(const struct resumed *resumed, const struct wti_object *optimizer,
			uint64_t load_count)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const uint64_t *after = wti_slot_find(&resumed->stepped, optimizer->members[i]);

		if (after && *after == load_count)
			return true;
	}
	return false;
}

static void judge_state(struct wti_case *account, struct resumed *resumed,
			const struct wti_moment *moment, uint64_t load_count)
{
	const struct restored *restored =
		restored_of(&resumed->slots, moment->process->stream, moment->object->name);

	if (restored && restored->is_loaded)
		wti_held(account);
	else if (!has_gone_on(resumed, moment->object, load_count))
		wti_violated(account, moment, moment->object->name,
			     "the checkpoint holds an optimizer's state; the model was loaded "
			     "from it, and this optimizer steps without");
	note_going_on(resumed, moment->object, load_count);
}

static void see_state(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct resumed *resumed = state;
	const struct wti_object *object = moment->object;
	struct restored *process = restored_of(&resumed->slots, moment->process->stream, 0);

	if (!process)
		return;
	if (moment->type == WTI_MOMENT_LOAD) {
		note_load(&resumed->slots, moment);
		note_saved(resumed, moment);
		return;
	}
	if (moment->type == WTI_MOMENT_CALL && is_load(moment)) {
		note_load(&resumed->slots, moment);
		if (object && object->step_count)
			note_going_on(resumed, object, process->load_count);
	}
	if (moment->type == WTI_MOMENT_STEPPED && object->step_count == 1 &&
	    process->has_optimizer && model_is_loaded(&resumed->slots, moment) &&
	    is_resumed(resumed, moment))
		judge_state(account, resumed, moment, process->load_count);
}

const struct wti_rule wti_rule_resume_001 = {
	.code = "WT-RESUME-001",
	.severity = WT_WARNING,
	.title = "the optimizer's state in the checkpoint is not restored",
	.means = "momentum and second moments begin at zero: the first steps after the resume are "
		 "far too large, or go the wrong way",
	.hint = "optimizer.load_state_dict(checkpoint[...]) before the first step",
	.definition =
		"If torch.load() gave an optimizer's tensors, and a model was loaded after it, the "
		"optimizer of that model is loaded before its first step, unless it trains other "
		"parameters than the saved one, by number and shapes, or a parameter that "
		"another optimizer has stepped since: that is a second phase. A case is the first "
		"step of such an optimizer.",
	.innocent = "Fine-tuning of all parameters from a checkpoint that happens to hold an "
		    "optimizer too.",
	.needs = "no model was loaded from a checkpoint with an optimizer's state, and stepped",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_LOAD | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct resumed),
	.watch = see_state,
	.release = release_resumed,
};

/* ---- WT-RESUME-002: the schedule begins anew ------------------------------------------------ */

enum { STEPS_TO_WATCH = 5 };

static void judge_jump(struct wti_case *account, struct wti_slots *slots, struct restored *restored,
		       const struct wti_moment *moment)
{
	const struct wti_object *scheduler =
		wti_scheduler_of(moment->training, moment->object, NULL);
	double before = restored->lr, lr = moment->object->lr[0];
	struct restored *other;

	if (!scheduler || before <= 0)
		return;
	other = restored_of(slots, scheduler->stream, scheduler->name);
	if (!other || other->is_loaded || (lr < before * 1.5 && before < lr * 1.5)) {
		wti_held(account);
		return;
	}
	restored->is_judged = true;
	wti_violated(account, moment, scheduler->name,
		     "the optimizer was restored with a learning rate of %.4g, %llu steps later it "
		     "is %.4g; the scheduler was not restored",
		     before,
		     (unsigned long long)(moment->object->step_count - restored->step_count), lr);
}

static void see_schedule(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	struct restored *restored;

	if (moment->type == WTI_MOMENT_CALL) {
		if (is_load(moment))
			note_load(state, moment);
		return;
	}
	restored = restored_of(state, moment->process->stream, optimizer->name);
	if (!restored || !restored->is_loaded || restored->is_judged || !(optimizer->lr_known & 1))
		return;
	if (!restored->step_count) {
		restored->step_count = optimizer->step_count;
		restored->lr = optimizer->lr[0];
		return;
	}
	if (optimizer->step_count > restored->step_count + STEPS_TO_WATCH)
		restored->is_judged = true;
	else
		judge_jump(account, state, restored, moment);
}

const struct wti_rule wti_rule_resume_002 = {
	.code = "WT-RESUME-002",
	.severity = WT_WARNING,
	.title = "the learning-rate schedule begins anew after a resume",
	.means = "warm-up and decay start over: the learning rate jumps away from where the run "
		 "stood",
	.hint = "save and load scheduler.state_dict() too",
	.definition =
		"If an optimizer is loaded and has a scheduler that is not, its learning rate does "
		"not change by half or more within five steps after the first since loading. A "
		"case is such a step of an optimizer with a scheduler.",
	.innocent = "A new schedule for a second phase of training, with the old optimizer.",
	.needs = "no optimizer with a scheduler was loaded and stepped",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_schedule,
	.release = release_slots,
};

/* ---- WT-RESUME-003: data come again --------------------------------------------------------- */

enum { BATCHES_BEFORE = 8, REPEATS_TO_TELL = 2 };

struct replay {
	struct wti_slots batches; /* stream and hash: which it was, from 1 */
	uint64_t before;          /* batches, all different */
	uint64_t after;           /* the resume */
	uint64_t last;            /* which one the last batch repeated; 0: none */
	uint32_t repeated;        /* in their order */
	bool has_repeats;         /* before the resume: then they mean nothing */
	bool is_resumed;
};

static void release_replay(void *state)
{
	struct replay *replay = state;

	wti_slots_release(&replay->batches);
}

static bool is_trained_on(const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;

	return call->flags & WTI_CALL_OUTERMOST && call->flags & WTI_CALL_TRAINING &&
	       call->flags & WTI_CALL_GRAD && call->what == WTI_CALLEE_OTHER && moment->object &&
	       moment->object->type != WT_OBJECT_TYPE_OTHER;
}

static void judge_batch(struct wti_case *account, struct replay *replay,
			const struct wti_moment *moment)
{
	uint64_t hash = wti_call_hash(moment->call, false);
	uint64_t *seen = hash ? wti_slot(&replay->batches, hash, sizeof(*seen)) : NULL;
	bool is_repeated = seen && *seen, is_next;

	if (!seen)
		return;
	if (!replay->is_resumed) {
		*seen = ++replay->before;
		replay->has_repeats |= is_repeated;
		return;
	}
	/* Batches of few rows come again by chance, but not one after the other. */
	is_next = is_repeated && replay->last && *seen == replay->last + 1;
	replay->last = is_repeated ? *seen : 0;
	if (replay->has_repeats || replay->before < BATCHES_BEFORE ||
	    replay->after++ > replay->before)
		return;
	if (!is_next)
		replay->repeated = is_repeated;
	else
		replay->repeated++;
	if (!is_repeated)
		wti_held(account);
	else if (replay->repeated >= REPEATS_TO_TELL)
		wti_violated(
			account, moment, moment->object->name,
			"%u batches in a row since the resume had been trained on before it, in "
			"the same order; none of %llu had come twice until then",
			replay->repeated, (unsigned long long)replay->before);
}

static void see_replay(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct replay *replay = state;

	if (moment->type == WTI_MOMENT_LOAD) {
		if (replay->before && holds_optimizer(moment))
			replay->is_resumed = true;
	} else if (is_trained_on(moment)) {
		judge_batch(account, replay, moment);
	}
}

const struct wti_rule wti_rule_resume_003 = {
	.code = "WT-RESUME-003",
	.severity = WT_WARNING,
	.title = "after a resume, batches come again that were trained on before",
	.means = "the place in the data was not restored: some rows are trained on twice in an "
		 "epoch, others not at all",
	.hint = "save and restore the position in the epoch, or the sampler's state",
	.definition =
		"If no batch came twice before a checkpoint with an optimizer's state was loaded, "
		"no two of those come again after it, one after the other as before: rows that are "
		"drawn with replacement may make a batch again by chance. A case is a batch after "
		"the resume that is new.",
	.innocent = "A run that is resumed at the end of an epoch and has a fixed order.",
	.needs = "nothing was loaded in the middle of a training, or batches came twice before",
	.moments = WTI_MOMENT_LOAD | WTI_MOMENT_MODULE,
	.state_bytes = sizeof(struct replay),
	.watch = see_replay,
	.release = release_replay,
};
