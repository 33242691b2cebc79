/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about contents that get lost on their way: a batch that arrives at the model as zeros, a
 * copy that is not what was copied. What a loader has given is compared with what the model, or the
 * loss, is given next in the same shape; where no loader is known, with what the model is given in
 * other steps.
 */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

static bool is_read(const struct wti_value_row *value)
{
	return value && !(value->digest.flags & (WT_TENSOR_NO_HASH | WT_TENSOR_NO_STATISTICS));
}

/* ---- WT-DATA-007: zeros instead of a batch -------------------------------------------------- */

enum { ELEMENTS, KNOWN, CERTAIN, PART_IN, FEW_IN, RARE_IN }; /* thresholds */
enum { OF_PROCESS, OF_MODEL, OF_LOSS };                      /* keeps; the last two are takers */
enum { TENSORS_MAX = 16 };                                   /* of a batch */

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

/* Of a process: what its loader gave last. */
struct batch {
	uint64_t number;
	uint32_t count;
	struct wti_digest_row tensors[TENSORS_MAX];
};

static bool is_blank(const struct wti_digest_row *digest)
{
	return digest->zeros == digest->count;
}

static void note_batch(const struct wti_case *account, struct batch *batch,
		       const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;

	if (moment->call->exception)
		return;
	batch->number++;
	batch->count = 0;
	while (batch->count < TENSORS_MAX &&
	       (value = wti_call_next_tensor(moment->call, true, value)))
		if (is_read(value) && value->digest.count >= wti_threshold(account, ELEMENTS))
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

static enum wti_answer report_lost(struct wti_case *account, struct taker *taker,
				   const struct wti_moment *moment,
				   const struct wti_digest_row *given, const char *than)
{
	uint32_t subject = moment->object ? moment->object->name : moment->call->callee;

	taker->blanks++;
	return wti_violated(
		account, moment, subject, "%llu of %llu elements that it was given are zero, %s",
		(unsigned long long)given->zeros, (unsigned long long)given->count, than);
}

/* Beside what the loader gave. */
static enum wti_answer judge_taken(struct wti_case *account, struct taker *taker,
				   const struct wti_moment *moment,
				   const struct wti_digest_row *source,
				   const struct wti_digest_row *given)
{
	uint64_t more = given->zeros > source->zeros ? given->zeros - source->zeros : 0;
	uint64_t rare_in = wti_threshold(account, RARE_IN);
	bool is_lost = is_blank(given) && !is_blank(source);
	/* Who makes zeros more often masks, or lets negative numbers go. */
	bool is_lost_in_part = more * wti_threshold(account, PART_IN) >= given->count &&
			       taker->masked * rare_in < taker->times;

	if (is_lost && taker->times >= wti_threshold(account, KNOWN) &&
	    taker->blanks < taker->times)
		return report_lost(account, taker, moment, given,
				   "and those of the loader's batch are not");
	if (is_lost_in_part && taker->times >= wti_threshold(account, CERTAIN) &&
	    taker->blanks * rare_in < taker->times)
		return report_lost(account, taker, moment, given,
				   "far more than in the loader's batch and in other steps");
	if (is_lost)
		return WTI_RULE_NO_CASE;
	taker->times++;
	taker->masked += more * wti_threshold(account, FEW_IN) > given->count;
	return WTI_RULE_HELD;
}

/* Where it comes from is not known: the only call of a step is given nothing. */
static enum wti_answer judge_alone(struct wti_case *account, struct taker *taker,
				   const struct wti_moment *moment,
				   const struct wti_digest_row *given)
{
	if (!is_blank(given)) {
		taker->steps++;
		return WTI_RULE_NO_CASE;
	}
	if (taker->is_called_often || taker->calls != 1 ||
	    taker->steps < wti_threshold(account, KNOWN) || taker->blank_steps * 2 >= taker->steps)
		return WTI_RULE_NO_CASE;
	taker->blank_steps++;
	return report_lost(account, taker, moment, given, "and in other steps they are not");
}

static enum wti_answer judge_given(struct wti_case *account, const struct batch *batch,
				   struct taker *taker, const struct wti_moment *moment,
				   const struct wti_value_row *given)
{
	const struct wti_digest_row *source;

	if (!taker)
		return WTI_RULE_NO_CASE;
	taker->calls++;
	if (!is_read(given) || given->digest.count < wti_threshold(account, ELEMENTS))
		return WTI_RULE_NO_CASE;
	source = taker->batch != batch->number ? source_of(batch, &given->digest) : NULL;
	if (source) {
		taker->batch = batch->number;
		return judge_taken(account, taker, moment, source, &given->digest);
	}
	if (moment->type == WTI_MOMENT_MODULE && wti_is_training_call(moment->call) &&
	    !taker->batch)
		return judge_alone(account, taker, moment, &given->digest);
	return WTI_RULE_NO_CASE;
}

static enum wti_answer judge_model(struct wti_case *account, const struct batch *batch,
				   const struct wti_moment *moment)
{
	if (!(moment->call->flags & WT_CALL_OUTERMOST) || moment->call->what != WTI_CALLEE_OTHER)
		return WTI_RULE_NO_CASE;
	return judge_given(account, batch, wti_kept(account, OF_MODEL, moment), moment,
			   wti_call_tensor(moment->call, false, 0));
}

/* Targets of one class are zeros, too. */
static enum wti_answer judge_loss(struct wti_case *account, const struct batch *batch,
				  const struct wti_moment *moment)
{
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);

	if (!target || wti_dtype_is_whole(target->digest.dtype))
		return WTI_RULE_NO_CASE;
	return judge_given(account, batch, wti_kept(account, OF_LOSS, moment), moment, target);
}

