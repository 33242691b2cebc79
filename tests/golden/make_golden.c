/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the golden traces: small, the same on every machine, together using all that the format
 *has. The committed ones are the format's promise: every later reader must give the same events.
 *
 *	make_golden DIR
 *
 * It knows the public writer alone. Random rows come from a generator of its own, so that
 * no library's choice of numbers changes the files.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>
#include <zstd.h>

#define TEXT_MAX 4096u
#define STRING_COUNT 40u
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

struct golden {
	struct wt_writer *writer;
	uint64_t dice;
	uint64_t ticks;
	uint64_t seq[128]; /* of each track */
	unsigned track_count;
};

static void check(int result, const struct wt_err *err, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "make_golden: %s failed: %s\n", what, err ? err->message : "");
	exit(1);
}

/* splitmix64 */
static uint64_t roll(struct golden *g)
{
	uint64_t z = g->dice += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t below(struct golden *g, uint64_t limit)
{
	return roll(g) % limit;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void golden_open(struct golden *g, const char *dir, const char *name, int level)
{
	struct wt_writer_options options;
	struct wt_err err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.wt", dir, name);
	if (unlink(path) && errno != ENOENT)
		perror(path);
	wt_writer_options_init(&options);
	options.level = level;
	options.identity = (struct wt_identity){
		.pid = 4711, .exec = 2, .start_time = 123456789, .clock = WT_CLOCK_MONOTONIC};
	for (unsigned i = 0; i < sizeof(options.identity.boot); i++)
		options.identity.boot[i] = (uint8_t)(0xf0 + i);
	snprintf(options.identity.command, sizeof(options.identity.command), "%.15s", name);
	*g = (struct golden){.dice = 1, .ticks = 1000000000};
	check(wt_writer_create(path, &options, &g->writer, &err), &err, path);
}

static void golden_close(struct golden *g)
{
	struct wt_err err;

	check(wt_writer_finish(g->writer, &err), &err, "finish");
	wt_writer_free(g->writer);
}

static void define_string(struct golden *g, uint32_t id, const char *text, size_t bytes)
{
	check(wt_writer_string(g->writer, id, text, bytes), NULL, "string");
}

static void define_tracks(struct golden *g, unsigned count)
{
	for (unsigned id = 1; id <= count; id++) {
		char name[32];
		struct wt_track track = {.id = id,
					 .type = id % 4 + 1,
					 .tid = 100 + id,
					 .device = id / 4,
					 .name = name};

		track.name_bytes = (size_t)snprintf(name, sizeof(name), "track %u", id);
		check(wt_writer_track(g->writer, &track), NULL, "track");
	}
	g->track_count = count;
}

static void define_all(struct golden *g)
{
	static const uint64_t frames[] = {0x401000, 0x7fffffffffffffff, UINT64_MAX, 0};
	static const uint8_t build_id[] = {0xde, 0xad, 0, 0xff};
	char text[32];

	define_tracks(g, 5);
	for (uint32_t id = 1; id <= STRING_COUNT; id++) {
		int bytes = snprintf(text, sizeof(text), "layer%u.weight", id);

		define_string(g, id, text, (size_t)bytes);
	}
	for (uint32_t id = 1; id <= 4; id++) {
		struct wt_module module = {.base = 0x400000u * id,
					   .bytes = 0x1000,
					   .build_id = build_id,
					   .build_id_bytes = id,
					   .path = "/lib/libm.so",
					   .path_bytes = 12};
		struct wt_site site = {.file = id, .function = id + 1, .line = 10 * id};

		check(wt_writer_stack(g->writer, id, frames, id), NULL, "stack");
		check(wt_writer_module(g->writer, id, &module), NULL, "module");
		check(wt_writer_site(g->writer, id, &site), NULL, "site");
	}
}

/* The nearest that a field of this type can hold. */
static uint64_t fit(const struct wt_field *field, uint64_t value)
{
	switch (field->type) {
	case WT_TYPE_U32:
	case WT_TYPE_NAME:
	case WT_TYPE_ENUM:
		return (uint32_t)value;
	case WT_TYPE_I32:
		return (uint64_t)(int64_t)(int32_t)value;
	default:
		return value;
	}
}

/* Mostly small, sometimes anything. */
static uint64_t random_value(struct golden *g, const struct wt_field *field)
{
	uint64_t raw = below(g, 4) ? below(g, 1000) : roll(g);

	switch (field->type) {
	case WT_TYPE_I32:
	case WT_TYPE_I64:
		return fit(field, below(g, 2) ? -raw : raw);
	case WT_TYPE_F64:
		return bits_of((double)(int64_t)raw / 64);
	case WT_TYPE_NAME:
		return below(g, STRING_COUNT + 1);
	case WT_TYPE_TICKS:
		return g->ticks - below(g, 5000);
	case WT_TYPE_ENUM:
		return below(g, field->enum_count);
	default:
		return fit(field, raw);
	}
}

static struct wt_text random_text(struct golden *g, char *room)
{
	struct wt_text text = {room, below(g, 8) ? below(g, 40) : below(g, 300)};

	for (size_t i = 0; i < text.bytes; i++)
		room[i] = (char)(below(g, 16) ? 'a' + (char)below(g, 26) : (char)below(g, 256));
	return text;
}

static void append(struct golden *g, const struct wt_kind *kind, uint32_t track,
		   const uint64_t *values, const struct wt_text *texts)
{
	g->ticks += below(g, 300);
	check(wt_writer_append(g->writer, kind->number, track, g->seq[track]++, g->ticks, values,
			       kind->field_count, texts),
	      NULL, kind->name);
}

static void append_random(struct golden *g, const struct wt_kind *kind)
{
	static char room[WT_FIELDS_MAX][TEXT_MAX];
	uint64_t values[WT_FIELDS_MAX] = {0};
	struct wt_text texts[WT_FIELDS_MAX];
	unsigned text_count = 0;

	for (unsigned i = 0; i < kind->field_count; i++) {
		if (wt_type_is_inline(kind->fields[i].type)) {
			texts[text_count] = random_text(g, room[text_count]);
			text_count++;
		} else {
			values[i] = random_value(g, &kind->fields[i]);
		}
	}
	append(g, kind, (uint32_t)below(g, g->track_count) + 1, values, texts);
}

/* A row with the same number in all fields, and the same text. */
static void append_uniform(struct golden *g, const struct wt_kind *kind, uint64_t value,
			   struct wt_text text)
{
	uint64_t values[WT_FIELDS_MAX];
	struct wt_text texts[WT_FIELDS_MAX];

	for (unsigned i = 0; i < kind->field_count; i++) {
		values[i] = fit(&kind->fields[i], value);
		texts[i] = text;
	}
	append(g, kind, 1, values, texts);
}

static void make_empty(const char *dir)
{
	struct golden g;

	golden_open(&g, dir, "empty", 3);
	golden_close(&g);
}

static void make_one_row(const char *dir)
{
	struct golden g;

	golden_open(&g, dir, "one_row", 3);
	define_all(&g);
	append_random(&g, wt_kind_builtin(WT_KIND_DEVICE_OP));
	golden_close(&g);
}

/* Every kind that there is, interleaved as a program would emit them. */
static void make_kinds(const char *dir, const char *name, int level)
{
	struct golden g;

	golden_open(&g, dir, name, level);
	define_all(&g);
	for (unsigned row = 0; row < 60; row++)
		for (size_t i = 0; i < wt_kind_builtin_count(); i++)
			append_random(&g, wt_kind_builtin_at(i));
	golden_close(&g);
}

/* One row more than a block may have. */
static void make_full_block(const char *dir)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_MARK);
	struct golden g;

	golden_open(&g, dir, "full_block", 3);
	define_all(&g);
	for (uint64_t row = 0; row <= 65536; row++)
		append(&g, kind, 1 + (uint32_t)(row & 1), (uint64_t[]){row % 7, 0, row / 3}, NULL);
	golden_close(&g);
}

