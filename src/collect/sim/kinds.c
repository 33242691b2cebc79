/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of the schema in turn, with values drawn by the type of each field: ends of ranges,
 * small numbers and any bits; texts of every kind that breaks a careless renderer. What a field
 * means is not known here, but for clock pairs, which have to be true or no reader could
 * convert times.
 */
#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include "folder.h"
#include "random.h"

#define TRACKS 7
#define STACKS 20
#define SITES 30
#define MODULES 3
#define TEXT_MAX 4096
#define TICKS_STEP_MAX 100000

/* Each is defined once, and used as a name and as inline text. */
static const struct wt_text hostile[] = {
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}
	TEXT("plain"),
	TEXT("with space"),
	TEXT("line\nbreak\r\n"),
	TEXT("tab\tand \"quotes\" and 'single' and `back`"),
	TEXT("back\\slash \\n \\u0000"),
	TEXT("comma,semicolon;pipe|equals=percent%s%n"),
	TEXT("</script><b>&amp;"),
	TEXT("escape \x1b[31mred\x1b[0m bell\a"),
	TEXT("nul\0inside"),
	TEXT("bad utf-8 \xff\xfe \xc3( \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80"),
	TEXT("\xc3\xa9t\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x9a\x82"),
	TEXT("right to left \xe2\x80\xae reversed, zero width \xe2\x80\x8b"),
	TEXT("=1+1"),
	TEXT("../../etc/passwd"),
	TEXT("-"),
	TEXT(" "),
#undef TEXT
};

#define HOSTILE_COUNT (sizeof(hostile) / sizeof(hostile[0]))
#define LONG_ID (HOSTILE_COUNT + 1) /* of a name as long as they come */
#define STRINGS (HOSTILE_COUNT + 2)

struct maker {
	const struct wti_sim_config *config;
	struct wt_writer *writer;
	struct wti_sim_random random;
	uint64_t time_ns;
	uint64_t seq[TRACKS];
	uint64_t rows[WT_KIND_END];
	char text[TEXT_MAX];
};

static uint64_t below(struct maker *maker, uint64_t count)
{
	return wti_sim_random_below(&maker->random, count);
}

/* ---- Definitions ----------------------------------------------------------------------------- */

static void fill_bytes(struct maker *maker, char *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[i] = (char)wti_sim_random_next(&maker->random);
}

static int define_strings(struct maker *maker)
{
	int r = 0;

	for (uint32_t i = 0; i < HOSTILE_COUNT && r == 0; i++)
		r = wt_writer_string(maker->writer, i + 1, hostile[i].data, hostile[i].bytes);
	fill_bytes(maker, maker->text, TEXT_MAX);
	if (r == 0)
		r = wt_writer_string(maker->writer, LONG_ID, maker->text, TEXT_MAX);
	return r;
}

static int define_tracks(struct maker *maker)
{
	int r = 0;

	for (uint32_t i = 0; i < TRACKS && r == 0; i++) {
		const struct wt_text *name = &hostile[below(maker, HOSTILE_COUNT)];
		struct wt_track track = {
			.id = i + 1,
			.type = WT_TRACK_THREAD + i % 4,
			.tid = 100 + i,
			.device = i % 3,
			.name = name->data,
			.name_bytes = name->bytes,
		};

		r = wt_writer_track(maker->writer, &track);
	}
	return r;
}

