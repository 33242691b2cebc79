/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a pack of invariants this knows one thing: what each entry needs to be measured ("needs").
 * What else stands in an entry is the inspector's business.
 */
#include "python_needs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/text.h"

#define PACK_BYTES_MAX ((size_t)16 << 20)
#define STEPS_MAX 1000000000ull

int wti_python_budget(struct wti_buf *out, const char *percent, struct wt_err *err)
{
	char *end = NULL;
	double value;

	if (!percent)
		return 0;
	value = strtod(percent, &end);
	if (end != percent && *end == '%')
		end++;
	if (end == percent || *end || !isfinite(value) || value < 0.1 || value > 1000)
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--budget'; give what recording may cost in "
			       "per cent of the program's own time, 0.1 to 1000",
			       percent);
	wti_buf_printf(out, "budget=%.6g\n", value);
	return 0;
}

/* "steps=3-5" */
static bool is_window(const char *sample)
{
	const char *dash = strncmp(sample, "steps=", 6) ? NULL : strchr(sample, '-');
	char first[24];
	uint64_t from, to;

	if (!dash || dash - sample - 6 >= (ptrdiff_t)sizeof(first))
		return false;
	memcpy(first, sample + 6, (size_t)(dash - sample - 6));
	first[dash - sample - 6] = 0;
	return wti_parse_u64(first, &from) && wti_parse_u64(dash + 1, &to) && from <= to &&
	       to < STEPS_MAX;
}

int wti_python_sample(struct wti_buf *out, const char *sample, struct wt_err *err)
{
	const char *number = sample ? strchr(sample, '=') : NULL;
	uint64_t value;

	if (!sample)
		return 0;
	if (!is_window(sample) &&
	    (!number || (strncmp(sample, "every=", 6) != 0 && strncmp(sample, "warmup=", 7) != 0) ||
	     !wti_parse_u64(number + 1, &value) || value < 1 || value > STEPS_MAX))
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--sample'; give every=N, one step in N, "
			       "warmup=K, the first K steps, or steps=A-B, these steps",
			       sample);
	wti_buf_printf(out, "sample=%s\n", sample);
	return 0;
}

/* What shows that two runs differ, and nothing that shows why: see docs/rerun.md. */
int wti_python_detail(struct wti_buf *out, const char *detail, const char *invariants,
		      struct wt_err *err)
{
	bool is_states = !strcmp(detail, "states");

	if (is_states && invariants)
		return wti_err(err, WT_E_ARG,
			       "'--detail states' and '--invariants' both select what is "
			       "recorded: give only one of them");
	wti_buf_printf(out, "detail=%s\n", is_states ? "lean" : detail);
	if (is_states)
		wti_buf_text(out, "needs=*.step\nneeds=torch.Tensor.backward\ninvariants=1\n"
				  "needs_arguments=0\nneeds_tensors=0\n"
				  "needs_states=parameters,rng,losses\n");
	return 0;
}

/* ---- What invariants need -------------------------------------------------------------------- */

static const char *const states[] = {"parameters", "gradients", "buffers", "optimizer",
				     "modes",      "rng",       "losses",  "data"};

enum { STATES = sizeof(states) / sizeof(states[0]) };

struct pack {
	const char *path;
	struct wti_buf *out;
	struct wt_err *err;
	uint32_t states; /* a bit for each */
	bool arguments;
	bool tensors;
	uint64_t count; /* entries so far */
};

/* "pack.json:12:5: invariant 3 'lr decays': no ..." */
static int fail(const struct pack *pack, const struct wti_doc *entry, const struct wti_doc *at,
		const char *what)
{
	const struct wti_doc *name = wti_doc_get(entry, "name");

	if (!name || name->type != WTI_DOC_STRING)
		name = wti_doc_get(entry, "id");
	return wti_err(pack->err, WT_E_ARG, "%.200s:%u:%u: invariant %llu '%.64s' %s", pack->path,
		       at->line, at->column, (unsigned long long)pack->count,
		       name && name->type == WTI_DOC_STRING ? name->string.data : "", what);
}

static bool is_pattern(const struct wti_doc *value)
{
	return value->type == WTI_DOC_STRING && value->string.bytes &&
	       value->string.bytes == strlen(value->string.data) &&
	       !strpbrk(value->string.data, ",\n\r ");
}

