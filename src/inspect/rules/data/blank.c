/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about contents that get lost on their way: a batch that arrives at the model as zeros, a
 * copy that is not what was copied. What a loader has given is compared with what the model, or the
 * loss, is given next in the same shape; where no loader is known, with what the model is given in
 * other steps.
 */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_measured(const struct wti_value_row *value)
{
	return value && !(value->digest.flags & (WTI_TENSOR_NO_HASH | WTI_TENSOR_NO_STATISTICS));
}

/* ---- WT-DATA-007: zeros instead of a batch -------------------------------------------------- */

enum {
	ELEMENTS_MIN = 16,
	TENSORS_MAX = 16,  /* of a batch */
	TIMES_KNOWN = 4,   /* before a batch of zeros is told */
	TIMES_CERTAIN = 8, /* before one that is zeros in part */
	ONE_IN = 8,        /* elements: what a part is at least */
	FEW_IN = 100,      /* elements: zeros that others may have more than their batch */
};

/* Who takes batches: a model, or a line that computes a loss. */
struct taker {
	uint64_t batch; /* the number of the last one that it was given */
	uint64_t times; /* with contents */
	uint64_t blanks;
	uint64_t masked; /* of those, with more zeros than the batch of the loader */
	/* Of a model, in training: without a loader. */
	uint64_t calls; /* since the last step */
	uint64_t steps, blank_steps;
	bool is_called_often; /* more than once in a step */
};

struct lost {
	struct wti_slots batches; /* of processes: struct batch */
	struct wti_slots takers;  /* stream, and object or line */
};

struct batch {
	uint64_t number;
	uint32_t count;
	struct wti_digest_row tensors[TENSORS_MAX];
};

static void release_lost(void *state)
{
	struct lost *lost = state;

	wti_slots_release(&lost->batches);
	wti_slots_release(&lost->takers);
}

static bool is_blank(const struct wti_digest_row *digest)
{
	return digest->zeros == digest->count;
}

static void note_batch(struct batch *batch, const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;

	if (moment->call->exception)
		return;
	batch->number++;
	batch->count = 0;
	while (batch->count < TENSORS_MAX &&
	       (value = wti_call_next_tensor(moment->call, true, value)))
		if (is_measured(value) && value->digest.count >= ELEMENTS_MIN)
			batch->tensors[batch->count++] = value->digest;
}

/* What the loader gave of the same contents, or else the first of the same shape. */
static const struct wti_digest_row *source_of(const struct batch *batch,
					      const struct wti_digest_row *given)
{
	const struct wti_digest_row *alike = NULL;

	for (uint32_t i = 0; i < batch->count; i++) {
		if (batch->tensors[i].hash == given->hash)
			return &batch->tensors[i];
		if (!alike && batch->tensors[i].shape == given->shape)
			alike = &batch->tensors[i];
	}
	return alike;
}

static void tell_lost(struct wti_case *account, struct taker *taker,
		      const struct wti_moment *moment, const struct wti_digest_row *given,
		      const char *than)
{
	uint32_t subject = moment->object ? moment->object->name : moment->call->callee;

	taker->blanks++;
	wti_violated(account, moment, subject,
		     "%llu of %llu elements that it was given are zero, %s",
		     (unsigned long long)given->zeros, (unsigned long long)given->count, than);
}

/* Beside what the loader gave. */
static void judge_taken(struct wti_case *account, struct taker *taker,
			const struct wti_moment *moment, const struct wti_digest_row *source,
			const struct wti_digest_row *given)
{
	uint64_t more = given->zeros > source->zeros ? given->zeros - source->zeros : 0;
	bool is_lost = is_blank(given) && !is_blank(source);
	/* Who makes zeros in more than one step of four masks, or lets negative numbers go. */
	bool is_lost_in_part = more * ONE_IN >= given->count && taker->masked * 4 < taker->times;

	if (is_lost && taker->times >= TIMES_KNOWN && taker->blanks < taker->times) {
		tell_lost(account, taker, moment, given,
			  "and of the batch of the loader they are not");
	} else if (is_lost_in_part && taker->times >= TIMES_CERTAIN &&
		   taker->blanks * 4 < taker->times) {
		tell_lost(account, taker, moment, given,
			  "far more than in the batch of the loader and in other steps");
	} else if (!is_lost) {
		taker->times++;
		taker->masked += more * FEW_IN > given->count;
		wti_held(account);
	}
}