static int define_code(struct maker *maker)
{
	uint64_t frames[16];
	uint8_t build_id[20];
	int r = 0;

	for (uint32_t i = 1; i <= STACKS && r == 0; i++) {
		for (size_t j = 0; j < 16; j++)
			frames[j] = wti_sim_random_next(&maker->random);
		r = wt_writer_stack(maker->writer, i, frames, below(maker, 17));
	}
	for (uint32_t i = 1; i <= SITES && r == 0; i++) {
		struct wt_site site = {(uint32_t)below(maker, STRINGS),
				       (uint32_t)below(maker, STRINGS),
				       (uint32_t)below(maker, 10000)};

		r = wt_writer_site(maker->writer, i, &site);
	}
	for (uint32_t i = 1; i <= MODULES && r == 0; i++) {
		struct wt_module module = {
			(uint64_t)i << 40,    1 << 20, build_id, sizeof(build_id),
			"/usr/lib/libsim.so", 18};

		fill_bytes(maker, (char *)build_id, sizeof(build_id));
		r = wt_writer_module(maker->writer, i, &module);
	}
	return r;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Numbers as programs have them: nothing, small, the last one, any width of bits. */
static uint64_t draw_bits(struct maker *maker, unsigned width)
{
	uint64_t bits = wti_sim_random_next(&maker->random) >> (64 - width);

	switch (below(maker, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX >> (64 - width);
	case 2:
		return 1ull << below(maker, width);
	case 3:
		return bits;
	default:
		return below(maker, 1000);
	}
}

static uint64_t draw_float(struct maker *maker)
{
	static const uint64_t special[] = {
		0x0000000000000000,                     /* 0 */
		0x8000000000000000,                     /* -0 */
		0x3ff0000000000000,                     /* 1 */
		0x7ff0000000000000,                     /* infinity */
		0xfff0000000000000, 0x7ff8000000000000, /* NaN */
		0x7ff0000000000001,                     /* a signalling one */
		0x0000000000000001,                     /* the least above 0 */
		0x7fefffffffffffff,                     /* the largest */
		0x3fb999999999999a,                     /* 0.1 */
	};

	if (below(maker, 2))
		return special[below(maker, sizeof(special) / sizeof(special[0]))];
	return wti_sim_random_next(&maker->random);
}

static uint64_t draw_value(struct maker *maker, const struct wt_field *field)
{
	switch (field->type) {
	case WT_TYPE_U32:
		/* Ids of stacks and call sites are plain numbers to the schema. */
		if (!strcmp(field->name, "stack"))
			return below(maker, STACKS + 1);
		if (!strcmp(field->name, "site"))
			return below(maker, SITES + 1);
		return draw_bits(maker, 32);
	case WT_TYPE_I32:
		return (uint64_t)(int64_t)(int32_t)draw_bits(maker, 32);
	case WT_TYPE_F64:
		return draw_float(maker);
	case WT_TYPE_NAME:
		return below(maker, STRINGS);
	case WT_TYPE_ENUM:
		return below(maker, field->enum_count);
	case WT_TYPE_TICKS:
		return below(maker, 8) ? maker->time_ns - below(maker, TICKS_STEP_MAX) : 0;
	default:
		return draw_bits(maker, 64);
	}
}

static struct wt_text draw_text(struct maker *maker)
{
	size_t bytes;

	if (below(maker, 16))
		return hostile[below(maker, HOSTILE_COUNT)];
	bytes = below(maker, 4) ? below(maker, 64) : below(maker, TEXT_MAX + 1);
	fill_bytes(maker, maker->text, bytes);
	return (struct wt_text){maker->text, bytes};
}

/* The same moment in another clock that runs at the same speed. */
static void draw_clock(struct maker *maker, uint64_t *values)
{
	static const uint32_t domains[] = {WT_CLOCK_REALTIME, WT_CLOCK_DEVICE, WT_CLOCK_DEVICE + 1};
	uint32_t domain = domains[below(maker, 3)];

	values[WT_CLOCK_FIELD_DOMAIN] = domain;
	values[WT_CLOCK_FIELD_ERROR] = below(maker, 1000);
	values[WT_CLOCK_FIELD_VALUE] = maker->time_ns + ((uint64_t)domain << 40);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int make_row(struct maker *maker, const struct wt_kind *kind)
{
	uint64_t values[WT_FIELDS_MAX] = {0};
	struct wt_text texts[WT_FIELDS_MAX];
	uint32_t track = (uint32_t)below(maker, TRACKS);
	size_t text_count = 0;

	for (uint16_t i = 0; i < kind->field_count; i++) {
		if (wt_type_is_inline(kind->fields[i].type))
			texts[text_count++] = draw_text(maker);
		else
			values[i] = draw_value(maker, &kind->fields[i]);
	}
	if (kind->number == WT_KIND_CLOCK)
		draw_clock(maker, values);
	/* Often at the same moment, so that the order of equals is tried too. */
	if (below(maker, 4))
		maker->time_ns += below(maker, TICKS_STEP_MAX);
	maker->rows[kind->number]++;
	return wt_writer_append(maker->writer, kind->number, track + 1, maker->seq[track]++,
				maker->time_ns, values, kind->field_count, texts);
}

static int make_rows(struct maker *maker, const struct wti_sim_options *options)
{
	uint64_t events = maker->config->events;
	int r = 0;

	for (uint64_t i = 0; i < events && r == 0; i++) {
		uint64_t index = i;

		/* Each kind once, then any, so that few rows already show all of them. */
		if (i >= wt_kind_builtin_count())
			index = below(maker, wt_kind_builtin_count());
		r = make_row(maker, wt_kind_builtin_at(index));
		if (options->progress && i % 65536 == 0)
			options->progress(options->cookie, (double)i / (double)events);
	}
	return r;
}

static int write_truth(const struct maker *maker, const char *folder, struct wt_err *err)
{
	char path[4096];
	struct wti_buf text;
	struct wti_json json;

	snprintf(path, sizeof(path), "%s/truth.json", folder);
	wti_buf_init(&text, 1 << 20);
	wti_json_init(&json, &text, true);
	wti_json_object(&json);
	wti_json_key(&json, "events");
	wti_json_u64(&json, maker->config->events);
	wti_json_key(&json, "seed");
	wti_json_u64(&json, maker->config->seed);
	wti_json_key(&json, "kinds");
	wti_json_object(&json);
	for (uint16_t i = 0; i < WT_KIND_END; i++) {
		if (!maker->rows[i])
			continue;
		wti_json_key(&json, wt_kind_builtin(i)->name);
		wti_json_u64(&json, maker->rows[i]);
	}
	wti_json_object_end(&json);
	wti_json_object_end(&json);
	return wti_sim_json_finish(&text, path, err);
}

static int make_stream(struct maker *maker, const struct wti_sim_options *options,
		       struct wt_err *err)
{
	int r = define_strings(maker);

	if (r == 0)
		r = define_tracks(maker);
	if (r == 0)
		r = define_code(maker);
	if (r == 0)
		r = make_rows(maker, options);
	if (r == 0)
		return wt_writer_finish(maker->writer, err);
	if (wt_writer_flush(maker->writer, err) == 0)
		wti_err(err, r, "cannot write the stream: a value was refused");
	return r;
}

int wti_sim_kinds_run(const struct wti_sim_options *options, struct wti_sim_summary *ret_summary,
		      struct wt_err *err)
{
	struct wt_writer_options writer_options;
	struct maker *maker = calloc(1, sizeof(*maker));
	char path[4096];
	int r;

	if (!maker)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	maker->config = options->config;
	maker->time_ns = options->config->start_ns + TICKS_STEP_MAX;
	wti_sim_random_init(&maker->random, options->config->seed);
	wt_writer_options_init(&writer_options);
	writer_options.identity.pid = 1;
	writer_options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(writer_options.identity.command, sizeof(writer_options.identity.command), "sim");
	snprintf(path, sizeof(path), "%s/sim-00.wt", options->folder);
	r = wt_writer_create(path, &writer_options, &maker->writer, err);
	if (r == 0)
		r = make_stream(maker, options, err);
	if (r == 0)
		r = write_truth(maker, options->folder, err);
	if (r == 0)
		*ret_summary = (struct wti_sim_summary){options->config->events,
							wt_writer_bytes(maker->writer),
							maker->time_ns - options->config->start_ns};
	wt_writer_free(maker->writer);
	free(maker);
	return r;
}
