/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the stream of one process from a text: make_divergence FILE < TEXT. The name of the file is
 * a number, and that of the process. A line of the text is an event:
 *
 *   thread N                          what follows is its doing; 1 is the first
 *   step N                            the context
 *   begin CALLEE LINE [ACTION [OBJECT]]  a call; arguments and returns follow until its end
 *   module NAME                       of the calls that follow; torch at first
 *   list NAME                         an argument of which nothing was read
 *   in NAME SHAPE HASH                a tensor of the innermost open call; HASH ? was not read
 *   number NAME VALUE                 a whole number, an argument
 *   out SHAPE HASH                    a return
 *   end                               of the innermost call
 *   state OWNER ATTRIBUTE HASH        a value that was read on its own
 *   held OWNER NAME SHAPE HASH        a tensor that was
 *   setting OWNER ATTRIBUTE VALUE     a whole number that was
 *   rank N                            of two
 *   counter NAME VALUE
 *   lost N
 *   thinned                           from here on parameters are omitted
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#define NAMES_MAX 512u
#define DEPTH_MAX 64u
#define THREADS_MAX 16u

static struct wt_writer *writer;
static uint64_t seq = 1, now = 1000;
static char names[NAMES_MAX][64];
static char module[64] = "torch";
static uint32_t name_count, site_count, depth, thread = 1;
static struct {
	uint64_t seq;
	uint32_t callee;
} open_calls[DEPTH_MAX];

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "make_divergence: error %d\n", r);
		exit(1);
	}
}

static uint32_t name(const char *text)
{
	for (uint32_t i = 0; i < name_count; i++)
		if (!strcmp(names[i], text))
			return i + 1;
	if (name_count == NAMES_MAX)
		must(-1);
	snprintf(names[name_count++], sizeof(names[0]), "%s", text);
	must(wt_writer_string(writer, name_count, text, strlen(text)));
	return name_count;
}

static void put_text(uint16_t kind, const uint64_t *values, const char *text)
{
	const struct wt_text texts[4] = {{text, strlen(text)}, {"", 0}, {"", 0}, {"", 0}};

	must(wt_writer_append(writer, kind, thread, seq++, now += 1000, values, WT_FIELDS_MAX,
			      texts));
}

static void put(uint16_t kind, const uint64_t *values)
{
	put_text(kind, values, "");
}

static void begin(const char *callee, unsigned line, const char *action, const char *object)
{
	static const char *const actions[] = {
		[WT_ACTION_NONE] = "none",         [WT_ACTION_FORWARD] = "forward",
		[WT_ACTION_BACKWARD] = "backward", [WT_ACTION_STEP] = "step",
		[WT_ACTION_SAVE] = "save",         [WT_ACTION_LOAD] = "load"};
	struct wt_site site = {name("program.py"), name("main"), line};
	uint64_t values[WT_FIELDS_MAX] = {0};

	must(wt_writer_site(writer, ++site_count, &site));
	values[WT_CALL_BEGIN_FIELD_CALLEE] = name(callee);
	values[WT_CALL_BEGIN_FIELD_MODULE] = name(module);
	values[WT_CALL_BEGIN_FIELD_SITE] = site_count;
	values[WT_CALL_BEGIN_FIELD_OBJECT] = *object ? name(object) : 0;
	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (actions[i] && !strcmp(action, actions[i]))
			values[WT_CALL_BEGIN_FIELD_ACTION] = i;
	open_calls[depth].seq = seq;
	open_calls[depth++].callee = name(callee);
	put(WT_KIND_CALL_BEGIN, values);
}

static void tensor(const char *called, int position, const char *shape, const char *hash)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_TENSOR_FIELD_NAME] = *called ? name(called) : 0;
	values[WT_TENSOR_FIELD_DTYPE] = WT_DTYPE_F32;
	values[WT_TENSOR_FIELD_SHAPE] = name(shape);
	values[WT_TENSOR_FIELD_COUNT] = (uint64_t)atoi(shape);
	if (*hash == '?')
		values[WT_TENSOR_FIELD_FLAGS] = WT_TENSOR_NO_HASH | WT_TENSOR_NO_STATISTICS;
	else
		values[WT_TENSOR_FIELD_HASH] = strtoull(hash, NULL, 16);
	values[WT_TENSOR_FIELD_CALL] = open_calls[depth - 1].seq;
	values[WT_TENSOR_FIELD_POSITION] = (uint64_t)(int64_t)position;
	put(WT_KIND_TENSOR, values);
}

static void number(const char *called, const char *text)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_ARGUMENT_FIELD_CALL] = open_calls[depth - 1].seq;
	values[WT_ARGUMENT_FIELD_NAME] = name(called);
	values[WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_INT;
	values[WT_ARGUMENT_FIELD_VALUE] = strtoull(text, NULL, 10);
	put(WT_KIND_ARGUMENT, values);
}

static void list(const char *called)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_ARGUMENT_FIELD_CALL] = open_calls[depth - 1].seq;
	values[WT_ARGUMENT_FIELD_NAME] = name(called);
	values[WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_NONE;
	put_text(WT_KIND_ARGUMENT, values, "<list of 4>");
}

