/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what loaders give: batches that differ, in an order that differs, of the size asked.
 */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- What a loader gives -------------------------------------------------------------------- */

enum { FIRST_BATCHES = 2 };

struct loader {
	uint64_t epoch;                       /* how often it was begun */
	uint64_t batch;                       /* in this epoch */
	uint64_t last;                        /* hash of the last batch */
	uint64_t first[FIRST_BATCHES];        /* of this epoch */
	uint64_t first_before[FIRST_BATCHES]; /* of the one before */
	uint64_t batches_before;
	bool is_exhausted; /* it has said that there is no more */
	bool trains;       /* a backward() followed one of its batches */
	uint32_t streak;
	uint64_t compared; /* batches with the one before them */
	double rows;       /* of its data set; 0: not known */
	double batch_size; /* likewise */
};

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && !strcmp(text + bytes - end_bytes, end);
}

static bool is_iter(const struct wti_moment *moment)
{
	return ends_with(wti_moment_text(moment, moment->call->callee), "__iter__");
}

/* Batches of one value say nothing when they are the same. */
static bool is_varied(const struct wti_call *call)
{
	const struct wti_value_row *value = NULL;

	while ((value = wti_call_next_tensor(call, true, value)))
		if (!(value->digest.flags & WTI_TENSOR_NO_STATISTICS) && value->digest.count >= 4 &&
		    value->digest.min < value->digest.max)
			return true;
	return false;
}

/* The largest first extent among the tensors of a batch. */
static uint64_t rows_of(const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;
	uint64_t rows = 0;

	while ((value = wti_call_next_tensor(moment->call, true, value))) {
		struct wti_shape shape =
			wti_shape_read(wti_moment_text(moment, value->digest.shape));

		if (shape.rank && shape.extents[0] > rows)
			rows = shape.extents[0];
	}
	return rows;
}

static void begin_epoch(struct loader *loader)
{
	memcpy(loader->first_before, loader->first, sizeof(loader->first));
	memset(loader->first, 0, sizeof(loader->first));
	loader->batches_before = loader->batch;
	loader->epoch++;
	loader->batch = 0;
}

enum outcome { NO_BATCH, BEGUN, GIVEN };

/* Keeps account of one call of a loader; *ret_hash is that of a batch that can be compared. */
static enum outcome take_call(struct loader *loader, const struct wti_moment *moment,
			      uint64_t *ret_hash)
{
	if (is_iter(moment)) {
		begin_epoch(loader);
		return BEGUN;
	}
	if (moment->call->exception) {
		loader->is_exhausted = true;
		return NO_BATCH;
	}
	*ret_hash = is_varied(moment->call) ? wti_call_hash(moment->call, true) : 0;
	if (loader->batch < FIRST_BATCHES)
		loader->first[loader->batch] = *ret_hash;
	loader->batch++;
	return GIVEN;
}

/* The loader whose batch came last, for backward(). */
struct loaders {
	struct wti_slots slots;
	uint64_t last_key[16]; /* by stream, modulo */
};

static void release_loaders(void *state)
{
	struct loaders *loaders = state;

	wti_slots_release(&loaders->slots);
}

static uint64_t key_of(const struct wti_object *object)
{
	return (uint64_t)object->stream << 32 | object->name;
}

/* A backward() after a batch: it is one to train on. NULL: nothing to look at. */
static struct loader *loader_of(struct loaders *loaders, const struct wti_moment *moment)
{
	uint64_t *last = &loaders->last_key[moment->process->stream % 16];
	struct loader *loader;

	if (moment->type == WTI_MOMENT_BACKWARD) {
		loader = *last ? wti_slot(&loaders->slots, *last, sizeof(*loader)) : NULL;
		if (loader)
			loader->trains = true;
		return NULL;
	}
	if (!moment->object)
		return NULL;
	*last = key_of(moment->object);
	return wti_slot(&loaders->slots, *last, sizeof(*loader));
}

/* ---- WT-DATA-001: the same batch again ------------------------------------------------------ */

enum { REPEATS_TO_TELL = 2, ONE_REPEAT_IN = 8 };

static void see_repeated(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct loader *loader = loader_of(state, moment);
	uint64_t hash = 0;

	if (!loader || take_call(loader, moment, &hash) != GIVEN || !hash)
		return;
	loader->compared += loader->batch > 1;
	if (loader->batch > 1 && loader->last == hash) {
		if (++loader->streak >= REPEATS_TO_TELL &&
		    loader->streak * ONE_REPEAT_IN >= loader->compared)
			wti_violated(account, moment, moment->object->name,
				     "%u batches were the same as the one before them, to the bit",
				     loader->streak);
	} else if (loader->batch > 1) {
		wti_held(account);
	}
	loader->last = hash;
}