static void make_hostile(const char *dir)
{
	static const struct wt_text texts[] = {
		TEXT(""),
		TEXT("\0"),
		TEXT("line\nline\r\n\ttab"),
		TEXT("\"quoted\" 'too' \\ {\"json\": [1,"),
		TEXT("\xff\xfe\x80 not utf-8 \xc3"),
		TEXT("\xed\xa0\x80 a lone surrogate"),
		TEXT("\xf4\x90\x80\x80 beyond unicode"),
		TEXT("\xe2\x80\xae right to left"),
		TEXT("\x1b[31mred\x1b]0;title\x07"),
		TEXT("../../etc/passwd"),
		TEXT("%s%n%99999d"),
		TEXT("<script>alert(1)</script>&amp;"),
		TEXT("=cmd|' /C calc'!A0"),
		TEXT("'; drop table events; --"),
	};
	static char longest[TEXT_MAX];
	size_t count = sizeof(texts) / sizeof(*texts);
	struct golden g;

	golden_open(&g, dir, "hostile", 3);
	define_tracks(&g, 1);
	memset(longest, '\n', sizeof(longest));
	for (uint32_t i = 0; i < count; i++) {
		struct wt_track track = {.id = 2 + i,
					 .type = WT_TRACK_THREAD,
					 .name = texts[i].data,
					 .name_bytes = texts[i].bytes};

		define_string(&g, 1 + i, texts[i].data, texts[i].bytes);
		check(wt_writer_track(g.writer, &track), NULL, "track");
	}
	define_string(&g, 1 + (uint32_t)count, longest, sizeof(longest));
	for (uint32_t i = 0; i <= count; i++) {
		struct wt_text text = i < count ? texts[i] : (struct wt_text){longest, TEXT_MAX};

		append_uniform(&g, wt_kind_builtin(WT_KIND_LOG), i % 4, text);
		append_uniform(&g, wt_kind_builtin(WT_KIND_STATE), i % 4, text);
		append_uniform(&g, wt_kind_builtin(WT_KIND_MARK), i + 1, text);
	}
	golden_close(&g);
}

