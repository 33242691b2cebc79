/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what loaders give: batches that differ, in an order that differs, of the size asked.
 */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"

/* ---- What a loader gives -------------------------------------------------------------------- */

struct loader {
	uint64_t epoch;          /* how often it was started */
	uint64_t batch;          /* in this epoch */
	uint64_t batches_before; /* in the one before */
	bool is_exhausted;       /* its last call returned no batch: the epoch is over */
};

/* Keeps account of one call of a loader: whether it gave a batch. */
static bool take_call(struct loader *loader, const struct wti_moment *moment)
{
	if (wti_loader_is_begun(moment)) {
		loader->batches_before = loader->batch;
		loader->epoch++;
		loader->batch = 0;
		return false;
	}
	loader->is_exhausted |= moment->call->exception != 0;
	loader->batch += !moment->call->exception;
	return !moment->call->exception;
}

/* Batches of one value, or of hardly any elements, say nothing when they are the same. */
static bool is_varied(const struct wti_call *call, uint64_t elements)
{
	const struct wti_value_row *value = NULL;

	while ((value = wti_call_next_tensor(call, true, value)))
		if (!(value->digest.flags & WT_TENSOR_NO_STATISTICS) &&
		    value->digest.count >= elements && value->digest.min < value->digest.max)
			return true;
	return false;
}

/* Of a batch; 0: it cannot be compared. */
static uint64_t hash_of(const struct wti_call *call, uint64_t elements)
{
	return is_varied(call, elements) ? wti_call_hash(call, true) : 0;
}

#define WHY_ELEMENTS "of a tensor: batches of fewer may be equal by chance"

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

/* ---- WT-DATA-001: the same batch again ------------------------------------------------------ */

enum { REPEATS, REPEATED_IN, REPEATED_ELEMENTS }; /* thresholds */

struct repeating {
	struct loader loader;
	uint64_t last;               /* hash of the last batch */
	uint64_t compared, repeated; /* batches with the one before them */
};

static enum wti_answer judge_repeated(struct wti_case *account, struct repeating *repeating,
				      const struct wti_moment *moment, uint64_t hash)
{
	if (repeating->loader.batch == 1)
		return WTI_RULE_NO_CASE;
	repeating->compared++;
	if (repeating->last != hash)
		return WTI_RULE_HELD;
	repeating->repeated++;
	if (repeating->repeated < wti_threshold(account, REPEATS) ||
	    repeating->repeated * wti_threshold(account, REPEATED_IN) < repeating->compared)
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->object->name,
			    "%llu batches were the same as the one before them, to the bit",
			    (unsigned long long)repeating->repeated);
}

static enum wti_answer see_repeated(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct repeating *repeating = kept;
	enum wti_answer answer;
	uint64_t hash;

	if (!take_call(&repeating->loader, moment))
		return WTI_RULE_NO_CASE;
	hash = hash_of(moment->call, wti_threshold(account, REPEATED_ELEMENTS));
	if (!hash)
		return WTI_RULE_NO_CASE;
	answer = judge_repeated(account, repeating, moment, hash);
	repeating->last = hash;
	return answer;
}

const struct wti_rule wti_rule_data_001 = {
	.code = "WT-DATA-001",
	.severity = WT_ERROR,
	.title = "a loader returns the same batch twice within an epoch",
	.means = "its workers do the same work: they start from one seed, or each of them reads "
		 "the whole stream",
	.hint = "seed each worker differently (torch.initial_seed() in worker_init_fn), and let "
		"an IterableDataset give each worker its share (get_worker_info())",
	.definition = "No two consecutive batches of a loader, in one epoch, have the same bytes. "
		      "Two such pairs or more are a violation, if they are at least one pair in "
		      "eight. A case is a batch that follows another.",
	.innocent = "A data set of one row, repeated.",
	.needs = "no loader gave two batches in an epoch",
	.moments = WTI_MOMENT_BATCH,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct repeating)}},
	.see = see_repeated,
	.thresholds = {[REPEATS] = {"pairs", 2, "the data may contain a row twice"},
		       [REPEATED_IN] = {"one_in", 8,
					"pairs: workers that repeat each other make at least every "
					"second pair equal; data with a few repetitions does not"},
		       [REPEATED_ELEMENTS] = {"elements", 4, WHY_ELEMENTS}},
};

/* ---- WT-DATA-002: always the first batch ---------------------------------------------------- */

enum { BEGINNINGS, FIRST_ELEMENTS }; /* thresholds */
enum { OF_LOADER, OF_PROCESS };      /* keeps */

struct beginning {
	struct loader loader;
	uint64_t first;    /* hash of the first batch of this epoch, or of the one before */
	bool trains;       /* a backward() followed one of its batches */
	double rows;       /* of its data set; 0: not known */
	double batch_size; /* likewise */
};