const struct wti_rule wti_rule_data_001 = {
	.code = "WT-DATA-001",
	.severity = WT_ERROR,
	.title = "a loader gives the same batch again within an epoch",
	.means = "its workers do the same work: they start from one seed, or each of them reads "
		 "the whole stream",
	.hint = "seed each worker differently (torch.initial_seed() in worker_init_fn), and let an "
		"IterableDataset give each worker its share (get_worker_info())",
	.definition = "No two batches that come one after the other from a loader, in one epoch, "
		      "have the same bytes. Two such pairs, and one in eight, are a violation. A "
		      "case is a batch after another.",
	.innocent = "A data set of one row, repeated.",
	.needs = "no loader gave two batches in an epoch",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_BACKWARD,
	.state_bytes = sizeof(struct loaders),
	.watch = see_repeated,
	.release = release_loaders,
};

/* ---- WT-DATA-002: always the first batch ---------------------------------------------------- */

enum { BEGINNINGS_TO_TELL = 2 };

static struct loader *loader_in_state(struct loaders *loaders, const struct wti_moment *moment)
{
	return moment->object && moment->object->type == WT_OBJECT_TYPE_LOADER
		       ? wti_slot(&loaders->slots, key_of(moment->object), sizeof(struct loader))
		       : NULL;
}

static void note_facts(struct loaders *loaders, const struct wti_moment *moment)
{
	struct loader *loader = loader_in_state(loaders, moment);
	const char *fact = wti_moment_text(moment, moment->attribute);

	if (loader && !strcmp(fact, "rows"))
		loader->rows = moment->number;
	if (loader && !strcmp(fact, "batch_size"))
		loader->batch_size = moment->number;
}

/* Its first batch is its last. */
static bool is_all(const struct loader *loader, const struct wti_moment *moment)
{
	double rows = (double)rows_of(moment);

	return rows > 0 &&
	       ((loader->rows > 0 && rows >= loader->rows) || rows < loader->batch_size);
}

static void see_first(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct loader *loader;
	uint64_t hash = 0;
	bool is_same;

	if (moment->type == WTI_MOMENT_STATE) {
		note_facts(state, moment);
		return;
	}
	loader = loader_of(state, moment);
	if (!loader || take_call(loader, moment, &hash) != GIVEN || loader->batch != 1 ||
	    loader->epoch < 2)
		return;
	is_same = hash && hash == loader->first_before[0] && loader->batches_before == 1;
	if (!is_same || loader->is_exhausted || !loader->trains || is_all(loader, moment)) {
		loader->streak = 0;
		wti_held(account);
	} else if (++loader->streak >= BEGINNINGS_TO_TELL) {
		wti_violated(account, moment, moment->object->name,
			     "it was begun %llu times, gave one batch each time, and always the "
			     "same",
			     (unsigned long long)loader->epoch);
	}
}

const struct wti_rule wti_rule_data_002 = {
	.code = "WT-DATA-002",
	.severity = WT_ERROR,
	.title = "only the first batch of a loader is ever used",
	.means = "the loader is started anew for each step: next(iter(loader)) gives its first "
		 "batch every time",
	.hint = "make the iterator once, before the loop: batches = iter(loader); next(batches)",
	.definition =
		"A loader whose batches are trained on, which has not come to its end and has more "
		"than one batch as far as is known, is not begun three times in a row to give one "
		"batch with the same bytes. A case is a second and later beginning.",
	.innocent = "Overfitting one batch on purpose, as a test.",
	.needs = "no loader was begun twice",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_BACKWARD | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct loaders),
	.watch = see_first,
	.release = release_loaders,
};

/* ---- WT-DATA-003: the same order every epoch ------------------------------------------------ */

static bool is_shuffled(const struct wti_moment *moment)
{
	for (size_t i = 0; i < moment->training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(moment->training, i);
		const char *class_name = wti_moment_text(moment, object->class_name);

		if (object->stream == moment->object->stream &&
		    object->type == WT_OBJECT_TYPE_SAMPLER && object->of == moment->object->name)
			return strstr(class_name, "RandomSampler") ||
			       strstr(class_name, "DistributedSampler");
	}
	return false;
}

