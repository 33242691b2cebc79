/* SPDX-License-Identifier: Apache-2.0 */
/* Brings memory to where it was before the operation, and writes all of it as C. */
#include "emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"
#include "pass_compare.h"
#include "report.h"
#include "repro_files.h"
#include "store.h"

enum { OBJECTS_MAX = 64, OPS = 2, WORDS_A_LINE = 8 };

/* What the program does, and compares. */
enum shows {
	SHOWS_REPEAT,   /* one kernel from the same content, often */
	SHOWS_ORDERS,   /* two kernels in both orders */
	SHOWS_CONTENTS, /* one kernel with two contents of memory that nobody initialised */
	SHOWS_RECORDED, /* one kernel, and the recorded result */
};

#define FILE_OF(name)                                                                              \
	{                                                                                          \
		wti_##name##_inc, sizeof(wti_##name##_inc)                                         \
	}
static const struct {
	const unsigned char *text;
	size_t bytes;
} mains[] = {
	[SHOWS_REPEAT] = FILE_OF(repeat),
	[SHOWS_ORDERS] = FILE_OF(orders),
	[SHOWS_CONTENTS] = FILE_OF(contents),
	[SHOWS_RECORDED] = FILE_OF(recorded),
};

#define CONTENT_BYTES_MAX (UINT64_C(64) << 20)
#define FILE_BYTES_MAX ((size_t)1 << 30)

struct emission {
	struct wti_replay_session *session;
	const struct wti_replay_plan *plan;
	uint32_t ops[OPS];
	size_t op_count;
	uint32_t objects[OBJECTS_MAX]; /* buffers, in the order of the program's */
	size_t object_count;
	enum shows shows;
	struct {
		uint32_t object;
		uint64_t offset, bytes, hash;
	} expected; /* of SHOWS_RECORDED */
	struct wti_buf out;
};

/* ---- What is needed -------------------------------------------------------------------------- */

static size_t index_of(const struct emission *e, uint32_t object)
{
	size_t i = 0;

	while (i < e->object_count && e->objects[i] != object)
		i++;
	return i;
}

static const struct wti_replay_plan_access *code_of(const struct emission *e, size_t which)
{
	return wti_replay_plan_access(e->plan, &e->plan->ops[e->ops[which]], WT_ACCESS_MODE_CODE,
				      false);
}

/* Why it cannot be a program of its own; NULL: it can. */
static const char *take_memory(struct emission *e, const struct wti_replay_plan_access *access)
{
	if (access->object == WTI_PLAN_NONE || access->mode == WT_ACCESS_MODE_CODE)
		return NULL;
	if (e->plan->objects[access->object].type != WT_DEVICE_OBJECT_TYPE_BUFFER)
		return "it uses images, samplers or shared memory";
	if (index_of(e, access->object) < e->object_count)
		return NULL;
	if (e->object_count == OBJECTS_MAX)
		return "it uses too many buffers";
	e->objects[e->object_count++] = access->object;
	return NULL;
}

static const char *take_op(struct emission *e, uint32_t op)
{
	const struct wti_replay_plan_op *about = &e->plan->ops[op];
	const struct wti_replay_plan_access *code;
	const char *why = NULL;

	if (about->call != WTI_CALL_KERNEL || about->refusal)
		return "it is not a kernel";
	e->ops[e->op_count++] = op;
	code = code_of(e, e->op_count - 1);
	if (!code || code->value_bytes != 80)
		return "its arguments were not recorded";
	for (uint32_t i = 0; !why && i < about->access_count; i++)
		why = take_memory(e, &e->plan->accesses[about->access_first + i]);
	return why;
}

/* A content that was recorded when the host had waited. */
static const struct wti_replay_plan_access *state_of(const struct emission *e,
						     const struct wti_replay_pass_found *found)
{
	const struct wti_replay_plan_op *op = &e->plan->ops[found->op];

	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&e->plan->accesses[op->access_first + i];

		if (access->object == found->object && access->hash)
			return access;
	}
	return NULL;
}

