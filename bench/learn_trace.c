/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a made-up training loop, as long as one wants: learn_trace CALLS FOLDER. Every step
 * calls layers with tensors and flags, a loss, backward, zero_grad and step of an optimizer whose
 * parameters change; CALLS counts call records (begin and end), as TrainCheck counts its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/trace.h>

#define LAYERS 20
#define PARAMETERS 8

struct run {
	struct wt_writer *writer;
	uint64_t seq, ns, records;
	uint32_t string_count;
	char *strings[256];
};

static uint64_t name(struct run *run, const char *text)
{
	for (uint32_t i = 0; i < run->string_count; i++)
		if (!strcmp(run->strings[i], text))
			return i + 1;
	run->strings[run->string_count] = strdup(text);
	wt_writer_string(run->writer, run->string_count + 1, text, strlen(text));
	return ++run->string_count;
}

static uint64_t put(struct run *run, uint16_t kind, const uint64_t *values, size_t count,
		    const char *text)
{
	struct wt_text texts[1] = {{text, strlen(text)}};

	if (wt_writer_append(run->writer, kind, 1, ++run->seq, ++run->ns, values, count, texts))
		exit(1);
	return run->seq;
}

static uint64_t begin(struct run *run, const char *module, const char *callee, const char *object,
		      uint64_t flags, enum wt_action action)
{
	uint64_t values[] = {name(run, callee),
			     name(run, module),
			     0,
			     flags,
			     *object ? name(run, object) : 0,
			     action};

	run->records++;
	return put(run, WT_KIND_CALL_BEGIN, values, 6, "");
}

static void end(struct run *run, const char *callee)
{
	uint64_t values[] = {name(run, callee), 0};

	run->records++;
	put(run, WT_KIND_CALL_END, values, 2, "");
}

static void tensor(struct run *run, uint64_t call, int64_t position)
{
	uint64_t values[WT_TENSOR_FIELD_POSITION + 1] = {0};
	double one = 1;

	values[WT_TENSOR_FIELD_DTYPE] = WT_DTYPE_F32;
	values[WT_TENSOR_FIELD_SHAPE] = name(run, "32x64");
	values[WT_TENSOR_FIELD_FLAGS] = 1;
	values[WT_TENSOR_FIELD_COUNT] = 2048;
	values[WT_TENSOR_FIELD_HASH] = run->seq * 0x9e3779b97f4a7c15u;
	memcpy(&values[WT_TENSOR_FIELD_MAX], &one, sizeof(one));
	values[WT_TENSOR_FIELD_CALL] = (uint32_t)call;
	values[WT_TENSOR_FIELD_POSITION] = (uint64_t)position;
	put(run, WT_KIND_TENSOR, values, WT_TENSOR_FIELD_POSITION + 1, "");
}

static void flag(struct run *run, uint64_t call, int64_t position, const char *what, uint64_t value)
{
	uint64_t values[] = {
		(uint32_t)call, (uint64_t)position, name(run, what), WT_VALUE_TYPE_BOOL, value, 0};

	put(run, WT_KIND_ARGUMENT, values, 6, "");
}

static void layers(struct run *run)
{
	static const char *const callees[] = {"Linear.forward", "ReLU.forward", "Dropout.forward",
					      "LayerNorm.forward"};

	for (int i = 0; i < LAYERS; i++) {
		const char *callee = callees[i % 4];
		char object[32];
		uint64_t call;

		snprintf(object, sizeof(object), "Net.layer%d", i);
		call = begin(run, "torch.nn.modules.layers", callee, object, 7, WT_ACTION_FORWARD);
		tensor(run, call, 1);
		flag(run, call, 2, "training", 1);
		tensor(run, call, -1);
		end(run, callee);
	}
}

static void states(struct run *run, uint64_t step)
{
	for (unsigned i = 0; i < PARAMETERS; i++) {
		char attribute[32];
		uint64_t values[7] = {name(run, "Net"),   0, WT_VALUE_TYPE_HASH, !step, 0,
				      step * 977 + i + 1, 0};

		snprintf(attribute, sizeof(attribute), "layer%u.weight", i);
		values[1] = name(run, attribute);
		put(run, WT_KIND_STATE, values, 7, "");
	}
}