/* Of a process: the loader that gave the last batch. */
struct giving {
	const struct beginning *last;
};

static void note_size(struct beginning *beginning, const struct wti_moment *moment)
{
	const char *fact = wti_moment_text(moment, moment->attribute);

	if (moment->object->type != WT_OBJECT_TYPE_LOADER)
		return;
	if (!strcmp(fact, "rows"))
		beginning->rows = moment->number;
	if (!strcmp(fact, "batch_size"))
		beginning->batch_size = moment->number;
}

/* Its first batch is its last. */
static bool is_all(const struct beginning *beginning, const struct wti_moment *moment)
{
	double rows = (double)rows_of(moment);

	return rows > 0 &&
	       ((beginning->rows > 0 && rows >= beginning->rows) || rows < beginning->batch_size);
}

static enum wti_answer judge_first(struct wti_case *account, struct beginning *beginning,
				   const struct wti_moment *moment)
{
	const struct loader *loader = &beginning->loader;
	uint64_t hash = hash_of(moment->call, wti_threshold(account, FIRST_ELEMENTS));
	bool is_same = hash && hash == beginning->first && loader->batches_before == 1;

	beginning->first = hash;
	if (loader->epoch < 2)
		return WTI_RULE_NO_CASE;
	if (!is_same || loader->is_exhausted || !beginning->trains || is_all(beginning, moment))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "it was started %llu times and returned one batch each time, always "
			    "the same",
			    (unsigned long long)loader->epoch);
}

static enum wti_answer see_first(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct giving *giving = wti_kept(account, OF_PROCESS, moment);
	struct beginning *beginning = kept;

	if (!giving)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_BACKWARD) {
		beginning->trains |= giving->last == beginning;
	} else if (moment->type == WTI_MOMENT_STATE) {
		note_size(beginning, moment);
	} else {
		giving->last = beginning;
		if (take_call(&beginning->loader, moment) && beginning->loader.batch == 1)
			return judge_first(account, beginning, moment);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_data_002 = {
	.code = "WT-DATA-002",
	.severity = WT_ERROR,
	.title = "only the first batch of a loader is ever used",
	.means = "the loader is restarted for each step: next(iter(loader)) returns its first "
		 "batch every time",
	.hint = "make the iterator once, before the loop: batches = iter(loader); next(batches)",
	.definition =
		"A loader whose batches are trained on, that has never run to its end and is not "
		"known to have only one batch, is not started three times in a row only to return "
		"one batch with the same bytes. A case is a start after the first.",
	.innocent = "Overfitting one batch on purpose, as a test.",
	.needs = "no loader was started twice",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_BACKWARD | WTI_MOMENT_STATE,
	.keeps = {[OF_LOADER] = {WTI_PER_OBJECT, sizeof(struct beginning)},
		  [OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct giving)}},
	.sweeps = WTI_MOMENT_BACKWARD,
	.see = see_first,
	.thresholds =
		{[BEGINNINGS] = {WTI_IN_A_ROW, 2,
				 "starts after the first: a program may look at one batch before "
				 "it trains"},
		 [FIRST_ELEMENTS] = {"elements", 4, WHY_ELEMENTS}},
};

/* ---- WT-DATA-003: the same order every epoch ------------------------------------------------ */

enum { FIRST_BATCHES, ORDER_ELEMENTS }; /* thresholds */
enum { OF_ORDER, OF_ORDERED, OF_SITE }; /* keeps */

/* Epochs of all loaders that one line makes, as long as the same optimizer steps. */
struct line {
	uint64_t beginning; /* of the last one */
	uint64_t epochs;
	uint32_t loader;    /* the last */
	uint32_t optimizer; /* that steps; 0: none is known */
	bool trains;
};

struct ordered {
	struct loader loader;
	uint64_t beginning; /* the first batches of this epoch, in their order */
	bool is_comparable; /* all of them */
	struct line line;   /* where it is not known which line has made it */
};

/* Of a process: the line whose loader gave the last batch. */
struct order {
	struct line *line;
};

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

/* A backward() after a batch, or a step. */
static void note_training(struct line *line, const struct wti_moment *moment)
{
	line->trains = true;
	if (moment->type != WTI_MOMENT_STEPPED || !moment->object)
		return;
	if (line->optimizer && line->optimizer != moment->object->name)
		line->epochs = 0; /* another training begins: the same order may be wanted */
	line->optimizer = moment->object->name;
}

static enum wti_answer judge_order(struct wti_case *account, struct line *line,
				   const struct ordered *ordered, const struct wti_moment *moment)
{
	bool is_same = ordered->beginning == line->beginning;

	if (line->loader != moment->object->name && !line->optimizer)
		line->epochs = 0;
	line->loader = moment->object->name;
	line->beginning = ordered->beginning;
	if (!line->epochs++ || !line->trains)
		return WTI_RULE_NO_CASE;
	if (!is_same)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "epoch %llu began with the same %llu batches as the one before",
			    (unsigned long long)line->epochs - 1,
			    (unsigned long long)ordered->loader.batch);
}

