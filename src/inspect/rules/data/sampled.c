/* SPDX-License-Identifier: Apache-2.0 */
/* The sample of rows that a model was given. */
#include <math.h>
#include <string.h>

#include "inspect/training/dtype.h"
#include "sampled.h"

/* A model's own inputs; a loader's rows are not known to be one or the other. */
static struct wti_sampled_model *model_of(struct wti_case *account, const struct wti_moment *moment,
					  uint32_t name)
{
	const struct wti_object *object =
		wti_training_object(moment->training, moment->process->stream, name);

	if (!object || object->type != WT_OBJECT_TYPE_MODULE)
		return NULL;
	return wti_kept_of_object(account, WTI_OF_MODEL, object);
}

static struct wti_input *input_of(struct wti_sampled_model *model, uint32_t name)
{
	for (uint32_t i = 0; i < model->input_count; i++)
		if (model->inputs[i].name == name)
			return &model->inputs[i];
	if (model->input_count == WTI_INPUTS_MAX)
		return NULL;
	model->inputs[model->input_count] = (struct wti_input){.name = name, .epoch = -1};
	return &model->inputs[model->input_count++];
}

/* ---- Repetitions ---------------------------------------------------------------------------- */

static double share(const struct wti_input *input)
{
	return input->trained ? (double)input->repeated / (double)input->trained : 0;
}

static uint32_t bin_of(uint32_t times)
{
	return times < WTI_TIMES_MAX ? times : WTI_TIMES_MAX - 1;
}

/* Each row comes once in an epoch; one that comes again has an equal. Where epochs are not known
 * the run is one. */
static void train_row(struct wti_input *input, struct wti_sampled_count *count, int32_t epoch)
{
	if (input->epoch != epoch) {
		input->rate = fmax(input->rate, share(input));
		input->epoch = epoch;
		input->trained = input->repeated = 0;
		memset(input->contents, 0, sizeof(input->contents));
	}
	if (count->epoch != epoch)
		count->count = 0;
	count->epoch = epoch;
	input->trained++;
	if (count->count)
		input->contents[bin_of(count->count)]--;
	input->contents[bin_of(count->count + 1)]++;
	if (++count->count > 1)
		input->repeated += count->count == 2 ? 2 : 1; /* the first as well */
	if (!count->is_learned) {
		input->learned++;
		input->looked_at += count->is_looked_at;
	}
	count->is_learned = true;
	if (count->is_held_out && !count->is_given_away)
		input->given_away++;
	count->is_given_away = count->is_held_out;
}

bool wti_input_is_chosen(const struct wti_input *input, uint64_t all_but)
{
	return input->learned && (input->learned - input->looked_at) * all_but <= input->learned;
}

/* What a model was given before all training was not held out from anything. */
static void evaluate_row(struct wti_input *input, struct wti_sampled_count *count, bool is_trained,
			 bool is_model_trained)
{
	if (!input->all.rows && !input->call.rows) {
		memcpy(input->settled, input->contents, sizeof(input->settled));
		input->settled_rows = input->trained;
		input->settled_learned = input->learned;
	}
	input->call.rows++;
	input->call.seen += is_trained;
	input->call.held_out += is_trained && count->is_held_out;
	input->call.new += is_trained && !count->is_evaluated;
	count->is_evaluated = true;
	if (is_trained && count->epoch == input->epoch)
		input->call.seen_at[bin_of(count->count)]++;
	if (is_trained)
		return;
	count->is_looked_at = true;
	if (!is_model_trained || count->is_held_out)
		return;
	count->is_held_out = true;
	input->held_out++;
}

/* The deviation is that of both samples. */
bool wti_input_exceeds(const struct wti_input *input, uint64_t found, uint64_t among,
		       double deviations)
{
	double rate = fmax(input->rate, share(input)), rows = (double)among;
	double deviation;

	if (input->is_continuous)
		rate = 0;
	deviation = sqrt(rows * rate * (1 - rate) * (1 + rows / fmax((double)input->trained, 1)));
	return (double)found > rows * rate + deviations * deviation;
}

/* ---- Copies --------------------------------------------------------------------------------- */

static uint64_t sum(const uint32_t *counts, uint32_t from, uint32_t to, bool is_weighed)
{
	uint64_t total = 0;

	for (uint32_t i = from; i <= to; i++)
		total += is_weighed ? (uint64_t)counts[i] * i : counts[i];
	return total;
}

/*
 * Many contents that come `from` times or more, hardly any that come a few times, and as many or
 * more that come once: rows that were multiplied beside rows that were not. Contents that repeat by
 * themselves come a few times more often than many times.
 */