/* What showed it, if it is of a buffer that the kernel has: a content, or a plain read. */
static const char *take_expected(struct emission *e, const struct wti_replay_pass_found *found)
{
	const struct wti_replay_plan_op *op = &e->plan->ops[found->op];
	const struct wti_replay_plan_access *to =
		found->object != WTI_PLAN_NONE
			? state_of(e, found)
			: wti_replay_plan_access(e->plan, op, WT_ACCESS_MODE_WRITE, true);
	const struct wti_replay_plan_access *from =
		found->object != WTI_PLAN_NONE
			? to
			: wti_replay_plan_access(e->plan, op, WT_ACCESS_MODE_READ, false);

	if (!from || !to || !to->hash || to->bytes != from->bytes)
		return "what was recorded is neither a plain read nor a content";
	if (index_of(e, from->object) == e->object_count)
		return "what differs is in memory that the kernel does not have";
	e->shows = SHOWS_RECORDED;
	e->expected.object = from->object;
	e->expected.offset = from->offset;
	e->expected.bytes = from->bytes;
	e->expected.hash = to->hash;
	return NULL;
}

/* All that comes before it in the order of the calls, one at a time; objects stay as they are. */
static int bring_there(struct emission *e, uint8_t uninitialised, struct wt_err *err)
{
	struct wti_replay_pass_how how = {
		.order = e->plan->serial, .repeats = 1, .is_keeping = true};
	struct wti_replay_pass pass;
	int r;

	e->session->how.uninitialised = uninitialised;
	while (how.count < e->plan->serial_count && e->plan->serial[how.count] != e->ops[0])
		how.count++;
	r = wti_replay_pass_run(e->session, &how, &pass, err);
	if (!r)
		wti_replay_pass_release(&pass);
	return r;
}

/* ---- As C ------------------------------------------------------------------------------------ */

static void add_string(struct wti_buf *out, const char *text, size_t bytes)
{
	wti_buf_text(out, "\t\"");
	for (size_t i = 0; i < bytes; i++) {
		uint8_t c = (uint8_t)text[i];

		if (c == '\n')
			wti_buf_text(out, "\\n\"\n\t\"");
		else if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?')
			wti_buf_printf(out, "\\%03o", c);
		else
			wti_buf_byte(out, c);
	}
	wti_buf_text(out, "\"");
}

/* One word if all are the same. */
static void add_words(struct emission *e, const char *name, size_t index, const uint8_t *content,
		      uint64_t bytes)
{
	size_t count = (bytes + 7) / 8;
	bool is_one = true;

	for (size_t i = 8; is_one && i + 8 <= bytes; i += 8)
		is_one = !memcmp(content, content + i, 8);
	is_one = is_one && bytes >= 8 && !memcmp(content, content + bytes / 8 * 8, bytes % 8);
	wti_buf_printf(&e->out, "static const unsigned long long %s%zu[] = {", name, index);
	for (size_t i = 0; i < (is_one ? 1 : count); i++) {
		uint64_t word = 0;

		memcpy(&word, content + 8 * i, bytes - 8 * i < 8 ? bytes - 8 * i : 8);
		wti_buf_printf(&e->out, "%s0x%" PRIx64 ",", i % WORDS_A_LINE ? " " : "\n\t", word);
	}
	wti_buf_text(&e->out, "\n};\n");
}

/* What is in the buffers now. */
static const char *add_contents(struct emission *e, const char *name)
{
	uint64_t all = 0;
	const char *why = NULL;

	for (size_t i = 0; !why && i < e->object_count; i++) {
		uint64_t bytes = e->plan->objects[e->objects[i]].bytes;
		uint8_t *content;
		void *handle;

		all += bytes;
		if (!bytes || bytes > CONTENT_BYTES_MAX || all > CONTENT_BYTES_MAX)
			return "its memory is too large for a program (64 MiB)";
		content = malloc(bytes);
		why = content ? wti_replay_session_object(e->session, e->objects[i], &handle)
			      : "there is not enough memory";
		why = why ? why : wti_replay_session_get(e->session, e->objects[i], content);
		if (!why)
			add_words(e, name, i, content, bytes);
		free(content);
	}
	return why;
}

