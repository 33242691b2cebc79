/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data: what loaders give and what models are given. Occasions are a batch and the input of a
 * model: its contents, whether it is another one than the last, than the one at the same place of
 * the epoch before, and than that of the other ranks; and each row whose hash is kept: whether it
 * is new.
 */
#include <math.h>
#include <string.h>

#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"
#include "inspect/training/compare.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	BATCH, TRAINED_INPUT, EVALUATED_INPUT, FIRST_LAYER_INPUT, BATCH_ROW, INPUT_ROW, DATASET,
	/* the second of a subject */
	RANKS, EPOCHS, THOSE_BEFORE,
	/* facts */
	DIFFERS_ON_EACH_RANK, DIFFERS_FROM_LAST, DIFFERS_FROM_EPOCH_BEFORE, IS_IN_TRAINED_RANGE,
	IS_NOT_MUCH_NARROWER_THAN_TRAINED, IS_NEW_LIKE_ALL_BEFORE, STAYS_WHILE_ROWS_ARE_READ,
	IS_NEW_IN_EPOCH, IS_OF_ONE_STAGE,
};

static const char *const calls_of_dataset[] = {"torch.Tensor.__getitem__", NULL};

static const struct wti_term terms[] = {
	[BATCH] = {"batch", "batch"},
	[TRAINED_INPUT] = {"trained_input", "trained input"},
	[EVALUATED_INPUT] = {"evaluated_input", "evaluated input"},
	[FIRST_LAYER_INPUT] = {"first_layer_input", "input of a first layer"},
	[BATCH_ROW] = {"batch_row", "row of a batch"},
	[INPUT_ROW] = {"input_row", "row of an input"},
	[DATASET] = {"dataset", "dataset", .calls = calls_of_dataset},
	[RANKS] = {"ranks", "ranks"},
	[EPOCHS] = {"epochs", "epochs"},
	[THOSE_BEFORE] = {"those_before", "those before"},
	[DIFFERS_ON_EACH_RANK] = {"differs_on_each_rank", "differs on each rank", WTI_TOPIC_REPETITION},
	[DIFFERS_FROM_LAST] = {"differs_from_last", "differs from the last", WTI_TOPIC_REPETITION},
	[DIFFERS_FROM_EPOCH_BEFORE] = {"differs_from_epoch_before", "differs from that of the epoch before", WTI_TOPIC_REPETITION},
	[IS_IN_TRAINED_RANGE] = {"is_in_trained_range", "is in the range of the trained", WTI_TOPIC_CONTENTS},
	[IS_NOT_MUCH_NARROWER_THAN_TRAINED] = {"is_not_much_narrower_than_trained", "is not much narrower than the trained", WTI_TOPIC_CONTENTS},
	[IS_NEW_LIKE_ALL_BEFORE] = {"is_new_like_all_before", "is new, as all before it were"},
	[STAYS_WHILE_ROWS_ARE_READ] = {"stays_while_rows_are_read", "stays as it is while rows are read"},
	[IS_NEW_IN_EPOCH] = {"is_new_in_epoch", "is new in its epoch", WTI_TOPIC_REPETITION},
	[IS_OF_ONE_STAGE] = {"is_of_one_stage", "is of one stage only"},
	{0},
};
/* clang-format on */

enum { ROWS_MAX = 1 << 18, STEPS_APART = 16, EPOCH_KEPT = 8, INPUTS_BEFORE = 8, ROWS_LEAST = 8 };

struct source {        /* a loader, or a model in one of its modes */
	bool is_known; /* a loader that has begun once */
	uint64_t last;
	bool has_last;
	uint64_t ordinal; /* of the run */
	uint32_t place;   /* in the epoch */
	uint64_t before[EPOCH_KEPT], now[EPOCH_KEPT];
	uint32_t before_count;
	double low, high; /* of everything */
};

struct compared {
	struct {
		uint64_t ordinal; /* plus one */
		int32_t rank;
		uint64_t hash;
	} at[STEPS_APART];
};

struct inputs { /* of a process: what is trained on */
	uint64_t count;
	bool is_over; /* one has come again: that others do says nothing more */
};