/* Where it comes from is not known: the only call of a step is given nothing. */
static void judge_alone(struct wti_case *account, struct taker *taker,
			const struct wti_moment *moment, const struct wti_digest_row *given)
{
	bool is_lost = is_blank(given) && !taker->is_called_often && taker->calls == 1;

	if (is_lost && taker->steps >= TIMES_KNOWN && taker->blank_steps * 2 < taker->steps) {
		taker->blank_steps++;
		tell_lost(account, taker, moment, given, "and in other steps they are not");
	} else if (!is_blank(given)) {
		taker->steps++;
	}
}

static void judge_given(struct wti_case *account, struct lost *lost,
			const struct wti_moment *moment, uint64_t key,
			const struct wti_value_row *given)
{
	struct batch *batch =
		wti_slot(&lost->batches, moment->process->stream, sizeof(struct batch));
	struct taker *taker = wti_slot(&lost->takers, key, sizeof(*taker));
	const struct wti_digest_row *source;

	if (!batch || !taker)
		return;
	taker->calls++;
	if (!is_measured(given) || given->digest.count < ELEMENTS_MIN)
		return;
	source = taker->batch != batch->number ? source_of(batch, &given->digest) : NULL;
	if (source) {
		taker->batch = batch->number;
		judge_taken(account, taker, moment, source, &given->digest);
	} else if (moment->type == WTI_MOMENT_MODULE && moment->call->flags & WTI_CALL_TRAINING &&
		   moment->call->flags & WTI_CALL_GRAD && !taker->batch) {
		judge_alone(account, taker, moment, &given->digest);
	}
}

static bool is_loss(uint32_t what)
{
	return what == WTI_CALLEE_CROSS_ENTROPY || what == WTI_CALLEE_NLL ||
	       what == WTI_CALLEE_BINARY || what == WTI_CALLEE_DISTANCE;
}

/* Targets of one class are zeros, too. */
static bool is_of_classes(const struct wti_value_row *target)
{
	return !target || target->digest.dtype < WT_DTYPE_F16;
}

static void end_step(struct lost *lost, const struct wti_moment *moment)
{
	for (size_t i = 0; i < lost->takers.index.count; i++) {
		uint64_t key = lost->takers.index.entries[i].key;
		struct taker *taker = wti_slot_find(&lost->takers, key);

		if (!taker || key >> 33 != moment->process->stream)
			continue;
		taker->is_called_often |= taker->calls > 1;
		taker->calls = 0;
	}
}

static void see_lost(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	uint64_t stream = (uint64_t)moment->process->stream << 33;
	const struct wti_call *call = moment->call;
	struct lost *lost = state;
	struct batch *batch;

	switch (moment->type) {
	case WTI_MOMENT_BATCH:
		batch = wti_slot(&lost->batches, moment->process->stream, sizeof(*batch));
		if (batch)
			note_batch(batch, moment);
		break;
	case WTI_MOMENT_MODULE:
		if (moment->object && call->flags & WTI_CALL_OUTERMOST &&
		    call->what == WTI_CALLEE_OTHER)
			judge_given(account, lost, moment, stream | moment->object->name,
				    wti_call_tensor(call, false, 0));
		break;
	case WTI_MOMENT_CALL:
		if (is_loss(call->what) && !is_of_classes(wti_call_tensor(call, false, 1)))
			judge_given(account, lost, moment, stream | 1ull << 32 | call->site,
				    wti_call_tensor(call, false, 1));
		break;
	default:
		end_step(lost, moment);
	}
}