static void end(void)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_CALL_END_FIELD_CALLEE] = open_calls[--depth].callee;
	put(WT_KIND_CALL_END, values);
}

static void state(const char *owner, const char *attribute, enum wt_value_type type, uint64_t value)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_STATE_FIELD_OWNER] = name(owner);
	values[WT_STATE_FIELD_ATTRIBUTE] = name(attribute);
	values[WT_STATE_FIELD_TYPE] = type;
	values[WT_STATE_FIELD_NEW] = value;
	put(WT_KIND_STATE, values);
}

static void held(const char *owner, const char *called, const char *shape, const char *hash)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_TENSOR_FIELD_NAME] = name(called);
	values[WT_TENSOR_FIELD_OWNER] = name(owner);
	values[WT_TENSOR_FIELD_DTYPE] = WT_DTYPE_F32;
	values[WT_TENSOR_FIELD_SHAPE] = name(shape);
	values[WT_TENSOR_FIELD_COUNT] = (uint64_t)atoi(shape);
	values[WT_TENSOR_FIELD_HASH] = strtoull(hash, NULL, 16);
	put(WT_KIND_TENSOR, values);
}

static void rank(const char *text)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_RANK_FIELD_RANK] = strtoull(text, NULL, 10);
	values[WT_RANK_FIELD_WORLD] = 2;
	put(WT_KIND_RANK, values);
}

static void counter(const char *called, const char *text)
{
	uint64_t values[WT_FIELDS_MAX] = {0};
	double value = strtod(text, NULL);

	values[WT_COUNTER_FIELD_NAME] = name(called);
	memcpy(&values[WT_COUNTER_FIELD_VALUE], &value, sizeof(value));
	put(WT_KIND_COUNTER, values);
}

static void step(const char *text)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_CONTEXT_FIELD_KEY] = name("step");
	values[WT_CONTEXT_FIELD_TYPE] = WT_VALUE_TYPE_INT;
	values[WT_CONTEXT_FIELD_VALUE] = strtoull(text, NULL, 10);
	put(WT_KIND_CONTEXT, values);
}

static void lost(const char *text)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_LOST_FIELD_COUNT] = strtoull(text, NULL, 10);
	put(WT_KIND_LOST, values);
}

static void thinned(void)
{
	uint64_t values[WT_FIELDS_MAX] = {0};

	values[WT_THINNED_FIELD_REASON] = WT_THINNING_SAMPLE;
	values[WT_THINNED_FIELD_LACKS] = WT_THINNED_PARAMETERS;
	put(WT_KIND_THINNED, values);
}

static void take(const char *line)
{
	char w[6][64] = {"", "", "", "", "", ""};

	if (sscanf(line, "%63s %63s %63s %63s %63s %63s", w[0], w[1], w[2], w[3], w[4], w[5]) < 1)
		return;
	if (!strcmp(w[0], "thread"))
		thread = (uint32_t)atoi(w[1]);
	else if (!strcmp(w[0], "step"))
		step(w[1]);
	else if (!strcmp(w[0], "begin"))
		begin(w[1], (unsigned)atoi(w[2]), w[3], w[4]);
	else if (!strcmp(w[0], "in"))
		tensor(w[1], 0, w[2], w[3]);
	else if (!strcmp(w[0], "module"))
		snprintf(module, sizeof(module), "%s", w[1]);
	else if (!strcmp(w[0], "list"))
		list(w[1]);
	else if (!strcmp(w[0], "number"))
		number(w[1], w[2]);
	else if (!strcmp(w[0], "out"))
		tensor("", -1, w[1], w[2]);
	else if (!strcmp(w[0], "end"))
		end();
	else if (!strcmp(w[0], "state"))
		state(w[1], w[2], WT_VALUE_TYPE_HASH, strtoull(w[3], NULL, 16));
	else if (!strcmp(w[0], "held"))
		held(w[1], w[2], w[3], w[4]);
	else if (!strcmp(w[0], "setting"))
		state(w[1], w[2], WT_VALUE_TYPE_INT, strtoull(w[3], NULL, 10));
	else if (!strcmp(w[0], "rank"))
		rank(w[1]);
	else if (!strcmp(w[0], "counter"))
		counter(w[1], w[2]);
	else if (!strcmp(w[0], "lost"))
		lost(w[1]);
	else if (!strcmp(w[0], "thinned"))
		thinned();
	else
		must(-1);
}

int main(int argc, char **argv)
{
	struct wt_writer_options options;
	char line[512];

	if (argc != 2 || !strrchr(argv[1], '/'))
		return 2;
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid =
		1000 * (uint32_t)atoi(strrchr(argv[1], '/') + 1); /* no thread's number */
	must(wt_writer_create(argv[1], &options, &writer, NULL));
	for (uint32_t i = 1; i <= THREADS_MAX; i++)
		must(wt_writer_track(
			writer, &(struct wt_track){.id = i, .type = WT_TRACK_THREAD, .tid = i}));
	while (fgets(line, sizeof(line), stdin))
		take(line);
	must(wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
	return 0;
}