struct held { /* what a line takes rows of a dataset from */
	uint64_t hash;
	bool is_set;
};

enum memory {
	SOURCES,  /* by subject and name */
	MAKERS,   /* by line: the last loader made there, a symbol */
	INPUTS,   /* of a process */
	DATASETS, /* by line and shape */
	BY_RANKS, /* by subject */
	MODELS,   /* of a process: the last call of a model whose first layer was seen */
};

struct state {
	struct wti_map trained; /* hash and stream of an input: the step, plus two */
	struct wti_map rows;    /* hash of a row, its owner and stream: stage and epoch */
	bool is_ready;
};

/* ---- Batches and inputs --------------------------------------------------------------------- */

/* -1: nothing to compare with yet. */
static int differs_on_ranks(struct wti_scene *scene, const struct wti_moment *moment,
			    enum term subject, uint64_t ordinal, uint64_t hash)
{
	struct compared *compared;
	size_t place = ordinal % STEPS_APART;

	if (moment->scope.world < 2)
		return -1;
	compared = wti_recall_of_key(scene, BY_RANKS, WTI_ALL_RANKS, subject);
	if (!compared)
		return -1;
	if (compared->at[place].ordinal < ordinal + 1) {
		compared->at[place].ordinal = ordinal + 1;
		compared->at[place].rank = moment->scope.rank;
		compared->at[place].hash = hash;
		return -1;
	}
	if (compared->at[place].ordinal > ordinal + 1 ||
	    compared->at[place].rank == moment->scope.rank)
		return -1;
	return compared->at[place].hash != hash;
}

static void report_ranks(struct wti_scene *scene, const struct wti_moment *moment,
			 enum term subject, uint64_t ordinal, uint64_t hash)
{
	int differs = differs_on_ranks(scene, moment, subject, ordinal, hash);

	if (differs < 0)
		return;
	wti_occasion_of_term(scene, &wti_relation_data, moment, subject, RANKS);
	if (differs)
		wti_say_term(scene, DIFFERS_ON_EACH_RANK);
	wti_report(scene);
}

/* The class of the sampler that gives a loader its indices. */
static uint32_t sampler_of(const struct wti_scene *scene, const struct wti_moment *moment)
{
	for (size_t i = 0; moment->object && i < scene->training->objects.count; i++) {
		const struct wti_object *sampler = wti_object_at(scene->training, i);

		if (sampler->stream == moment->process->stream &&
		    sampler->type == WT_OBJECT_TYPE_SAMPLER && sampler->of == moment->object->name)
			return sampler->class_name;
	}
	return 0;
}

/* The same order in every epoch is what such a sampler is for. */
static bool is_sequential(const struct wti_scene *scene, uint32_t sampler)
{
	return !sampler || strstr(wti_symbol_text(scene->symbols, sampler), "Sequential");
}

static void report_batch(struct wti_scene *scene, const struct wti_moment *moment,
			 const struct source *source, const struct wti_value_row *value,
			 enum term subject)
{
	struct wti_value_row row = *value;
	uint64_t hash = value->digest.hash;

	row.name = 0;
	row.position = 1;
	wti_occasion_of_term(scene, &wti_relation_data, moment, subject, WTI_NO_TERM);
	wti_occasion_word(scene, WTI_FEATURE_DTYPE, wti_scene_dtype(scene, value->digest.dtype));
	wti_occasion_word(scene, WTI_FEATURE_OTHER, sampler_of(scene, moment));
	wti_say_tensor(scene, &row, true);
	if (!source->has_last || source->last != hash)
		wti_say_term(scene, DIFFERS_FROM_LAST);
	wti_report(scene);
	if (!source->has_last || source->place >= source->before_count ||
	    is_sequential(scene, sampler_of(scene, moment)))
		return;
	wti_occasion_of_term(scene, &wti_relation_data, moment, subject, EPOCHS);
	wti_occasion_word(scene, WTI_FEATURE_OTHER, sampler_of(scene, moment));
	if (source->before[source->place] != hash)
		wti_say_term(scene, DIFFERS_FROM_EPOCH_BEFORE);
	wti_report(scene);
}