static void end_step(struct wti_case *account, const struct wti_moment *moment)
{
	struct taker *taker;
	size_t place = 0;

	while ((taker = wti_kept_next(account, OF_MODEL, moment->process->stream, &place))) {
		taker->is_called_often |= taker->calls > 1;
		taker->calls = 0;
	}
}

static enum wti_answer see_lost(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	switch (moment->type) {
	case WTI_MOMENT_BATCH:
		note_batch(account, kept, moment);
		return WTI_RULE_NO_CASE;
	case WTI_MOMENT_MODULE:
		return judge_model(account, kept, moment);
	case WTI_MOMENT_CALL:
		return judge_loss(account, kept, moment);
	default:
		end_step(account, moment);
		return WTI_RULE_NO_CASE;
	}
}

const struct wti_rule wti_rule_data_007 = {
	.code = "WT-DATA-007",
	.severity = WT_WARNING,
	.title = "batches arrive as zeros",
	.means = "the contents of a batch are lost on its way to the model: a copy to the device "
		 "that fails, a buffer that is overwritten or not filled yet, a branch that "
		 "drops the input",
	.hint = "look at each step between the loader and the model; compare the batch before "
		"and after .to(device); try without non_blocking=True",
	.definition =
		"A model's first input with the shape of the loader's batch, or a target with "
		"that shape that is not a class number, is not all zeros unless the batch is. "
		"After eight batches, the share of zeros in it is not larger than in the batch by "
		"an eighth or more, unless one in four of the batches before gained zeros on the "
		"way too. Where no loader is known, the only input of a model in a training step "
		"is not all zeros if the inputs of most steps are not. The first four times are "
		"not judged. A case is a batch of a loader that is used.",
	.innocent = "A condition that is left out at random for whole batches (classifier-free "
		    "guidance), if it is the first input of the model.",
	.needs = "no model was given a measured tensor of the shape that its loader gives",
	/* Rows of zeros are equal, wherever they are. */
	.explains = (const char *const[]){"WT-ROWS-001", "WT-ROWS-002", "WT-ROWS-003",
					  "WT-DATA-001", "WT-INPUT-001", "WT-INPUT-002", NULL},
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_MODULE | WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.callees = WTI_TARGET_LOSSES,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct batch)},
		  [OF_MODEL] = {WTI_PER_OBJECT, sizeof(struct taker)},
		  [OF_LOSS] = {WTI_PER_LINE, sizeof(struct taker)}},
	.see = see_lost,
	.thresholds =
		{[ELEMENTS] = {"elements", 16, "of a tensor: fewer may all be zero by chance"},
		 [KNOWN] = {"known", 4,
			    "times with contents before a batch of zeros is reported: a model "
			    "may be called with zeros at first to learn its shapes"},
		 [CERTAIN] = {"certain", 8,
			      "times before a batch that is only partly zeros is reported: that "
			      "takes more evidence"},
		 [PART_IN] = {"part_in", 8,
			      "a part is one element in this many: fewer may be masked or "
			      "cropped"},
		 [FEW_IN] = {"few_in", 100,
			     "a batch gains zeros on the way if more than one element in this "
			     "many becomes zero: rounding makes fewer"},
		 [RARE_IN] = {"rare_in", 4,
			      "at most one batch in this many has gained zeros before: a program "
			      "that makes them more often masks, or cuts off negative numbers"}},
};

/* ---- WT-DATA-008: a copy of something else -------------------------------------------------- */

enum { COPIES }; /* thresholds */

struct copies {
	struct wti_patience wrong;
};

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

static enum wti_answer see_copy(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *source = wti_call_tensor(call, false, 0);
	const struct wti_value_row *copy = wti_call_tensor(call, true, 0);
	struct copies *copies = kept;

	if (!is_read(source) || !is_read(copy) || call->exception ||
	    source->digest.dtype != copy->digest.dtype ||
	    source->digest.count != copy->digest.count || !is_copy(moment) ||
	    is_not_waited_for(moment))
		return WTI_RULE_NO_CASE;
	if (source->digest.hash == copy->digest.hash)
		return WTI_RULE_HELD;
	if (!wti_waited(account, &copies->wrong, moment, COPIES))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, call->callee,
			    "its result differs from what was copied: %llu of %llu elements are "
			    "zero, %llu were",
			    (unsigned long long)copy->digest.zeros,
			    (unsigned long long)copy->digest.count,
			    (unsigned long long)source->digest.zeros);
}

const struct wti_rule wti_rule_data_008 = {
	.code = "WT-DATA-008",
	.severity = WT_WARNING,
	.title = "copies of tensors differ from their originals",
	.means = "data is lost or changed between two memories: a fault of a device, a driver or "
		 "the link between devices, or another thread writes into the tensor meanwhile",
	.hint = "copy through the host (.cpu().to(device)); look at the driver, the IOMMU and "
		"peer access between devices; do not write into a tensor that another thread "
		"copies",
	.definition = "A tensor that .to(), .cuda(), .cpu() or .pin_memory() returns has the same "
		      "bytes as the tensor that it was called on, if both have the same type. "
		      "Calls with non_blocking=True are not judged. Two copies that differ are a "
		      "violation. A case is such a call for which the contents of both tensors "
		      "are known.",
	.innocent = "A tensor that other threads or processes write into all the time (Hogwild).",
	.needs = "no copy by .to() was recorded with the contents of both tensors",
	.explains = (const char *const[]){"WT-DATA-007", "WT-ROWS-001", "WT-ROWS-002",
					  "WT-ROWS-003", NULL},
	.moments = WTI_MOMENT_CALL,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct copies)}},
	.see = see_copy,
	.thresholds =
		{[COPIES] = {"copies", 2,
			     "another thread may have written into the tensor meanwhile, once"}},
};