const struct wti_rule wti_rule_data_007 = {
	.code = "WT-DATA-007",
	.severity = WT_WARNING,
	.title = "batches arrive as zeros",
	.means = "the contents of a batch are lost on its way to the model: a copy to the device "
		 "that fails, a buffer that is overwritten or not filled yet, a branch that drops "
		 "the input",
	.hint = "look at each step between the loader and the model; compare the batch before and "
		"after .to(device); try without non_blocking=True",
	.definition =
		"If a loader gives a batch, the first input of a model, or a target of a loss that "
		"is no class, of the same shape is not all zeros unless the batch is; nor has it "
		"zeros in an eighth more of its elements than the batch, where at least three in "
		"four of the batches before, 8 or more, had hardly any more. Where no loader is "
		"known, the only input of a "
		"model in a step of training is not all zeros if those of most steps are not. The "
		"first four times are not judged. A case is a batch of a loader that is used.",
	.innocent = "A condition that is left out at random for whole batches (classifier-free "
		    "guidance), if it is the first input of the model.",
	.needs = "no model was given a measured tensor of the shape that its loader gives",
	/* Rows of zeros are equal, wherever they are. */
	.explains = (const char *const[]){"WT-ROWS-001", "WT-ROWS-002", "WT-ROWS-003",
					  "WT-DATA-001", "WT-INPUT-001", "WT-INPUT-002", NULL},
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_MODULE | WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct lost),
	.watch = see_lost,
	.release = release_lost,
};

/* ---- WT-DATA-008: a copy of something else -------------------------------------------------- */

enum { COPIES_TO_TELL = 2 };

static bool is_copy(const struct wti_moment *moment)
{
	static const char *const names[] = {"Tensor.to", "Tensor.cuda", "Tensor.cpu",
					    "Tensor.pin_memory"};
	const char *callee = wti_moment_text(moment, moment->call->callee);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(callee, names[i]))
			return true;
	return false;
}

/* Then the copy may still be under way when it is read. */
static bool is_not_waited_for(const struct wti_moment *moment)
{
	uint32_t name = wti_symbol_word(moment->training->symbols, "non_blocking");

	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];

		if (value->type == WT_VALUE_TYPE_BOOL && value->bits &&
		    (value->name == name || !value->name))
			return true;
	}
	return false;
}

static void see_copy(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *source = wti_call_tensor(call, false, 0);
	const struct wti_value_row *copy = wti_call_tensor(call, true, 0);
	uint32_t *count;

	if (!is_measured(source) || !is_measured(copy) || call->exception ||
	    source->digest.dtype != copy->digest.dtype ||
	    source->digest.count != copy->digest.count || !is_copy(moment) ||
	    is_not_waited_for(moment))
		return;
	count = wti_slot(state, call->stream, sizeof(*count));
	if (source->digest.hash == copy->digest.hash)
		wti_held(account);
	else if (count && ++*count >= COPIES_TO_TELL)
		wti_violated(account, moment, call->callee,
			     "its result differs from what was copied: %llu of %llu elements are "
			     "zero, %llu were",
			     (unsigned long long)copy->digest.zeros,
			     (unsigned long long)copy->digest.count,
			     (unsigned long long)source->digest.zeros);
}

const struct wti_rule wti_rule_data_008 = {
	.code = "WT-DATA-008",
	.severity = WT_WARNING,
	.title = "copies of tensors are not what was copied",
	.means = "data is lost or changed between two memories: a fault of a device, a driver or "
		 "the link between devices, or somebody writes into the tensor meanwhile",
	.hint = "copy through the host (.cpu().to(device)); look at the driver, the IOMMU and peer "
		"access between devices; do not write into a tensor that another thread copies",
	.definition =
		"A tensor that .to(), .cuda(), .cpu() or .pin_memory() returns, of the type of the "
		"one that it was called on, has the same bytes. Calls with non_blocking=True are "
		"not judged. Two are a violation. A case is such a call of which both tensors were "
		"read.",
	.innocent = "A tensor that other threads or processes write into all the time (Hogwild).",
	.needs = "no tensor was copied by .to() of which both sides were read",
	.explains = (const char *const[]){"WT-DATA-007", "WT-ROWS-001", "WT-ROWS-002",
					  "WT-ROWS-003", NULL},
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_copy,
	.release = release_slots,
};