static int take_calls(struct pack *pack, const struct wti_doc *entry, const struct wti_doc *list)
{
	if (list->type != WTI_DOC_ARRAY)
		return fail(pack, entry, list, "needs \"calls\" that are a list of names");
	for (const struct wti_doc *call = list->first; call; call = call->next) {
		if (!is_pattern(call))
			return fail(pack, entry, call,
				    "has a call that is not a name; give full names or patterns "
				    "such as torch.nn.functional.*");
		wti_buf_printf(pack->out, "needs=%s\n", call->string.data);
	}
	return 0;
}

static int take_states(struct pack *pack, const struct wti_doc *entry, const struct wti_doc *list)
{
	if (list->type != WTI_DOC_ARRAY)
		return fail(pack, entry, list, "needs \"states\" that are a list of words");
	for (const struct wti_doc *state = list->first; state; state = state->next) {
		uint32_t i = 0;

		while (state->type == WTI_DOC_STRING && i < STATES &&
		       strcmp(state->string.data, states[i]))
			i++;
		if (state->type != WTI_DOC_STRING || i == STATES)
			return fail(pack, entry, state,
				    "has an unknown state; there are parameters, gradients, "
				    "buffers, optimizer, modes, rng, losses, data");
		pack->states |= 1u << i;
	}
	return 0;
}

static int take_flag(struct pack *pack, const struct wti_doc *entry, const struct wti_doc *value,
		     bool *ret)
{
	if (value && value->type != WTI_DOC_BOOL)
		return fail(pack, entry, value,
			    "needs \"arguments\" and \"tensors\" that are true or false");
	*ret |= value && value->boolean;
	return 0;
}

static int take_entry(struct pack *pack, const struct wti_doc *entry)
{
	const struct wti_doc *needs, *calls, *list;
	int r = 0;

	if (entry->type != WTI_DOC_TABLE)
		return fail(pack, entry, entry, "is not an object");
	needs = wti_doc_get(entry, "needs");
	if (!needs || needs->type != WTI_DOC_TABLE)
		return fail(pack, entry, entry,
			    "has no \"needs\", so what to measure for it is unknown; add "
			    "{\"calls\": [...], \"states\": [...], \"arguments\": true or false, "
			    "\"tensors\": true or false}");
	calls = wti_doc_get(needs, "calls");
	list = wti_doc_get(needs, "states");
	r = take_flag(pack, entry, wti_doc_get(needs, "arguments"), &pack->arguments);
	if (!r)
		r = take_flag(pack, entry, wti_doc_get(needs, "tensors"), &pack->tensors);
	if (!r && calls)
		r = take_calls(pack, entry, calls);
	if (!r && list)
		r = take_states(pack, entry, list);
	return r;
}

static int take_pack(struct pack *pack, const struct wti_doc *root)
{
	const struct wti_doc *list =
		root->type == WTI_DOC_TABLE ? wti_doc_get(root, "invariants") : root;
	int r = 0;

	if (!list || list->type != WTI_DOC_ARRAY)
		return wti_err(pack->err, WT_E_ARG,
			       "'%.200s' is not a pack of invariants: it has no list "
			       "\"invariants\"",
			       pack->path);
	for (const struct wti_doc *entry = list->first; entry && !r; entry = entry->next) {
		pack->count++;
		r = take_entry(pack, entry);
	}
	if (r)
		return r;
	if (!pack->count)
		return wti_err(pack->err, WT_E_ARG, "there are no invariants in '%.200s'",
			       pack->path);
	wti_buf_printf(
		pack->out, "invariants=%llu\nneeds_arguments=%d\nneeds_tensors=%d\nneeds_states=",
		(unsigned long long)pack->count, pack->arguments || pack->tensors, pack->tensors);
	for (uint32_t i = 0, n = 0; i < STATES; i++)
		if (pack->states & 1u << i)
			wti_buf_printf(pack->out, "%s%s", n++ ? "," : "", states[i]);
	wti_buf_byte(pack->out, '\n');
	return 0;
}

int wti_python_needs(struct wti_buf *out, const char *path, struct wt_err *err)
{
	struct pack pack = {.path = path, .out = out, .err = err};
	struct wti_doc *root = NULL;
	struct wti_buf text;
	int r;

	if (!path)
		return 0;
	wti_buf_init(&text, PACK_BYTES_MAX + 1);
	r = wti_file_read(path, PACK_BYTES_MAX, &text, err);
	if (r && r != WT_E_NOMEM)
		err->code = r = WT_E_ARG; /* a mistake of the command line, not of a trace */
	if (!r)
		r = wti_json_parse(path, (const char *)text.data, text.bytes, &root, err);
	if (!r)
		r = take_pack(&pack, root);
	wti_doc_free(root);
	wti_buf_release(&text);
	return r;
}