/* Epochs of all loaders that one line makes, as long as the same optimizer steps. */
struct line {
	uint64_t first[FIRST_BATCHES];
	uint64_t epochs;
	uint32_t loader;    /* the last */
	uint32_t optimizer; /* that steps; 0: none is known */
	bool trains;
};

struct orders {
	struct loaders loaders;
	struct wti_slots lines;
	uint64_t line_of[16]; /* that gave the last batch, by stream, modulo; 0: none */
};

static void release_orders(void *state)
{
	struct orders *orders = state;

	release_loaders(&orders->loaders);
	wti_slots_release(&orders->lines);
}

/* An object without a known line is one of its own. */
static uint64_t line_key(const struct wti_object *object)
{
	return object->site ? 1ull << 63 | (uint64_t)object->stream << 32 | object->site
			    : key_of(object);
}

/* A backward() after a batch, or a step. */
static void note_training(struct orders *orders, const struct wti_moment *moment)
{
	uint64_t key = orders->line_of[moment->process->stream % 16];
	struct line *line = key ? wti_slot(&orders->lines, key, sizeof(*line)) : NULL;

	if (!line)
		return;
	line->trains = true;
	if (moment->type != WTI_MOMENT_STEPPED || !moment->object)
		return;
	if (line->optimizer && line->optimizer != moment->object->name)
		line->epochs = 0; /* another training begins: the same order may be wanted */
	line->optimizer = moment->object->name;
}

static void judge_order(struct wti_case *account, struct line *line, const struct loader *loader,
			const struct wti_moment *moment)
{
	bool is_same = !memcmp(loader->first, line->first, sizeof(line->first));

	if (line->loader != moment->object->name && !line->optimizer)
		line->epochs = 0;
	line->loader = moment->object->name;
	memcpy(line->first, loader->first, sizeof(line->first));
	if (!line->epochs++ || !line->trains)
		return;
	if (is_same)
		wti_violated(account, moment, moment->object->name,
			     "epoch %llu began with the same %d batches as the one before",
			     (unsigned long long)line->epochs - 1, FIRST_BATCHES);
	else
		wti_held(account);
}

static void see_order(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct orders *orders = state;
	struct loader *loader;
	struct line *line;
	uint64_t hash = 0;

	if (moment->type != WTI_MOMENT_BATCH) {
		note_training(orders, moment);
		return;
	}
	loader = loader_of(&orders->loaders, moment);
	if (!loader || take_call(loader, moment, &hash) != GIVEN)
		return;
	orders->line_of[moment->process->stream % 16] = line_key(moment->object);
	if (loader->batch != FIRST_BATCHES || !loader->first[0] || !loader->first[1] ||
	    !is_shuffled(moment))
		return;
	line = wti_slot(&orders->lines, line_key(moment->object), sizeof(*line));
	if (line)
		judge_order(account, line, loader, moment);
}

const struct wti_rule wti_rule_data_003 = {
	.code = "WT-DATA-003",
	.severity = WT_WARNING,
	.title = "a sampler that shuffles gives the same order in every epoch",
	.means = "the sampler is not told the epoch, or its seed is set anew each time: batches "
		 "are always made of the same rows",
	.hint = "call sampler.set_epoch(epoch) at the beginning of each epoch; seed a generator "
		"once, before the first",
	.definition =
		"A loader with a RandomSampler or a DistributedSampler, whose batches are trained "
		"on, does not begin two epochs in a row with the same two batches; nor do loaders "
		"that one line makes, while the same optimizer steps. A case is the second batch "
		"of an epoch after the first.",
	.innocent = "A DistributedSampler with shuffle=False.",
	.needs = "no loader with a sampler that shuffles gave two batches in two epochs",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_BACKWARD | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct orders),
	.watch = see_order,
	.release = release_orders,
};

/* ---- WT-DATA-004: fewer rows than asked for ------------------------------------------------- */

struct sized {
	double batch_size; /* 0: not known */
	uint32_t streak;   /* batches in this epoch that were far too small */
};

static void see_size(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct sized *sized = wti_slot_of_object(state, moment->object, sizeof(*sized));
	uint64_t rows;

	if (!sized)
		return;
	if (moment->type == WTI_MOMENT_STATE) {
		if (moment->object->type == WT_OBJECT_TYPE_LOADER &&
		    !strcmp(wti_moment_text(moment, moment->attribute), "batch_size"))
			sized->batch_size = moment->number;
		return;
	}
	if (is_iter(moment)) {
		sized->streak = 0;
		return;
	}
	rows = rows_of(moment);
	if (moment->call->exception || sized->batch_size < 2 || !rows)
		return;
	if ((double)rows * 2 >= sized->batch_size) {
		sized->streak = 0;
		wti_held(account);
	} else if (++sized->streak >= 2) {
		wti_violated(account, moment, moment->object->name,
			     "batches have %llu rows where batch_size is %.0f",
			     (unsigned long long)rows, sized->batch_size);
	}
}