static void objects(struct run *run)
{
	uint64_t model[8] = {name(run, "Net"), WT_OBJECT_TYPE_MODULE, name(run, "Net")};
	uint64_t optimizer[8] = {name(run, "Adam"), WT_OBJECT_TYPE_OPTIMIZER, name(run, "Adam")};

	put(run, WT_KIND_OBJECT, model, 8, "");
	put(run, WT_KIND_OBJECT, optimizer, 8, "");
	for (unsigned i = 0; i < PARAMETERS; i++)
		for (unsigned role = 0; role < 2; role++) {
			uint64_t values[WT_MEMBER_FIELD_FLAGS + 1] = {0};
			char attribute[32];

			snprintf(attribute, sizeof(attribute), "layer%u.weight", i);
			values[WT_MEMBER_FIELD_OBJECT] = name(run, role ? "Adam" : "Net");
			values[WT_MEMBER_FIELD_NAME] = name(run, attribute);
			values[WT_MEMBER_FIELD_OWNER] = name(run, "Net");
			values[WT_MEMBER_FIELD_KNOWN_AS] = name(run, attribute);
			values[WT_MEMBER_FIELD_ROLE] = role ? WT_ROLE_OPTIMIZED : WT_ROLE_PARAMETER;
			values[WT_MEMBER_FIELD_DTYPE] = WT_DTYPE_F32;
			values[WT_MEMBER_FIELD_SHAPE] = name(run, "64x64");
			values[WT_MEMBER_FIELD_FLAGS] = 1;
			put(run, WT_KIND_MEMBER, values, WT_MEMBER_FIELD_FLAGS + 1, "");
		}
	states(run, 0);
}

static void context(struct run *run, const char *key, uint64_t type, uint64_t value,
		    const char *text)
{
	uint64_t values[] = {name(run, key), type, value, 0};

	put(run, WT_KIND_CONTEXT, values, 4, text);
}

static void step_end(struct run *run, const char *optimizer, uint64_t call)
{
	uint64_t values[] = {name(run, optimizer), (uint32_t)call};

	put(run, WT_KIND_STEP_END, values, 2, "");
}

static void one_step(struct run *run, uint64_t step)
{
	uint64_t call = begin(run, "__main__", "Net.forward", "Net", 7 | 32, WT_ACTION_FORWARD);

	tensor(run, call, 1);
	layers(run);
	tensor(run, call, -1);
	end(run, "Net.forward");
	begin(run, "torch.optim.adam", "Adam.zero_grad", "Adam", 0, WT_ACTION_ZERO_GRAD);
	end(run, "Adam.zero_grad");
	call = begin(run, "torch", "Tensor.backward", "", 0, WT_ACTION_BACKWARD);
	tensor(run, call, 0);
	end(run, "Tensor.backward");
	call = begin(run, "torch.optim.adam", "Adam.step", "Adam", 0, WT_ACTION_STEP);
	end(run, "Adam.step");
	states(run, step + 1);
	step_end(run, "Adam", call);
	context(run, "step", WT_VALUE_TYPE_INT, step + 1, "");
}

int main(int argc, char **argv)
{
	struct wt_writer_options options;
	struct wt_track track = {.id = 1, .type = WT_TRACK_THREAD, .name = "main", .name_bytes = 4};
	struct run run = {0};
	uint64_t wanted = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	char path[4096];

	if (!wanted)
		return 2;
	mkdir(argv[2], 0700);
	snprintf(path, sizeof(path), "%s/0001.wt", argv[2]);
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 1;
	if (wt_writer_create(path, &options, &run.writer, NULL))
		return 1;
	wt_writer_track(run.writer, &track);
	context(&run, "stage", WT_VALUE_TYPE_TEXT, 0, "train");
	objects(&run);
	for (uint64_t step = 0; run.records < wanted; step++)
		one_step(&run, step);
	if (wt_writer_finish(run.writer, NULL))
		return 1;
	wt_writer_free(run.writer);
	printf("%llu\n", (unsigned long long)run.records);
	return 0;
}
