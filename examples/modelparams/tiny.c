/* SPDX-License-Identifier: Apache-2.0 */
/* Forward, backward and Adam by hand; sums always in the same order. */
#include "tiny.h"

#include <math.h>
#include <string.h>

#include <wheeltap/wheeltap.h>

#define BATCH 16u
#define RATE 0.01f
#define MEAN_DECAY 0.9f
#define SQUARE_DECAY 0.999f
#define TINY_DIVISOR 1e-8f

enum stream { STREAM_WEIGHTS, STREAM_ORDER };

static uint64_t mix(uint64_t number)
{
	uint64_t z = number + 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t random_at(uint64_t seed, enum stream stream, uint64_t counter)
{
	return mix(mix(mix(seed) ^ (uint64_t)stream) ^ counter);
}

void tiny_shape(struct tiny *tiny, size_t inputs, size_t hidden, size_t outputs)
{
	const struct tiny_parameter rows[TINY_PARAMETERS] = {
		{"linear1.weight", 2, {inputs, hidden}, 0, inputs * hidden},
		{"linear1.bias", 1, {hidden, 1}, 0, hidden},
		{"linear2.weight", 2, {hidden, outputs}, 0, hidden * outputs},
		{"linear2.bias", 1, {outputs, 1}, 0, outputs},
	};

	*tiny = (struct tiny){.inputs = inputs, .hidden = hidden, .outputs = outputs};
	for (size_t i = 0; i < TINY_PARAMETERS; i++) {
		tiny->parameters[i] = rows[i];
		tiny->parameters[i].first = tiny->count;
		tiny->count += rows[i].count;
	}
}

/* Uniform, as wide as one over the root of the inputs of the layer. */
void tiny_init(struct tiny *tiny, uint64_t seed)
{
	for (size_t p = 0; p < TINY_PARAMETERS; p++) {
		const struct tiny_parameter *parameter = &tiny->parameters[p];
		double bound = 1 / sqrt((double)(p < 2 ? tiny->inputs : tiny->hidden));

		for (size_t i = 0; i < parameter->count; i++) {
			uint64_t bits = random_at(seed, STREAM_WEIGHTS, parameter->first + i);
			double unit = (double)(bits >> 11) * 0x1p-53;

			tiny->numbers[parameter->first + i] = (float)((2 * unit - 1) * bound);
		}
	}
}

/* ---- One row --------------------------------------------------------------------------------- */

struct pass {
	float hidden[TINY_HIDDEN];
	float outputs[CSV_CLASSES_MAX]; /* then their softmax */
};

static void linear(const float *w, const float *b, size_t in, size_t out, const float *x, float *y)
{
	for (size_t o = 0; o < out; o++)
		y[o] = b[o];
	for (size_t i = 0; i < in; i++) {
		for (size_t o = 0; o < out; o++)
			y[o] += x[i] * w[i * out + o];
	}
}

static void forward(const struct tiny *tiny, const float *x, struct pass *pass)
{
	const struct tiny_parameter *p = tiny->parameters;
	const float *n = tiny->numbers;

	linear(n + p[0].first, n + p[1].first, tiny->inputs, tiny->hidden, x, pass->hidden);
	for (size_t i = 0; i < tiny->hidden; i++)
		pass->hidden[i] = pass->hidden[i] > 0 ? pass->hidden[i] : 0;
	linear(n + p[2].first, n + p[3].first, tiny->hidden, tiny->outputs, pass->hidden,
	       pass->outputs);
}

static void softmax(float *values, size_t count)
{
	float largest = values[0], sum = 0;

	for (size_t i = 1; i < count; i++)
		largest = values[i] > largest ? values[i] : largest;
	for (size_t i = 0; i < count; i++)
		sum += values[i] = expf(values[i] - largest);
	for (size_t i = 0; i < count; i++)
		values[i] /= sum;
}

/*
 * The target of each output. The ancestor's loss took the label itself, 0, 1 or 2, for the
 * probability of every class, which is least where all answers are the same.
 */
static float target(bool ancestor, size_t output, unsigned label)
{
	return ancestor ? (float)label : output == label ? 1 : 0;
}

/* Adds the gradient of one row; its loss. */
static double backward(const struct tiny *tiny, const float *x, unsigned label, bool ancestor,
		       struct pass *pass, float *gradient)
{
	const struct tiny_parameter *p = tiny->parameters;
	float delta[CSV_CLASSES_MAX], back[TINY_HIDDEN] = {0}, total = 0;
	double loss = 0;

	softmax(pass->outputs, tiny->outputs);
	for (size_t o = 0; o < tiny->outputs; o++)
		total += target(ancestor, o, label);
	for (size_t o = 0; o < tiny->outputs; o++) {
		float wanted = target(ancestor, o, label);

		loss -= (double)wanted * log((double)pass->outputs[o] + 1e-30);
		delta[o] = total * pass->outputs[o] - wanted;
		gradient[p[3].first + o] += delta[o];
	}
	for (size_t i = 0; i < tiny->hidden; i++) {
		for (size_t o = 0; o < tiny->outputs; o++) {
			size_t at = p[2].first + i * tiny->outputs + o;

			gradient[at] += pass->hidden[i] * delta[o];
			back[i] += tiny->numbers[at] * delta[o];
		}
		back[i] = pass->hidden[i] > 0 ? back[i] : 0;
		gradient[p[1].first + i] += back[i];
	}
	for (size_t i = 0; i < tiny->inputs; i++) {
		for (size_t h = 0; h < tiny->hidden; h++)
			gradient[p[0].first + i * tiny->hidden + h] += x[i] * back[h];
	}
	return loss;
}

/* ---- Training -------------------------------------------------------------------------------- */

static void adam(struct tiny *tiny, struct tiny_trainer *trainer, const float *gradient)
{
	float t = (float)++trainer->steps;
	float mean_correction = 1 - powf(MEAN_DECAY, t),
	      square_correction = 1 - powf(SQUARE_DECAY, t);

	for (size_t i = 0; i < tiny->count; i++) {
		float g = gradient[i];

		trainer->mean[i] = MEAN_DECAY * trainer->mean[i] + (1 - MEAN_DECAY) * g;
		trainer->square[i] = SQUARE_DECAY * trainer->square[i] + (1 - SQUARE_DECAY) * g * g;
		tiny->numbers[i] -= RATE * (trainer->mean[i] / mean_correction) /
				    (sqrtf(trainer->square[i] / square_correction) + TINY_DIVISOR);
	}
}

static void shuffle(const struct tiny_trainer *trainer, size_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t counter = trainer->epoch * CSV_ROWS_MAX + i;
		size_t j = random_at(trainer->seed, STREAM_ORDER, counter) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

/* One batch; the sum of its losses. */
static double step(struct tiny *tiny, struct tiny_trainer *trainer, const struct csv *data,
		   const size_t *order, size_t count, bool ancestor)
{
	float gradient[TINY_NUMBERS_MAX] = {0};
	struct pass pass;
	double loss = 0;

	for (size_t i = 0; i < count; i++) {
		const float *x = data->rows[order[i]];

		forward(tiny, x, &pass);
		loss += backward(tiny, x, data->labels[order[i]], ancestor, &pass, gradient);
	}
	for (size_t i = 0; i < tiny->count; i++)
		gradient[i] /= (float)count;
	adam(tiny, trainer, gradient);
	return loss;
}

void tiny_train(struct tiny *tiny, struct tiny_trainer *trainer, const struct csv *data,
		uint64_t epochs, bool ancestor, double *losses)
{
	size_t order[CSV_ROWS_MAX];

	for (uint64_t e = 0; e < epochs; e++) {
		double sum = 0;

		wt_epoch((int64_t)trainer->epoch);
		shuffle(trainer, order, data->count);
		for (size_t i = 0; i < data->count; i += BATCH) {
			size_t count = data->count - i < BATCH ? data->count - i : BATCH;

			wt_step((int64_t)trainer->steps);
			sum += step(tiny, trainer, data, order + i, count, ancestor);
		}
		trainer->epoch++;
		losses[e] = sum / (double)data->count;
		wt_counter(WT_NAME("loss"), losses[e]);
		wt_counter(WT_NAME("accuracy"), tiny_accuracy(tiny, data));
	}
}

double tiny_accuracy(const struct tiny *tiny, const struct csv *data)
{
	size_t right = 0;

	for (size_t i = 0; i < data->count; i++) {
		struct pass pass;
		size_t best = 0;

		forward(tiny, data->rows[i], &pass);
		for (size_t o = 1; o < tiny->outputs; o++)
			best = pass.outputs[o] > pass.outputs[best] ? o : best;
		right += best == data->labels[i];
	}
	return (double)right / (double)data->count;
}

void tiny_tell(const struct tiny *tiny)
{
	for (size_t i = 0; i < TINY_PARAMETERS; i++) {
		const struct tiny_parameter *p = &tiny->parameters[i];

		wt_tensor_of(WT_NAME("model"), wt_name_of(p->name), tiny->numbers + p->first,
			     WT_DTYPE_F32, (uint32_t)p->rank, p->shape);
	}
}

void tiny_transfer(const struct tiny *tiny, struct wt_transfer *transfer, bool succeeded)
{
	for (size_t i = 0; i < TINY_PARAMETERS; i++) {
		const struct tiny_parameter *p = &tiny->parameters[i];

		wt_transfer_tensor(transfer, wt_name_of(p->name), tiny->numbers + p->first,
				   WT_DTYPE_F32, (uint32_t)p->rank, p->shape);
	}
	wt_transfer_end(transfer, succeeded);
}
