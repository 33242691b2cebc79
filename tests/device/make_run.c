/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a stream from lines: make_run FILE < LINES. Words are separated by tabs, times are in
 * nanoseconds after the start; the lines of a track come in order of time. Tests that need device
 * work with known answers write such lines:
 *
 *   track ID thread|queue DEVICE NAME        rank TRACK NS RANK WORLD
 *   begin TRACK NS FLAGS NAME                end TRACK NS NAME
 *   call TRACK NS NAME FILE LINE             return TRACK NS NAME
 *   op TRACK NS OP NAME DEVICE CORRELATION START END BYTES
 *   edge TRACK NS TYPE FROM TO               step TRACK NS STEP
 *   access TRACK NS MODE CORRELATION OBJECT OFFSET BYTES
 *   syscall TRACK NS NUMBER DURATION
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "base/map.h"

#define START_NS 5000000000ull
#define TRACKS_MAX 1024u
#define WORDS_MAX 12u

static struct wt_writer *writer;
static struct wti_map names;
static uint64_t seqs[TRACKS_MAX];

static void must(int r, const char *line)
{
	if (r < 0) {
		fprintf(stderr, "make_run: error %d in '%s'\n", r, line);
		exit(1);
	}
}

static uint64_t name(const char *text)
{
	uint64_t *slot = wti_map_text(&names, text, strlen(text));

	if (!*slot) {
		*slot = names.count;
		must(wt_writer_string(writer, (uint32_t)*slot, text, strlen(text)), text);
	}
	return *slot;
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 10);
}

static void put(uint16_t kind, char **words, const uint64_t *values, const char *line)
{
	static const struct wt_text none[4];
	uint32_t track = (uint32_t)number(words[1]) % TRACKS_MAX;

	must(wt_writer_append(writer, kind, track, seqs[track]++, START_NS + number(words[2]),
			      values, WT_FIELDS_MAX, none),
	     line);
}

static uint64_t enum_of(uint16_t kind, int field, const char *word)
{
	const struct wt_field *f = &wt_kind_builtin(kind)->fields[field];

	for (unsigned i = 0; i < f->enum_count; i++)
		if (!strcmp(f->enum_names[i], word))
			return i;
	must(-1, word);
	return 0;
}

static void put_track(char **words, const char *line)
{
	struct wt_track t = {.id = (uint32_t)number(words[1]),
			     .type = strcmp(words[2], "queue") ? WT_TRACK_THREAD : WT_TRACK_QUEUE,
			     .tid = strcmp(words[2], "queue") ? 100 + (uint32_t)number(words[1])
							      : 0,
			     .device = (uint32_t)number(words[3]),
			     .name = words[4],
			     .name_bytes = strlen(words[4])};

	must(wt_writer_track(writer, &t), line);
}

static void put_op(char **words, const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {0};

	v[WT_DEVICE_OP_FIELD_OP] = enum_of(WT_KIND_DEVICE_OP, WT_DEVICE_OP_FIELD_OP, words[3]);
	v[WT_DEVICE_OP_FIELD_NAME] = name(words[4]);
	v[WT_DEVICE_OP_FIELD_DEVICE] = number(words[5]);
	v[WT_DEVICE_OP_FIELD_CORRELATION] = number(words[6]);
	v[WT_DEVICE_OP_FIELD_STARTED] = START_NS + number(words[7]);
	v[WT_DEVICE_OP_FIELD_ENDED] = START_NS + number(words[8]);
	v[WT_DEVICE_OP_FIELD_BYTES] = number(words[9]);
	put(WT_KIND_DEVICE_OP, words, v, line);
}

static void put_call(char **words, const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {0};
	struct wt_site site = {.file = (uint32_t)name(words[4]),
			       .line = (uint32_t)number(words[5])};
	char key[512];
	uint64_t *slot;

	snprintf(key, sizeof(key), "\n%s:%s", words[4], words[5]); /* not a name of anything */
	slot = wti_map_text(&names, key, strlen(key));
	if (!*slot) {
		*slot = names.count;
		must(wt_writer_site(writer, (uint32_t)*slot, &site), line);
	}
	v[WT_CALL_BEGIN_FIELD_CALLEE] = name(words[3]);
	v[WT_CALL_BEGIN_FIELD_SITE] = *slot;
	put(WT_KIND_CALL_BEGIN, words, v, line);
}