/* How the program prints an element. */
static char format_of(struct wti_replay_element_type type)
{
	return type.element == WTI_ELEMENT_F32 ? 'f' : type.element == WTI_ELEMENT_F64 ? 'd' : 'x';
}

static void add_buffers(struct emission *e)
{
	const char *second = e->shows == SHOWS_CONTENTS ? "others" : "words";

	wti_buf_text(&e->out, "static struct buffer buffers[] = {\n");
	for (size_t i = 0; i < e->object_count; i++) {
		struct wti_replay_element_type type = wti_replay_element_of(
			wti_replay_pass_type(e->session, e->ops[0], e->objects[i]));

		wti_buf_printf(&e->out,
			       "\t{%" PRIu64 ", {{words%zu, sizeof(words%zu) / 8}, "
			       "{%s%zu, sizeof(%s%zu) / 8}}, %u, '%c', NULL},\n",
			       e->plan->objects[e->objects[i]].bytes, i, i, second, i, second, i,
			       type.bytes, format_of(type));
	}
	wti_buf_text(&e->out, "};\n\n");
}

static const char *add_source(struct emission *e, size_t which)
{
	const struct wti_replay_plan_object *kernel = &e->plan->objects[code_of(e, which)->object];
	const struct wti_replay_plan_object *program = &e->plan->objects[kernel->parent];
	struct wti_buf source;
	const char *why;

	if (which && e->plan->objects[code_of(e, 0)->object].parent == kernel->parent) {
		wti_buf_printf(&e->out,
			       "#define source%zu source0\n#define options%zu options0\n\n", which,
			       which);
		return NULL;
	}
	wti_buf_init(&source, SIZE_MAX);
	why = wti_replay_store_read(e->session->store, program->hash, 0, &source);
	if (!why && program->flags)
		why = "its program is not source";
	wti_buf_printf(&e->out, "static const char source%zu[] =\n", which);
	add_string(&e->out, (const char *)source.data, why ? 0 : source.bytes);
	wti_buf_printf(&e->out, ";\nstatic const char options%zu[] =\n", which);
	add_string(&e->out, program->options ? program->options : "",
		   program->options ? strlen(program->options) : 0);
	wti_buf_text(&e->out, ";\n\n");
	wti_buf_release(&source);
	return why;
}

static void add_bytes(struct wti_buf *out, const struct wti_replay_plan_access *access)
{
	wti_buf_printf(out, "\tstatic const unsigned char value%d[] = {", access->argument);
	for (uint32_t i = 0; i < access->value_bytes; i++)
		wti_buf_printf(out, "%s%u", i ? ", " : "", ((const uint8_t *)access->value)[i]);
	wti_buf_text(out, "};\n");
}

/* A sub-buffer is made where it is set: the whole of it has the content. */
static void add_argument(struct emission *e, const struct wti_replay_plan_access *access)
{
	struct wti_buf *out = &e->out;
	int32_t n = access->argument;

	if (n < 0)
		return;
	if (access->mode == WT_ACCESS_MODE_LOCAL)
		wti_buf_printf(out, "\tMUST(clSetKernelArg(kernel, %d, %" PRIu64 ", NULL));\n", n,
			       access->bytes);
	else if (access->object == WTI_PLAN_NONE)
		wti_buf_printf(out, "\tMUST(clSetKernelArg(kernel, %d, %u, value%d));\n", n,
			       access->value_bytes, n);
	else if (access->value_bytes == 8)
		wti_buf_printf(out,
			       "\tconst cl_buffer_region region%d = {%" PRIu64 ", %" PRIu64 "};\n"
			       "\tcl_mem part%d = clCreateSubBuffer(buffers[%zu].mem, 0, "
			       "CL_BUFFER_CREATE_TYPE_REGION, &region%d, &status);\n"
			       "\tmust(status, \"clCreateSubBuffer\");\n"
			       "\tMUST(clSetKernelArg(kernel, %d, sizeof(cl_mem), &part%d));\n",
			       n, access->offset, access->bytes, n, index_of(e, access->object), n,
			       n, n);
	else
		wti_buf_printf(out,
			       "\tMUST(clSetKernelArg(kernel, %d, sizeof(cl_mem), "
			       "&buffers[%zu].mem));\n",
			       n, index_of(e, access->object));
}