static struct source *source_of(struct wti_scene *scene, const struct wti_moment *moment,
				enum term subject, uint32_t name)
{
	return wti_recall_of_key(scene, SOURCES, moment->process->stream,
				 (uint64_t)subject << 32 | name);
}

/* A loader that is made anew for each epoch goes on where the one of the same line was. */
static void inherit(struct wti_scene *scene, const struct wti_moment *moment, struct source *source,
		    enum term subject)
{
	uint32_t *last =
		wti_recall_of_key(scene, MAKERS, moment->process->stream, moment->object->site);
	const struct source *before;

	if (!last || !moment->object->site)
		return;
	before = *last && *last != moment->object->name ? source_of(scene, moment, subject, *last)
							: NULL;
	if (before && !source->is_known) {
		memcpy(source->now, before->now, sizeof(source->now));
		source->place = before->place;
		source->last = before->last;
		source->has_last = before->has_last;
	}
	*last = moment->object->name;
	source->is_known = true;
}

static void begin_epoch(struct source *source)
{
	memcpy(source->before, source->now, sizeof(source->before));
	source->before_count = source->place < EPOCH_KEPT ? source->place : EPOCH_KEPT;
	source->place = 0;
}

static void see_tensor(struct wti_scene *scene, const struct wti_moment *moment,
		       const struct wti_value_row *value, enum term subject, uint32_t name)
{
	struct source *source;

	if (!value || value->digest.flags & WT_TENSOR_NO_HASH || value->digest.count < 2)
		return;
	source = source_of(scene, moment, subject, name);
	if (!source)
		return;
	report_batch(scene, moment, source, value, subject);
	report_ranks(scene, moment, subject, source->ordinal, value->digest.hash);
	if (source->place < EPOCH_KEPT)
		source->now[source->place] = value->digest.hash;
	source->place++;
	source->ordinal++;
	source->last = value->digest.hash;
	source->has_last = true;
	source->low = fmin(source->low, value->digest.min);
	source->high = fmax(source->high, value->digest.max);
}

/* What is evaluated lies within what was trained on, by half its width on either side. */
static void report_range(struct wti_scene *scene, const struct wti_moment *moment,
			 const struct wti_value_row *value)
{
	const struct source *source = source_of(scene, moment, TRAINED_INPUT, moment->call->object);
	double width;

	if (!value || !source || !source->has_last || value->digest.flags & WT_TENSOR_NO_STATISTICS)
		return;
	width = source->high - source->low;
	wti_occasion_of_term(scene, &wti_relation_data, moment, EVALUATED_INPUT, WTI_NO_TERM);
	if (value->digest.min >= source->low - width / 2 &&
	    value->digest.max <= source->high + width / 2)
		wti_say_term(scene, IS_IN_TRAINED_RANGE);
	if (value->digest.max - value->digest.min >= width / 8)
		wti_say_term(scene, IS_NOT_MUCH_NARROWER_THAN_TRAINED);
	wti_report(scene);
}

/*
 * Where no input of training has come twice, none does later on either: a new order for each
 * epoch, or data that never ends. Once one has come again nothing more is reported.
 */
static void report_new(struct wti_scene *scene, struct state *state,
		       const struct wti_moment *moment, const struct wti_value_row *value)
{
	struct inputs *inputs = wti_recall(scene, INPUTS, moment);
	uint64_t now = (uint64_t)moment->scope.step + 2;
	uint64_t *when;

	if (!inputs || inputs->is_over || !value || value->digest.flags & WT_TENSOR_NO_HASH ||
	    value->digest.count < 2 || !(moment->call->flags & WT_CALL_GRAD))
		return;
	when = wti_map_number(&state->trained,
			      value->digest.hash ^ (uint64_t)moment->process->stream << 56);
	if (!when)
		return;
	inputs->is_over = *when && *when != now;
	if (inputs->count++ >= INPUTS_BEFORE) {
		wti_occasion_of_term(scene, &wti_relation_data, moment, TRAINED_INPUT,
				     THOSE_BEFORE);
		if (!inputs->is_over)
			wti_say_term(scene, IS_NEW_LIKE_ALL_BEFORE);
		wti_report(scene);
	}
	*when = now;
}