static void put_edge(char **words, const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {0};

	v[WT_EDGE_FIELD_TYPE] = enum_of(WT_KIND_EDGE, WT_EDGE_FIELD_TYPE, words[3]);
	v[WT_EDGE_FIELD_FROM] = number(words[4]);
	v[WT_EDGE_FIELD_TO] = number(words[5]);
	put(WT_KIND_EDGE, words, v, line);
}

static void put_access(char **words, const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {0};

	v[WT_DEVICE_ACCESS_FIELD_MODE] =
		enum_of(WT_KIND_DEVICE_ACCESS, WT_DEVICE_ACCESS_FIELD_MODE, words[3]);
	v[WT_DEVICE_ACCESS_FIELD_CORRELATION] = number(words[4]);
	v[WT_DEVICE_ACCESS_FIELD_OBJECT] = number(words[5]);
	v[WT_DEVICE_ACCESS_FIELD_OFFSET] = number(words[6]);
	v[WT_DEVICE_ACCESS_FIELD_BYTES] = number(words[7]);
	put(WT_KIND_DEVICE_ACCESS, words, v, line);
}

static void put_named(uint16_t kind, char **words, const char *text, uint64_t second,
		      const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {name(text), second};

	put(kind, words, v, line);
}

static void put_step(char **words, const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {0};

	v[WT_CONTEXT_FIELD_KEY] = name("step");
	v[WT_CONTEXT_FIELD_TYPE] = enum_of(WT_KIND_CONTEXT, WT_CONTEXT_FIELD_TYPE, "int");
	v[WT_CONTEXT_FIELD_VALUE] = number(words[3]);
	put(WT_KIND_CONTEXT, words, v, line);
}

static void put_syscall(char **words, const char *line)
{
	uint64_t v[WT_FIELDS_MAX] = {0};

	v[WT_SYSCALL_FIELD_ARCH] = 1; /* x86_64 */
	v[WT_SYSCALL_FIELD_NR] = number(words[3]);
	v[WT_SYSCALL_FIELD_DURATION] = number(words[4]);
	put(WT_KIND_SYSCALL, words, v, line);
}

static void put_line(char **words, const char *line)
{
	uint64_t rank[WT_FIELDS_MAX] = {words[3] ? number(words[3]) : 0,
					words[4] ? number(words[4]) : 0};

	if (!strcmp(words[0], "track"))
		put_track(words, line);
	else if (!strcmp(words[0], "rank"))
		put(WT_KIND_RANK, words, rank, line);
	else if (!strcmp(words[0], "begin"))
		put_named(WT_KIND_SPAN_BEGIN, words, words[4], number(words[3]), line);
	else if (!strcmp(words[0], "end"))
		put_named(WT_KIND_SPAN_END, words, words[3], 0, line);
	else if (!strcmp(words[0], "call"))
		put_call(words, line);
	else if (!strcmp(words[0], "return"))
		put_named(WT_KIND_CALL_END, words, words[3], 0, line);
	else if (!strcmp(words[0], "op"))
		put_op(words, line);
	else if (!strcmp(words[0], "edge"))
		put_edge(words, line);
	else if (!strcmp(words[0], "access"))
		put_access(words, line);
	else if (!strcmp(words[0], "syscall"))
		put_syscall(words, line);
	else if (!strcmp(words[0], "step"))
		put_step(words, line);
	else
		must(-1, line);
}

int main(int argc, char **argv)
{
	struct wt_writer_options options;
	struct wt_err err = {.offset = -1};
	char *line = NULL;
	size_t capacity = 0;

	if (argc != 2)
		return 2;
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 100;
	wti_map_init(&names, 1u << 24);
	must(wt_writer_create(argv[1], &options, &writer, &err), argv[1]);
	while (getline(&line, &capacity, stdin) > 0) {
		char *words[WORDS_MAX + 1] = {0}, *rest = line, copy[256];
		size_t count = 0;

		line[strcspn(line, "\n")] = 0;
		snprintf(copy, sizeof(copy), "%s", line);
		while (count < WORDS_MAX && rest)
			words[count++] = strsep(&rest, "\t");
		put_line(words, copy);
	}
	free(line);
	must(wt_writer_finish(writer, &err), err.message);
	wt_writer_free(writer);
	wti_map_release(&names);
	return 0;
}