/* More tracks than the track filter has bits, and blocks that are flushed half full. */
static void make_tracks(const char *dir)
{
	struct golden g;
	struct wt_err err;

	golden_open(&g, dir, "tracks", 1);
	define_all(&g);
	define_tracks(&g, 100);
	for (unsigned row = 0; row < 1000; row++) {
		append_random(&g, wt_kind_builtin(row % 3 ? WT_KIND_SPAN_BEGIN : WT_KIND_COUNTER));
		if (row % 200 == 199)
			check(wt_writer_flush(g.writer, &err), &err, "flush");
	}
	golden_close(&g);
}

/* Columns as they are in life: for each transform one that it suits. */
static void make_transforms(const char *dir)
{
	const struct wt_kind *op = wt_kind_builtin(WT_KIND_DEVICE_OP);
	const struct wt_kind *counter = wt_kind_builtin(WT_KIND_COUNTER);
	struct golden g;

	golden_open(&g, dir, "transforms", 3);
	define_all(&g);
	for (uint64_t row = 0; row < 2000; row++) {
		uint64_t ended = g.ticks - 100 - below(&g, 20), started = ended - 500;
		uint64_t submitted = row % 10 ? started - below(&g, 90) : 0;
		uint64_t values[] = {row % 3,   1 + row % 5, 0,     1 + row % 2,
				     0,         9,           row,   submitted ? submitted - 40 : 0,
				     submitted, started,     ended, 4096 * (row % 3)};
		uint64_t loss = bits_of(2.0 / (double)(1 + row / 16));

		append(&g, op, 1 + (uint32_t)(row % 2), values, NULL);
		append(&g, counter, 3, (uint64_t[]){7, 8, loss}, NULL);
	}
	golden_close(&g);
}

/* What a killed recorder leaves: blocks, no index. */
static void make_unfinished(const char *dir)
{
	struct golden g;
	struct wt_err err;

	golden_open(&g, dir, "unfinished", 1);
	define_all(&g);
	for (unsigned row = 0; row < 100; row++)
		append_random(&g, wt_kind_builtin((uint16_t)(WT_KIND_CALL_BEGIN + row % 3)));
	check(wt_writer_flush(g.writer, &err), &err, "flush");
	wt_writer_free(g.writer);
}

/* Values at the ends of what 64 bits hold, in every field of every kind. */
static void make_extreme(const char *dir, const char *name, int level)
{
	const uint64_t values[] = {
		0,
		UINT64_MAX,
		1,
		INT64_MAX,
		(uint64_t)INT64_MIN,
		UINT32_MAX,
		(uint64_t)UINT32_MAX + 1,
		bits_of(-0.0),
		bits_of(INFINITY),
		bits_of(-INFINITY),
		0x7ff8000000000000u, /* quiet NaN */
		0x7ff0000000000001u, /* signalling NaN */
		0xffffdeadbeef1234u, /* NaN with a payload */
		bits_of(5e-324),
		bits_of(1.7976931348623157e308),
	};
	struct golden g;

	golden_open(&g, dir, name, level);
	define_all(&g);
	for (unsigned row = 0; row < sizeof(values) / sizeof(*values); row++)
		for (size_t i = 0; i < wt_kind_builtin_count(); i++)
			append_uniform(&g, wt_kind_builtin_at(i), values[row],
				       (struct wt_text){"x", row & 1});
	/* The last moment that there is. */
	g.ticks = UINT64_MAX - 300;
	append_random(&g, wt_kind_builtin(WT_KIND_MARK));
	golden_close(&g);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_golden DIR\n");
		return 2;
	}
	make_empty(argv[1]);
	make_one_row(argv[1]);
	make_kinds(argv[1], "kinds_level0", 0);
	make_kinds(argv[1], "kinds_level3", 3);
	make_full_block(argv[1]);
	make_hostile(argv[1]);
	make_tracks(argv[1]);
	make_transforms(argv[1]);
	make_unfinished(argv[1]);
	make_extreme(argv[1], "extreme_level0", 0);
	make_extreme(argv[1], "extreme_level3", 3);
	/* What the bytes depend on besides this program. */
	printf("zstd %s\n", ZSTD_versionString());
	return 0;
}