const struct wti_rule wti_rule_data_004 = {
	.code = "WT-DATA-004",
	.severity = WT_WARNING,
	.title = "batches have far fewer rows than the loader was asked for",
	.means = "the collate function drops rows: most of the data is never trained on",
	.hint = "look at collate_fn: does it return all samples that it is given?",
	.definition =
		"Of two batches of a loader in one epoch that come one after the other, one has a "
		"tensor with at least half of batch_size rows. A case is a batch.",
	.innocent = "Batches whose rows are packed, or stand along another axis than the first.",
	.needs = "no loader with a batch_size gave a batch of tensors",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_size,
	.release = release_slots,
};

/* ---- WT-DATA-005: the data set is written to ------------------------------------------------ */

enum { ROWS_TO_TELL = 3 };

struct written {
	struct wti_slots epochs;  /* of loaders: how often begun */
	struct wti_slots results; /* hash: in which epoch it was last written */
	uint32_t count;
};

static void release_written(void *state)
{
	struct written *written = state;

	wti_slots_release(&written->epochs);
	wti_slots_release(&written->results);
}

static uint64_t *epoch_of(struct written *written, const struct wti_call *call)
{
	return wti_slot(&written->epochs, (uint64_t)call->stream << 32 | call->object,
			sizeof(uint64_t));
}

static uint64_t result_key(const struct wti_call *call, uint64_t hash)
{
	return (hash ^ (uint64_t)call->stream << 32) * 0x9e3779b97f4a7c15u;
}

/* Zeros to be filled are the same in every epoch. */
static bool is_of_one_value(const struct wti_digest_row *digest)
{
	return !(digest->flags & WTI_TENSOR_NO_STATISTICS) && digest->min == digest->max;
}

/* In place, while the loader fetches a batch. */
static void judge_write(struct wti_case *account, struct written *written,
			const struct wti_moment *moment, uint64_t epoch)
{
	const struct wti_value_row *before = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(moment->call, true, 0);
	uint64_t *seen;

	if (!before || !after || before->digest.hash == after->digest.hash ||
	    (before->digest.flags | after->digest.flags) & WTI_TENSOR_NO_HASH ||
	    is_of_one_value(&before->digest))
		return;
	seen = wti_slot(&written->results, result_key(moment->call, before->digest.hash),
			sizeof(*seen));
	if (seen && *seen && *seen < epoch) {
		if (++written->count >= ROWS_TO_TELL)
			wti_violated(account, moment, moment->call->callee,
				     "it changes in place what had been written in an epoch before "
				     "(%u rows)",
				     written->count);
	} else {
		wti_held(account);
	}
	seen = wti_slot(&written->results, result_key(moment->call, after->digest.hash),
			sizeof(*seen));
	if (seen)
		*seen = epoch;
}

static void see_written(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct written *written = state;
	uint64_t *epoch;

	if (moment->type == WTI_MOMENT_BATCH) {
		epoch = is_iter(moment) && moment->call->object ? epoch_of(written, moment->call)
								: NULL;
		if (epoch)
			++*epoch;
		return;
	}
	if (!moment->call->is_in_place || !moment->parent ||
	    moment->parent->tag != WTI_MOMENT_BATCH || !moment->parent->object)
		return;
	epoch = epoch_of(written, moment->parent);
	if (epoch)
		judge_write(account, written, moment, *epoch);
}

const struct wti_rule wti_rule_data_005 = {
	.code = "WT-DATA-005",
	.severity = WT_ERROR,
	.title = "the data set is changed by reading it",
	.means = "an augmentation writes into the rows that the data set keeps: its effects add up "
		 "from epoch to epoch",
	.hint = "copy the row first: row = self.rows[index].clone()",
	.definition =
		"While a loader fetches a batch, no operation in place changes a tensor that one "
		"had written in an earlier epoch, and none since. Tensors of one value are left "
		"out. Three rows are a violation. A case is an operation in place while a batch is "
		"fetched.",
	.innocent = "Rows that are meant to age.",
	.needs = "no operation in place was recorded while a loader fetched in its own process",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct written),
	.watch = see_written,
	.release = release_written,
};