static void note_beginning(struct ordered *ordered, uint64_t hash)
{
	if (ordered->loader.batch == 1) {
		ordered->beginning = 0;
		ordered->is_comparable = true;
	}
	ordered->beginning = (ordered->beginning ^ hash) * 0x9e3779b97f4a7c15u;
	ordered->is_comparable &= hash != 0;
}

static enum wti_answer see_batch(struct wti_case *account, struct order *order,
				 const struct wti_moment *moment)
{
	struct ordered *ordered = wti_kept(account, OF_ORDERED, moment);
	uint64_t batches = wti_threshold(account, FIRST_BATCHES);

	if (!ordered || !take_call(&ordered->loader, moment))
		return WTI_RULE_NO_CASE;
	order->line = moment->object->site
			      ? wti_kept_of_key(account, OF_SITE, moment->object->stream,
						moment->object->site)
			      : &ordered->line;
	if (ordered->loader.batch <= batches)
		note_beginning(ordered,
			       hash_of(moment->call, wti_threshold(account, ORDER_ELEMENTS)));
	if (ordered->loader.batch != batches || !ordered->is_comparable || !order->line ||
	    !is_shuffled(moment))
		return WTI_RULE_NO_CASE;
	return judge_order(account, order->line, ordered, moment);
}

static enum wti_answer see_order(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct order *order = kept;

	if (moment->type == WTI_MOMENT_BATCH)
		return see_batch(account, order, moment);
	if (order->line)
		note_training(order->line, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_data_003 = {
	.code = "WT-DATA-003",
	.severity = WT_WARNING,
	.title = "a shuffling sampler gives the same order in every epoch",
	.means = "the sampler does not know the epoch, or is seeded again each time: batches are "
		 "always made of the same rows",
	.hint = "call sampler.set_epoch(epoch) at the beginning of each epoch; seed a generator "
		"once, before the first epoch",
	.definition =
		"A loader with a RandomSampler or a DistributedSampler, whose batches are trained "
		"on, does not begin two epochs in a row with the same two batches; neither do "
		"loaders that one line creates one after the other while the same optimizer "
		"steps. A case is the second batch of an epoch, from the second epoch on.",
	.innocent = "A DistributedSampler with shuffle=False.",
	.needs = "no loader with a sampler that shuffles gave two batches in two epochs",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_BACKWARD | WTI_MOMENT_STEPPED,
	.keeps = {[OF_ORDER] = {WTI_PER_PROCESS, sizeof(struct order)},
		  [OF_ORDERED] = {WTI_PER_OBJECT, sizeof(struct ordered)},
		  [OF_SITE] = {WTI_PER_KEY, sizeof(struct line)}},
	.see = see_order,
	.thresholds = {[FIRST_BATCHES] = {"batches", 2,
					  "at the beginning of an epoch: with few rows, one may "
					  "be the same by chance"},
		       [ORDER_ELEMENTS] = {"elements", 4, WHY_ELEMENTS}},
};

/* ---- WT-DATA-004: fewer rows than asked for ------------------------------------------------- */

enum { SMALL_BATCHES, FEWER }; /* thresholds */

struct sized {
	double batch_size; /* 0: not known */
};

static enum wti_answer see_size(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	struct sized *sized = kept;
	uint64_t rows;

	if (moment->type == WTI_MOMENT_STATE) {
		if (moment->object->type == WT_OBJECT_TYPE_LOADER &&
		    !strcmp(wti_moment_text(moment, moment->attribute), "batch_size"))
			sized->batch_size = moment->number;
		return WTI_RULE_NO_CASE;
	}
	if (wti_loader_is_begun(moment))
		return WTI_RULE_BREAK;
	rows = rows_of(moment);
	if (moment->call->exception || sized->batch_size < 2 || !rows)
		return WTI_RULE_NO_CASE;
	if ((double)rows * wti_threshold_real(account, FEWER) >= sized->batch_size)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->object->name,
			    "batches have %llu rows where batch_size is %.0f",
			    (unsigned long long)rows, sized->batch_size);
}

const struct wti_rule wti_rule_data_004 = {
	.code = "WT-DATA-004",
	.severity = WT_WARNING,
	.title = "batches have far fewer rows than the loader was asked for",
	.means = "the collate function drops rows: most of the data is never trained on",
	.hint = "look at collate_fn: does it return all samples that it is given?",
	.definition =
		"Of two consecutive batches of a loader in one epoch, at least one has a tensor "
		"with half of batch_size rows or more. A case is a batch.",
	.innocent = "Batches whose rows are packed, or lie along an axis other than the first.",
	.needs = "no loader with a batch_size gave a batch of tensors",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_STATE,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct sized)}},
	.see = see_size,
	.thresholds = {[SMALL_BATCHES] = {WTI_IN_A_ROW, 2,
					  "the last batch of an epoch is what is left over"},
		       [FEWER] = {"fewer", 2,
				  "times fewer rows: some rows of a batch may be dropped because "
				  "they cannot be read"}},
};