static void add_numbers(struct wti_buf *out, const char *name, const char *at)
{
	wti_buf_printf(out, "\tconst size_t %s[3] = {%" PRIu64 ", %" PRIu64 ", %" PRIu64 "};\n",
		       name, wti_get64(at), wti_get64(at + 8), wti_get64(at + 16));
}

static void add_launch(struct emission *e, size_t which)
{
	const struct wti_replay_plan_op *op = &e->plan->ops[e->ops[which]];
	const struct wti_replay_plan_access *code = code_of(e, which);
	const char *geometry = code->value;
	struct wti_buf *out = &e->out;

	wti_buf_printf(out, "static void launch%zu(void)\n{\n\tstatic cl_kernel kernel;\n", which);
	add_numbers(out, "offset", geometry + 8);
	add_numbers(out, "global", geometry + 32);
	add_numbers(out, "local", geometry + 56);
	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&e->plan->accesses[op->access_first + i];

		if (access->mode == WT_ACCESS_MODE_VALUE && access->argument >= 0)
			add_bytes(out, access);
	}
	wti_buf_text(out, "\tcl_int status;\n\n\tif (!kernel) {\n\t\tkernel = clCreateKernel(");
	wti_buf_printf(out, "build(source%zu, options%zu),\n", which, which);
	add_string(out, e->plan->objects[code->object].name,
		   strlen(e->plan->objects[code->object].name));
	wti_buf_text(out, ", &status);\n\t\tmust(status, \"clCreateKernel\");\n\t}\n");
	for (uint32_t i = 0; i < op->access_count; i++)
		if (e->plan->accesses[op->access_first + i].mode != WT_ACCESS_MODE_CODE)
			add_argument(e, &e->plan->accesses[op->access_first + i]);
	wti_buf_printf(out,
		       "\tMUST(clEnqueueNDRangeKernel(queue, kernel, %" PRIu64
		       ", offset, global, local[0] ? local : NULL, 0, NULL, NULL));\n"
		       "\tMUST(clFinish(queue));\n}\n\n",
		       wti_get64(geometry));
}

/* The recorded bytes by a hash that the program can compute. */
static const char *add_expected(struct emission *e)
{
	uint64_t hash = UINT64_C(1469598103934665603);
	struct wti_buf recorded;
	const char *why;

	wti_buf_init(&recorded, SIZE_MAX);
	why = wti_replay_store_read(e->session->store, e->expected.hash, e->expected.bytes,
				    &recorded);
	for (size_t i = 0; i < recorded.bytes; i++)
		hash = (hash ^ recorded.data[i]) * UINT64_C(1099511628211);
	wti_buf_release(&recorded);
	wti_buf_printf(
		&e->out,
		"#define EXPECTED_BUFFER %zu\n#define EXPECTED_OFFSET %" PRIu64
		"\n#define EXPECTED_BYTES %" PRIu64 "\n#define EXPECTED_HASH 0x%" PRIx64 "ull\n\n",
		index_of(e, e->expected.object), e->expected.offset, e->expected.bytes, hash);
	return why;
}