static bool is_set_apart(const struct wti_input *input, const struct wti_copying *copying,
			 uint32_t from, uint32_t to)
{
	uint64_t many = sum(input->settled, from, to, false);
	uint64_t few = sum(input->settled, 2, from - 1, false);
	uint64_t all = sum(input->settled, 1, WTI_TIMES_MAX - 1, false);

	return many >= copying->contents && few * copying->fewer <= many &&
	       many * copying->one_in >= all && input->settled[1] >= many;
}

/*
 * Where contents are drawn, whatever their distribution, k! times the number of those that come k
 * times are moments, of which the square of one is not more than the product of its neighbours. So
 * pairs come with triples. Copies do not: beyond two standard deviations below what is expected.
 */
static bool ends_at(const struct wti_input *input, uint32_t times, double deviations)
{
	double less = fmax(input->settled[times - 1], 1), at = input->settled[times];
	double more = input->settled[times + 1];
	double expected = at * at / less * times / (times + 1);
	double deviation = at ? expected * sqrt(4 / at + 1 / less) : 0;

	return more + deviations * sqrt(more + 1) < expected - 2 * deviation;
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* The last of WTI_TIMES_MAX stands for more, so it has no known neighbour. */
bool wti_input_is_copied(const struct wti_input *input, const struct wti_copying *copying)
{
	const struct wti_sampled_tally *all = &input->all;
	uint64_t repeated = sum(input->settled, 2, WTI_TIMES_MAX - 1, true);
	uint32_t several = smaller(copying->several > 1 ? copying->several : 2, WTI_TIMES_MAX - 1);

	if (input->epoch < 0 || !input->settled_rows)
		return false; /* each epoch is a copy */
	for (uint32_t from = several; from < WTI_TIMES_MAX / 2; from *= 2) {
		uint32_t to = smaller(from * 4 - 1, WTI_TIMES_MAX - 2);
		uint64_t seen = sum(all->seen_at, from, to, false);
		uint64_t rows = sum(input->settled, from, to, true);

		if (is_set_apart(input, copying, from, to) &&
		    seen * 2 * input->settled_rows >= rows * all->rows)
			return true;
	}
	for (uint32_t times = 2; times < several; times++)
		if (ends_at(input, times, copying->deviations) &&
		    all->seen * 2 * input->settled_rows >= repeated * all->rows)
			return true;
	return false;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, uint64_t with)
{
	return (hash ^ with) * 0x9e3779b97f4a7c15u;
}

/* What was kept of a content; made in the input in which it is first seen. */
static struct wti_sampled_content *know_content(struct wti_sampled_content *content,
						struct wti_sampled_model *model,
						const struct wti_input *input)
{
	if (content && !content->is_known) {
		model->content_count++;
		*content = (struct wti_sampled_content){.is_known = true, .input = input->name};
	}
	return content;
}

static void take_content(struct wti_sampled_model *model, struct wti_input *input,
			 struct wti_sampled_content *content, struct wti_sampled_count *count,
			 const struct wti_moment *moment)
{
	if (wti_is_training_call(moment->call)) {
		model->is_trained = true;
		train_row(input, count, (int32_t)moment->scope.epoch);
		content->is_trained = true;
	} else {
		evaluate_row(input, count, content->is_trained, model->is_trained);
	}
}

static struct wti_sampled_model *take_row(struct wti_case *account, const struct wti_moment *moment)
{
	struct wti_symbols *symbols = moment->training->symbols;
	uint32_t owner = wti_symbol_of(symbols, moment->event, WT_ROW_FIELD_OWNER);
	uint64_t key = mixed(wt_event_u64(moment->event, WT_ROW_FIELD_HASH), owner);
	struct wti_sampled_model *model = model_of(account, moment, owner);
	size_t stream = moment->process->stream;
	struct wti_sampled_content *content;
	struct wti_sampled_count *count;
	struct wti_input *input;

	if (!model || !moment->call ||
	    (!wti_is_training_call(moment->call) && !wti_is_evaluation_call(moment->call)))
		return NULL;
	input = input_of(model, wti_symbol_of(symbols, moment->event, WT_ROW_FIELD_NAME));
	if (!input)
		return NULL;
	content = know_content(wti_kept_of_key(account, WTI_OF_CONTENT, stream, key), model, input);
	if (!content)
		return NULL;
	count = content->input == input->name
			? &content->count
			: wti_kept_of_key(account, WTI_OF_COUNT, stream, mixed(key, input->name));
	if (!count)
		return NULL;
	take_content(model, input, content, count, moment);
	return model;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

enum { EXACT_BITS = 30 }; /* of the 53 of a sum: adding up many elements costs the others */

static bool is_whole(double value)
{
	return fabs(value - round(value)) <= ldexp(fmax(1, fabs(value)), -EXACT_BITS);
}

/* Integers, also as floats: classes, counts, one-hot rows, masks. */
static bool is_of_integers(const struct wti_digest_row *digest)
{
	if (wti_dtype_is_whole(digest->dtype))
		return true;
	return is_whole(digest->min) && is_whole(digest->max) &&
	       (digest->inf || is_whole(digest->mean * (double)digest->count));
}

static void take_numbers(struct wti_sampled_model *model, const struct wti_call *call)
{
	const struct wti_value_row *value = NULL;

	while ((value = wti_call_next_tensor(call, false, value)))
		for (uint32_t i = 0; i < model->input_count; i++)
			model->inputs[i].is_continuous |=
				model->inputs[i].name == value->name &&
				!(value->digest.flags & WT_TENSOR_NO_STATISTICS) &&
				!is_of_integers(&value->digest);
}

struct wti_sampled_model *wti_sampled_take(struct wti_case *account,
					   const struct wti_moment *moment)
{
	struct wti_sampled_model *model;

	if (moment->type == WTI_MOMENT_ROW)
		return take_row(account, moment);
	if (!(moment->call->flags & WT_CALL_OUTERMOST))
		return NULL;
	model = wti_kept(account, WTI_OF_MODEL, moment);
	if (model)
		take_numbers(model, moment->call);
	return model;
}

/* ---- Models beside each other --------------------------------------------------------------- */

/* Another model has been trained in two steps or more since this one was for the last time. */
static bool serves_another(struct wti_case *account, const struct wti_sampled_turn *turn,
			   const struct wti_moment *moment)
{
	size_t stream = moment->process->stream, place = 0;
	const struct wti_sampled_model *other;

	while ((other = wti_kept_next(account, WTI_OF_MODEL, stream, &place)))
		if (other->turn.earlier_step > turn->last_step &&
		    wti_model_is_trained(moment->training, stream, other->turn.name))
			return true;
	return false;
}

void wti_sampled_turn(struct wti_case *account, struct wti_sampled_model *model,
		      const struct wti_moment *moment)
{
	struct wti_sampled_turn *turn = &model->turn;
	uint64_t step = moment->process->step_count + 1;

	if (wti_is_evaluation_call(moment->call))
		turn->is_teacher |= serves_another(account, turn, moment);
	if (!wti_is_training_call(moment->call))
		return;
	if (turn->last_step != step)
		turn->earlier_step = turn->last_step;
	turn->last_step = step;
	turn->name = moment->object->name;
	turn->is_teacher = false;
}

/* ---- Evaluations ---------------------------------------------------------------------------- */

void wti_tally_add(struct wti_sampled_tally *to, const struct wti_sampled_tally *from)
{
	to->rows += from->rows;
	to->seen += from->seen;
	to->held_out += from->held_out;
	to->new += from->new;
	for (uint32_t i = 0; i < WTI_TIMES_MAX; i++)
		to->seen_at[i] += from->seen_at[i];
}

void wti_sampled_keep_call(struct wti_sampled_model *model, bool is_kept)
{
	for (uint32_t i = 0; i < model->input_count; i++) {
		struct wti_input *input = &model->inputs[i];

		if (is_kept)
			wti_tally_add(&input->all, &input->call);
		input->call = (struct wti_sampled_tally){0};
	}
}

bool wti_tally_is_most(const struct wti_sampled_tally *tally, uint64_t all_but)
{
	return (tally->rows - tally->seen) * all_but <= tally->rows;
}

const struct wti_input *wti_input_least_seen(const struct wti_sampled_model *model)
{
	const struct wti_input *least = NULL;

	for (uint32_t i = 0; i < model->input_count; i++) {
		const struct wti_input *input = &model->inputs[i];

		if (!input->all.rows)
			continue;
		if (!least || input->all.seen * least->all.rows < least->all.seen * input->all.rows)
			least = input;
	}
	return least;
}

struct wti_last_call wti_last_call_of(const struct wti_moment *moment)
{
	return (struct wti_last_call){moment->object->name, wti_moment_call(moment)};
}

struct wti_moment wti_at_last_call(struct wti_moment moment, const struct wti_last_call *last)
{
	moment.scope = last->call.scope;
	moment.call = &last->call;
	return moment;
}