/* ---- WT-DATA-005: the data set is written to ------------------------------------------------ */

enum { ROWS };                        /* thresholds */
enum { OF_RUN, OF_READ, OF_CONTENT }; /* keeps */

struct rewritten {
	uint64_t count; /* rows, of all loaders */
};

/* Of a loader: which begin of all loaders of its process was its last. Of a content: since which of
 * them it is what it is. */
struct epoch {
	uint64_t number;
};

/* Zeros to be filled are the same in every epoch. */
static bool is_of_one_value(const struct wti_digest_row *digest)
{
	return !(digest->flags & WT_TENSOR_NO_STATISTICS) && digest->min == digest->max;
}

static enum wti_answer judge_rewritten(struct wti_case *account, struct rewritten *rewritten,
				       const struct wti_moment *moment)
{
	if (++rewritten->count < wti_threshold(account, ROWS))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "it changes in place what was already changed in an earlier epoch "
			    "(%llu rows)",
			    (unsigned long long)rewritten->count);
}

/* In place, while the loader fetches a batch. */
static enum wti_answer judge_write(struct wti_case *account, struct rewritten *rewritten,
				   const struct wti_moment *moment, struct epoch now)
{
	const struct wti_value_row *before = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(moment->call, true, 0);
	size_t stream = moment->call->stream;
	enum wti_answer answer = WTI_RULE_HELD;
	const struct epoch *then;
	struct epoch *written;

	if (!before || !after || before->digest.hash == after->digest.hash ||
	    (before->digest.flags | after->digest.flags) & WT_TENSOR_NO_HASH ||
	    is_of_one_value(&before->digest))
		return WTI_RULE_NO_CASE;
	then = wti_kept_find_key(account, OF_CONTENT, stream, before->digest.hash);
	if (then && then->number && then->number < now.number)
		answer = judge_rewritten(account, rewritten, moment);
	written = wti_kept_of_key(account, OF_CONTENT, stream, after->digest.hash);
	if (written)
		*written = now;
	return answer;
}

static struct epoch *epoch_of(struct wti_case *account, const struct wti_call *call)
{
	return call->object ? wti_kept_of_key(account, OF_READ, call->stream, call->object) : NULL;
}

/* Each epoch may have a loader of its own. No object is 0. */
static uint64_t next_begin(struct wti_case *account, size_t stream)
{
	struct epoch *begins = wti_kept_of_key(account, OF_READ, stream, 0);

	return begins ? ++begins->number : 0;
}

static enum wti_answer see_written(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct epoch *epoch;

	if (moment->type == WTI_MOMENT_BATCH) {
		epoch = wti_loader_is_begun(moment) ? epoch_of(account, moment->call) : NULL;
		if (epoch)
			epoch->number = next_begin(account, moment->call->stream);
		return WTI_RULE_NO_CASE;
	}
	if (!moment->call->is_in_place || !moment->parent ||
	    moment->parent->tag != WTI_MOMENT_BATCH)
		return WTI_RULE_NO_CASE;
	epoch = epoch_of(account, moment->parent);
	return epoch ? judge_write(account, kept, moment, *epoch) : WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_data_005 = {
	.code = "WT-DATA-005",
	.severity = WT_ERROR,
	.title = "reading the data set changes it",
	.means = "an augmentation writes into the rows that the data set keeps: its effects add "
		 "up from epoch to epoch",
	.hint = "copy the row first: row = self.rows[index].clone()",
	.definition =
		"While a loader fetches a batch, no in-place operation changes a tensor that "
		"still holds what such an operation left in it in an earlier epoch: it would be "
		"changed a second time. Tensors of one value are left out. Three rows are a "
		"violation. A case is an in-place operation while a batch is fetched.",
	.innocent = "Rows that are meant to change from epoch to epoch.",
	.needs = "no in-place operation was recorded while a loader fetched a batch in the "
		 "process that trains",
	.moments = WTI_MOMENT_BATCH | WTI_MOMENT_CALL,
	.keeps = {[OF_RUN] = {WTI_PER_RUN, sizeof(struct rewritten)},
		  [OF_READ] = {WTI_PER_KEY, sizeof(struct epoch)},
		  [OF_CONTENT] = {WTI_PER_KEY, sizeof(struct epoch)}},
	.see = see_written,
	.thresholds = {[ROWS] = {"rows", 3, "single rows may have equal contents"}},
};