static void add_head(struct emission *e)
{
	const char *recorded = "";

	for (size_t i = 0; i < WTI_SESSION_DEVICES_MAX && !*recorded; i++)
		if (e->session->devices[i].recorded)
			recorded = e->session->devices[i].recorded;
	wti_buf_text(&e->out, "/*\n * Made by `wheeltap replay --emit`. Build: cc FILE -lOpenCL; "
			      "run: ./a.out [PART OF A DEVICE'S NAME].\n * Exit status 1 and a "
			      "line DIVERGES: shown; 0: not shown.\n */\n");
	wti_buf_append(&e->out, wti_head_inc, sizeof(wti_head_inc));
	wti_buf_text(&e->out, "#define RECORDED_ON \\\n");
	add_string(&e->out, recorded, strlen(recorded));
	wti_buf_text(&e->out, "\n\n");
}

/* Contents once, or for both contents of memory that nobody initialised. */
static const char *add_all_contents(struct emission *e, int *failed, struct wt_err *err)
{
	const char *why;

	*failed = bring_there(e, 0, err);
	why = *failed ? NULL : add_contents(e, "words");
	if (why || *failed || e->shows != SHOWS_CONTENTS)
		return why;
	*failed = bring_there(e, WTI_UNINITIALISED_BYTE, err);
	why = *failed ? NULL : add_contents(e, "others");
	e->session->how.uninitialised = 0;
	return why;
}

static const char *write_all(struct emission *e, int *failed, struct wt_err *err)
{
	const char *why = NULL;

	add_head(e);
	for (size_t i = 0; !why && i < e->op_count; i++)
		why = add_source(e, i);
	why = why ? why : add_all_contents(e, failed, err);
	if (why || *failed)
		return why;
	add_buffers(e);
	if (e->shows == SHOWS_RECORDED)
		why = add_expected(e);
	wti_buf_append(&e->out, wti_tools_inc, sizeof(wti_tools_inc));
	for (size_t i = 0; i < e->op_count; i++)
		add_launch(e, i);
	wti_buf_append(&e->out, mains[e->shows].text, mains[e->shows].bytes);
	return why;
}

/* ---- Which one ------------------------------------------------------------------------------- */

static const char *choose(struct emission *e, const struct wti_replay_verdicts *verdicts,
			  const struct wti_replay_races *races)
{
	const struct wti_replay_judged *origin;
	const char *why;

	for (size_t i = 0; i < races->count; i++)
		if (races->all[i].is_confirmed) {
			e->shows = SHOWS_ORDERS;
			why = take_op(e, races->all[i].first);
			return why ? why : take_op(e, races->all[i].second);
		}
	if (verdicts->first_origin == WTI_PLAN_NONE)
		return "nothing diverges";
	origin = &verdicts->ops[verdicts->first_origin];
	why = take_op(e, verdicts->first_origin);
	if (why || origin->reason == WTI_ORIGIN_INTRINSIC)
		return why;
	if (origin->reason == WTI_ORIGIN_UNINITIALISED)
		e->shows = SHOWS_CONTENTS;
	else if (origin->found)
		why = take_expected(e, origin->found);
	return why;
}

int wti_replay_emit(struct wti_replay_session *session, const struct wti_replay_verdicts *verdicts,
		    const struct wti_replay_races *races, const char *path, struct wt_err *err)
{
	struct emission e = {.session = session, .plan = session->plan};
	const char *why = choose(&e, verdicts, races);
	int r = 0;

	wti_buf_init(&e.out, FILE_BYTES_MAX);
	if (!why)
		why = write_all(&e, &r, err);
	if (!r && why)
		r = wti_err(err, WT_E_MISSING, "%s", why);
	if (!r && wti_buf_status(&e.out))
		r = wti_err(err, wti_buf_status(&e.out), "out of memory for a program");
	if (!r)
		r = wti_file_replace(path, e.out.data, e.out.bytes, err);
	wti_buf_release(&e.out);
	return r;
}
