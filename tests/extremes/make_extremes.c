/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run whose rows are well-formed and absurd: every kind of event, with the numbers at
 *which arithmetic goes wrong in every field, at times from one end of the clock to the other.
 *
 *	make_extremes FOLDER SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/trace.h>

enum { TRACKS = 4, ROUNDS = 60 };

/* Names that the inspectors look for, so that the rows get through to them. */
static const char *const names[] = {
	"step",
	"epoch",
	"stage",
	"train",
	"loss",
	"lr",
	"Adam",
	"Net",
	"StepLR",
	"DataLoader",
	"Adam.step",
	"Net.forward",
	"StepLR.step",
	"Tensor.backward",
	"DataLoader.__next__",
	"fc.weight",
	"fc.weight.grad",
	"worker",
	"id",
	"grad_enabled",
	"ignore_index",
	"group2.lr",
	"8x8",
	"0x0",
	"18446744073709551615x18446744073709551615",
	"9223372036854775807",
	"torch",
	"cross_entropy",
};
enum { NAMES = sizeof(names) / sizeof(*names) };

static const uint64_t numbers[] = {
	0,
	1,
	2,
	3,
	7,
	63,
	64,
	255,
	INT32_MAX,
	UINT32_MAX,
	(uint64_t)INT32_MAX + 1,
	(uint64_t)1 << 53,
	INT64_MAX / 2,
	INT64_MAX - 1,
	INT64_MAX,
	(uint64_t)INT64_MIN,
	(uint64_t)INT64_MIN + 1,
	UINT64_MAX - 1,
	UINT64_MAX,
	(uint64_t)-11,
	(uint64_t)-512,
	0x7ff0000000000000,
	0xfff0000000000000,
	0x7ff8000000000000, /* infinities, not a number */
	0x43e0000000000000,
	0xc3e0000000000000,
	0x43f0000000000000, /* 2^63, -2^63, 2^64 */
	0x7fefffffffffffff,
	0x3ff0000000000000,
	0x0000000000000001, /* largest, 1, smallest */
};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static struct wt_writer *out;
static uint64_t seed, state;

static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static void must(int status)
{
	if (status) {
		fprintf(stderr, "make_extremes: %d\n", status);
		exit(1);
	}
}

static void define(void)
{
	for (uint32_t i = 0; i < NAMES; i++)
		must(wt_writer_string(out, i + 1, names[i], strlen(names[i])));
	for (uint32_t i = 1; i <= TRACKS; i++)
		must(wt_writer_track(out,
				     &(struct wt_track){i, WT_TRACK_THREAD, 1000 + i, 0, "t", 1}));
}

struct inside { /* a call */
	uint64_t callee;
	uint64_t seq;
};

static void row(const struct wt_kind *kind, uint32_t track, uint64_t seq, uint64_t time,
		const struct inside *inside)
{
	uint64_t values[WT_FIELDS_MAX];
	struct wt_text texts[WT_FIELDS_MAX];
	size_t text_count = 0;

	for (int i = 0; i < kind->field_count; i++) {
		const struct wt_field *field = &kind->fields[i];
		const char *text = names[any(NAMES)];

		values[i] = field->type == WT_TYPE_NAME   ? 1 + any(NAMES)
			    : field->type == WT_TYPE_ENUM ? any(field->enum_count + 1u)
			    : any(3)                      ? numbers[any(NUMBERS)]
							  : any(8);
		if (wt_type_is_inline(field->type))
			texts[text_count++] = (struct wt_text){text, any(3) ? strlen(text) : 0};
	}
	if (inside) {
		values[WT_CALL_BEGIN_FIELD_CALLEE] = inside->callee;
		if (kind->number == WT_KIND_TENSOR)
			values[WT_TENSOR_FIELD_CALL] = inside->seq;
		if (kind->number == WT_KIND_CALL_END)
			values[WT_CALL_END_FIELD_EXCEPTION] = 0;
	}
	must(wt_writer_append(out, kind->number, track, seq, time, values, kind->field_count,
			      texts));
}

/* A call with tensors, so that something happens in the run; what they are is absurd enough. */
static void call(uint32_t track, uint64_t *seq, uint64_t time)
{
	static const uint16_t kinds[] = {WT_KIND_CALL_BEGIN, WT_KIND_TENSOR, WT_KIND_TENSOR,
					 WT_KIND_CALL_END};
	struct inside inside = {1 + any(NAMES), *seq};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		row(wt_kind_builtin(kinds[i]), track, (*seq)++, time, &inside);
}

/* Where events were lost or left out little is judged: every other pair of runs has none. */
static bool spoils(uint16_t kind)
{
	return kind == WT_KIND_LOST || kind == WT_KIND_THINNED || kind == WT_KIND_NOT_FOLLOWED;
}

/* Of a track times do not decrease; the last ones are at the end of the clock. */
static uint64_t time_of(uint64_t round)
{
	static const uint64_t late[] = {INT64_MAX / 2,           INT64_MAX - 1,  INT64_MAX,
					(uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};

	return round < ROUNDS - 6 ? round * 1000 : late[round - (ROUNDS - 6)];
}

static void write_stream(const char *folder, int number, uint32_t clock)
{
	struct wt_writer_options options;
	uint64_t seq[TRACKS + 1] = {0};
	struct wt_err err = {0};
	char path[4096];

	wt_writer_options_init(&options);
	options.identity.pid = 1000 + (uint32_t)number;
	options.identity.start_time = options.identity.pid;
	options.identity.clock = clock;
	snprintf(path, sizeof(path), "%s/%04d.wt", folder, number);
	must(wt_writer_create(path, &options, &out, &err));
	define();
	for (uint64_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < wt_kind_builtin_count(); i++) {
			uint32_t track = 1 + (uint32_t)any(TRACKS);
			const struct wt_kind *kind = wt_kind_builtin_at(i);

			if (seed / 2 % 2 && spoils(kind->number))
				continue;
			row(kind, track, seq[track]++, time_of(round), NULL);
			call(track, &seq[track], time_of(round));
		}
	must(wt_writer_finish(out, &err));
	wt_writer_free(out);
}

int main(int argc, char **argv)
{
	if (argc != 3 || mkdir(argv[1], 0700)) {
		fprintf(stderr, "usage: make_extremes FOLDER SEED\n");
		return 2;
	}
	seed = state = strtoull(argv[2], NULL, 10);
	write_stream(argv[1], 1, WT_CLOCK_MONOTONIC);
	write_stream(argv[1], 2, WT_CLOCK_TSC);
	return 0;
}