/* Rows are taken from something that stays as it is: reading does not write. */
static void report_dataset(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *from = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *row = wti_call_tensor(moment->call, true, 0);
	struct held *held;

	if (!from || !row || from->digest.flags & WT_TENSOR_NO_HASH ||
	    from->digest.count < ROWS_LEAST * row->digest.count)
		return;
	held = wti_recall_of_key(scene, DATASETS, moment->process->stream,
				 (uint64_t)moment->call->site << 32 | from->digest.shape);
	if (!held)
		return;
	if (held->is_set) {
		wti_occasion_of_term(scene, &wti_relation_data, moment, DATASET, WTI_NO_TERM);
		if (held->hash == from->digest.hash)
			wti_say_term(scene, STAYS_WHILE_ROWS_ARE_READ);
		wti_report(scene);
	}
	*held = (struct held){from->digest.hash, true};
}

/* What the first layer of a model gets, after all that the model does with its input. */
static void see_layer(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_value_row *value = wti_call_tensor(moment->call, false, 0);
	struct wti_value_row row;
	uint64_t *last;

	if (!value || !moment->parent || !(moment->parent->flags & WT_CALL_OUTERMOST) ||
	    !(moment->call->flags & WT_CALL_TRAIN))
		return;
	last = wti_recall(scene, MODELS, moment);
	if (!last || *last == moment->parent->ordinal + 1)
		return;
	*last = moment->parent->ordinal + 1;
	row = *value;
	row.name = 0;
	row.position = 1;
	wti_occasion_of_term(scene, &wti_relation_data, moment, FIRST_LAYER_INPUT, WTI_NO_TERM);
	wti_occasion_word(scene, WTI_FEATURE_DTYPE, wti_scene_dtype(scene, value->digest.dtype));
	wti_say_tensor(scene, &row, true);
	wti_report(scene);
}

static void see_call(struct wti_scene *scene, struct state *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	bool trains = call->flags & WT_CALL_TRAIN;

	if (call->exception)
		return;
	if (call->what == WTI_CALLEE_INDEX &&
	    wti_is_within(scene, moment, scene->words[WTI_WORD_LOADER_NEXT]))
		report_dataset(scene, moment);
	if (!(call->flags & WT_CALL_OUTERMOST)) {
		if (call->flags & WT_CALL_MODE_KNOWN)
			see_layer(scene, moment);
		return;
	}
	if (trains) {
		report_new(scene, state, moment, wti_call_tensor(call, false, 0));
		see_tensor(scene, moment, wti_call_tensor(call, false, 0), TRAINED_INPUT,
			   call->object);
	} else {
		report_range(scene, moment, wti_call_tensor(call, false, 0));
	}
}

static void see_batch(struct wti_scene *scene, const struct wti_moment *moment)
{
	const char *callee = wti_symbol_text(scene->symbols, moment->call->callee);
	struct source *source;

	if (!moment->object)
		return;
	if (strstr(callee, "__iter__")) {
		source = source_of(scene, moment, BATCH, moment->object->name);
		if (!source)
			return;
		inherit(scene, moment, source, BATCH);
		begin_epoch(source);
	} else if (!moment->call->exception) {
		see_tensor(scene, moment, wti_call_tensor(moment->call, true, 0), BATCH,
			   moment->object->name);
	}
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* Stage and epoch in which a row was seen last. */
static uint64_t when_of(const struct wti_moment *moment)
{
	return ((uint64_t)moment->scope.stage + 1) << 32 | (uint32_t)(moment->scope.epoch + 1);
}

static void see_row(struct wti_scene *scene, struct state *state, const struct wti_moment *moment)
{
	uint64_t hash = wt_event_u64(moment->event, WT_ROW_FIELD_HASH);
	uint32_t owner = wti_symbol_of(scene->symbols, moment->event, WT_ROW_FIELD_OWNER);
	const struct wti_object *object =
		wti_training_object(scene->training, moment->process->stream, owner);
	bool is_loader = object && object->type == WT_OBJECT_TYPE_LOADER;
	uint64_t key = hash ^ (uint64_t)owner << 40 ^ (uint64_t)moment->process->stream << 60;
	uint64_t now = when_of(moment);
	uint64_t *seen;

	seen = wti_map_number(&state->rows, key);
	if (!seen)
		return;
	wti_occasion_of_term(scene, &wti_relation_data, moment, is_loader ? BATCH_ROW : INPUT_ROW,
			     WTI_NO_TERM);
	if (!*seen || *seen != now)
		wti_say_term(scene, IS_NEW_IN_EPOCH);
	if (!*seen || *seen >> 32 == now >> 32)
		wti_say_term(scene, IS_OF_ONE_STAGE);
	wti_report(scene);
	*seen = now;
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct state *state = opaque;

	if (!state->is_ready) {
		wti_map_init(&state->rows, ROWS_MAX);
		wti_map_init(&state->trained, ROWS_MAX);
	}
	state->is_ready = true;
	switch (moment->type) {
	case WTI_MOMENT_ROW:
		see_row(scene, opaque, moment);
		break;
	case WTI_MOMENT_BATCH:
		see_batch(scene, moment);
		break;
	default:
		see_call(scene, opaque, moment);
	}
}

static void release(void *opaque)
{
	struct state *state = opaque;

	wti_map_release(&state->trained);
	wti_map_release(&state->rows);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->a_term == WTI_NO_TERM) {
		wti_buf_printf(out, "of each %s, ", words->subject[0]);
		wti_describe_fact(out, words);
	} else {
		wti_buf_printf(out, "each %s %s", words->subject[0], words->a);
	}
}

/* What a row, a batch or an input is like. Its type is no chance, nor is a dataset that stays. */
static bool is_of_chance(const struct wti_words *words)
{
	return words->a_term == WTI_NO_TERM ? wti_chance_by_field(words)
					    : words->subject_term[0] != DATASET;
}

const struct wti_relation wti_relation_data = {
	.name = "data",
	.code = "WT-LEARN-DATA",
	.title = "unusual data",
	.definition = "hypothesis: a batch, or what a model is given in training, has certain "
		      "types and contents, differs from "
		      "the last, from that at the same place of the epoch before, and from those "
		      "of the other ranks; a row "
		      "comes once in an epoch and in one stage only; where no input has come "
		      "twice none does later; what rows are taken from stays as it is; what is "
		      "evaluated lies in the "
		      "range of what was trained "
		      "on. For and against: each batch, each input of a model, each row of which "
		      "the hash is kept.",
	.means = "data is repeated, shared between ranks or stages, or spoiled on its way into the "
		 "model",
	.hint = "look at samplers, seeds, worker_init_fn, the collate function and the transforms",
	.innocent = "full-batch training, oversampling, overfitting one batch on purpose",
	.needs = "no batch or input in these circumstances",
	.measures = WTI_NEEDS_DATA | WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_BATCH | WTI_MOMENT_ROW,
	.features = 1u << WTI_FEATURE_DTYPE | 1u << WTI_FEATURE_OTHER | 1u << WTI_FEATURE_WRAPPER |
		    1u << WTI_FEATURE_STAGE,
	.keeps = {[SOURCES] = {WTI_PER_KEY, sizeof(struct source)},
		  [MAKERS] = {WTI_PER_KEY, sizeof(uint32_t)},
		  [INPUTS] = {WTI_PER_PROCESS, sizeof(struct inputs)},
		  [DATASETS] = {WTI_PER_KEY, sizeof(struct held)},
		  [BY_RANKS] = {WTI_PER_KEY, sizeof(struct compared)},
		  [MODELS] = {WTI_PER_PROCESS, sizeof(uint64_t)}},
	.state_bytes = sizeof(struct state),
	.terms = terms,
	.see = see,
	.release = release,
	.describe = describe,
	.kind_of = wti_kind_by_fact,
	.is_of_chance = is_of_chance,
};
