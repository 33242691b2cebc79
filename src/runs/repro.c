/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program has data first (what this file writes) and then the same code for every operation
 * (`code`). Texts of the runs become Python strings in JSON's notation, so that nothing of a trace
 * can become code; contents of tensors are in hexadecimal.
 */
#include "repro.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"

#define FILE_BYTES_MAX ((size_t)512 << 20)

/* Finds the function by its name, repeats it, and says what makes it differ. */
static const char code[] =
	"\n\n"
	"DTYPES = {\"bool\": \"bool\", \"u8\": \"uint8\", \"i8\": \"int8\", \"i16\": \"int16\", "
	"\"i32\": \"int32\", "
	"\"i64\": \"int64\",\n"
	"          \"f16\": \"float16\", \"bf16\": \"bfloat16\", \"f32\": \"float32\", \"f64\": "
	"\"float64\", "
	"\"c64\": \"complex64\", \"c128\": \"complex128\"}\n"
	"\n\n"
	"def tensor(dtype, shape, text):\n"
	"    kind = getattr(torch, DTYPES[dtype])\n"
	"    extents = [int(n) for n in shape.split(\"x\") if n]\n"
	"    raw = bytearray(bytes.fromhex(text))\n"
	"    return torch.frombuffer(raw, dtype=kind).clone().reshape(extents) if raw else "
	"torch.empty(extents, dtype=kind)\n"
	"\n\n"
	"def function():\n"
	"    owner, _, name = CALLEE.rpartition(\".\")\n"
	"    if owner == \"Tensor\":\n"
	"        return getattr(torch.Tensor, name)\n"
	"    if CALLEE.startswith(\"aten::\"):\n"
	"        return getattr(torch.ops.aten, CALLEE[6:])\n"
	"    for place in (MODULE, \"torch\", \"torch.nn.functional\", \"numpy\"):\n"
	"        try:\n"
	"            found = importlib.import_module(place)\n"
	"            for part in CALLEE.split(\".\"):\n"
	"                found = getattr(found, part)\n"
	"            return found\n"
	"        except (ImportError, AttributeError, ValueError):\n"
	"            continue\n"
	"    sys.exit(f\"there is no {CALLEE} here\")\n"
	"\n\n"
	"def arguments(run, wide):\n"
	"    \"\"\"Fresh copies, as the operation may write into them; elements of lists are put "
	"together "
	"again.\"\"\"\n"
	"    given, lists, named = {}, {}, {}\n"
	"    for position, name, values in INPUTS:\n"
	"        value = values[run]\n"
	"        if isinstance(value, tuple):\n"
	"            value = tensor(*value)\n"
	"            if wide and value.is_floating_point():\n"
	"                value = value.double()\n"
	"        if name.startswith(\"[\"):\n"
	"            lists.setdefault(position, []).append(value)\n"
	"        else:\n"
	"            given[position] = value\n"
	"            named[position] = name\n"
	"    for position, name, text in OTHERS:\n"
	"        if position in given or position in lists:\n"
	"            named.setdefault(position, name)\n"
	"            continue\n"
	"        if text.startswith(\"(\"):\n"
	"            given[position] = ast.literal_eval(text)\n"
	"        elif text.startswith(\"<\"):\n"
	"            continue  # an object, of which only the type is known\n"
	"        else:\n"
	"            given[position] = None if text in (\"\", \"None\") else text\n"
	"        named[position] = name\n"
	"    given.update((position, tuple(values)) for position, values in lists.items())\n"
	"    order = sorted(given)\n"
	"    plain = [given[p] for p in order if named.get(p, \"\") in (\"\", \"self\") or "
	"named[p].startswith(\"argument \")]\n"
	"    return plain, {named[p]: given[p] for p in order[len(plain):]}\n"
	"\n\n"
	"def once(run, seed=None, wide=False):\n"
	"    if seed is not None:\n"
	"        torch.manual_seed(seed)\n"
	"    usual = torch.get_default_dtype()\n"
	"    torch.set_default_dtype(torch.float64 if wide else usual)  # for what is made from "
	"nothing\n"
	"    try:\n"
	"        plain, named = arguments(run, wide)\n"
	"        result = function()(*plain, **named)\n"
	"    finally:\n"
	"        torch.set_default_dtype(usual)\n"
	"    result = result[0] if isinstance(result, (tuple, list)) else result\n"
	"    return result.detach().clone() if isinstance(result, torch.Tensor) else "
	"torch.tensor(result)\n"
	"\n"
	"\n"
	"def kinds(results):\n"
	"    return len({result.contiguous().view(torch.uint8).numpy().tobytes() if result.dim() "
	"else "
	"result.numpy().tobytes() for result in results})\n"
	"\n\n"
	"def apart(x, y):\n"
	"    x, y = x.double(), y.double()\n"
	"    if x.shape != y.shape:\n"
	"        return f\"shapes {tuple(x.shape)} and {tuple(y.shape)}\"\n"
	"    differ = (x != y) & ~(x.isnan() & y.isnan())\n"
	"    farthest = (x - y).abs().nan_to_num().max().item() if x.numel() else 0.0\n"
	"    return f\"{int(differ.sum())} of {x.numel()} elements differ, farthest "
	"{farthest:.3g}, NaN "
	"{int(x.isnan().sum())} and {int(y.isnan().sum())}\"\n"
	"\n\n"
	"def draws():\n"
	"    \"\"\"Whether the operation takes random numbers.\"\"\"\n"
	"    torch.manual_seed(1)\n"
	"    before = torch.get_rng_state()\n"
	"    once(0)\n"
	"    return not torch.equal(before, torch.get_rng_state())\n"
	"\n"
	"\n"
	"def on_threads(count, wide=False):\n"
	"    usual = torch.get_num_threads()\n"
	"    torch.set_num_threads(count)\n"
	"    try:\n"
	"        return once(0, seed=1, wide=wide)\n"
	"    finally:\n"
	"        torch.set_num_threads(usual)\n"
	"\n"
	"\n"
	"def after(byte, wide=False):\n"
	"    \"\"\"The operation, where memory of its size was given back that held this "
	"byte.\"\"\"\n"
	"    size = max(1, once(0, wide=wide).numel() * 8)\n"
	"    kept = [torch.full((bytes,), byte, dtype=torch.uint8) for bytes in (size, size // 2) "
	"for _ in range(64)]\n"
	"    del kept\n"
	"    return once(0, wide=wide)\n"
	"\n"
	"\n"
	"def fp64(x, y):\n"
	"    \"\"\"The same two results, computed in fp64.\"\"\"\n"
	"    try:\n"
	"        print(\"in fp64:\", apart(x(), y()))\n"
	"    except (RuntimeError, TypeError) as error:\n"
	"        print(\"in fp64: not possible,\", str(error).splitlines()[0])\n"
	"\n"
	"\n"
	"def by_memory():\n"
	"    print(\"here, after memory with other contents was given back:\", apart(after(17), "
	"after(34)))\n"
	"    fp64(lambda: after(17, wide=True), lambda: after(34, wide=True))\n"
	"    return \"memory that nobody has written\" if kinds([after(17), after(34)]) > 1 else "
	"\"\"\n"
	"\n"
	"\n"
	"def by_inputs():\n"
	"    x, y = once(0, seed=1), once(1, seed=1)\n"
	"    print(\"here, with the inputs of A and of B:\", apart(x, y))\n"
	"    fp64(lambda: once(0, seed=1, wide=True), lambda: once(1, seed=1, wide=True))\n"
	"    return \"its inputs\" if kinds([x, y]) > 1 else \"\"\n"
	"\n"
	"\n"
	"def by_itself():\n"
	"    \"\"\"With the same inputs: random numbers, threads that take turns in any order, or "
	"how many they are.\"\"\"\n"
	"    if draws():\n"
	"        free, seeded = kinds([once(0) for _ in range(TIMES)]), kinds([once(0, seed=1) for "
	"_ in range(TIMES)])\n"
	"        print(f\"here, {TIMES} times with the same inputs: {free} results; with the same "
	"seed before each: {seeded}\")\n"
	"        print(\"with the seeds 1 and 2:\", apart(once(0, seed=1), once(0, seed=2)))\n"
	"        fp64(lambda: once(0, seed=1, wide=True), lambda: once(0, seed=2, wide=True))\n"
	"        return \"\" if free == 1 else \"the state of the random generator\" if seeded == "
	"1 else \"more than the state of the random generator\"\n"
	"    for threads in sorted({torch.get_num_threads(), 4}):\n"
	"        torch.set_num_threads(threads)\n"
	"        found = [once(0) for _ in range(TIMES)]\n"
	"        print(f\"here, {TIMES} times with the same inputs, {threads} threads: "
	"{kinds(found)} results\")\n"
	"        if kinds(found) > 1:\n"
	"            other = next(one for one in found if kinds([found[0], one]) > 1)\n"
	"            print(\"two of them:\", apart(found[0], other))\n"
	"            fp64(lambda: once(0, wide=True), lambda: once(0, wide=True))\n"
	"            return \"threads that take turns in any order\"\n"
	"    counts = [on_threads(count) for count in (1, 2, 3, 4, 8)]\n"
	"    print(f\"with 1, 2, 3, 4 and 8 threads: {kinds(counts)} results\")\n"
	"    if kinds(counts) == 1:\n"
	"        return \"\"\n"
	"    other = next(n for n, one in zip((2, 3, 4, 8), counts[1:]) if kinds([counts[0], one]) "
	"> 1)\n"
	"    print(f\"with 1 and {other}:\", apart(on_threads(1), on_threads(other)))\n"
	"    fp64(lambda: on_threads(1, wide=True), lambda: on_threads(other, wide=True))\n"
	"    return \"the number of threads\"\n"
	"\n"
	"\n"
	"def main():\n"
	"    print(f\"{MODULE} {CALLEE}, {PLACE}\")\n"
	"    print(f\"torch {torch.__version__}, {torch.get_num_threads()} threads, recorded with "
	"the same inputs: {'yes' if SAME_INPUTS else 'no'}\")\n"
	"    if RESULTS:\n"
	"        print(\"recorded:\", apart(tensor(*RESULTS[0]), tensor(*RESULTS[1])))\n"
	"    why = by_memory() if MEMORY else by_itself() if SAME_INPUTS else by_inputs()\n"
	"    print(f\"it differs by {why}\" if why else \"it does not differ here: the machine, "
	"its processors or the version of torch may matter\")\n"
	"    return not why\n"
	"\n"
	"\n"
	"if __name__ == \"__main__\":\n"
	"    sys.exit(main())\n";

static void put_text(struct wti_buf *out, const char *text)
{
	struct wti_json json;

	wti_json_init(&json, out, false);
	wti_json_text(&json, text);
}

static const char *dtype_name(uint32_t dtype)
{
	const struct wt_field *field =
		&wt_kind_builtin(WT_KIND_TENSOR)->fields[WT_TENSOR_FIELD_DTYPE];

	return dtype < field->enum_count ? field->enum_names[dtype] : "";
}

/* ("f32", "64x32", "00ff..."), or None: its contents were not kept. */
static bool put_tensor(struct wti_buf *out, const struct wti_run *run,
		       const struct wti_digest_row *digest, const char *shape)
{
	struct wti_buf bytes;
	bool ok;

	wti_buf_init(&bytes, FILE_BYTES_MAX);
	ok = wti_blob_read(run, digest, &bytes);
	if (ok) {
		wti_buf_byte(out, '(');
		put_text(out, dtype_name(digest->dtype));
		wti_buf_text(out, ", ");
		put_text(out, shape);
		wti_buf_text(out, ", \"");
		wti_buf_hex(out, bytes.data, bytes.bytes);
		wti_buf_text(out, "\")");
	} else {
		wti_buf_text(out, "None");
	}
	wti_buf_release(&bytes);
	return ok;
}

static bool put_value(struct wti_buf *out, const struct wti_run *run,
		      const struct wti_value_row *value, const char *shape)
{
	double number;

	memcpy(&number, &value->bits, sizeof(number));
	switch (value->type) {
	case WTI_VALUE_TENSOR:
		return put_tensor(out, run, &value->digest, shape);
	case WT_VALUE_TYPE_FLOAT:
		wti_buf_printf(out, isfinite(number) ? "%.17g" : "float('%g')", number);
		return true;
	case WT_VALUE_TYPE_BOOL:
		wti_buf_text(out, value->bits ? "True" : "False");
		return true;
	case WT_VALUE_TYPE_INT:
		wti_buf_printf(out, "%" PRId64, (int64_t)value->bits);
		return true;
	default:
		wti_buf_text(out, "None");
		return false;
	}
}

/* How many of them could be written. */
static bool put_inputs(struct wti_buf *out, const struct wti_compared_runs *runs,
		       const struct wti_first_difference *first)
{
	bool ok = true;

	wti_buf_text(out, "INPUTS = [  # position, name, in A and in B\n");
	for (uint32_t i = 0; i < first->value_count; i++) {
		const struct wti_value_pair *pair = &first->values[i];

		if (pair->a.position < 0 || pair->a.type == WT_VALUE_TYPE_TEXT)
			continue;
		wti_buf_printf(out, "    (%d, ", pair->a.position);
		put_text(out, pair->name);
		wti_buf_text(out, ", (");
		ok &= put_value(out, &runs->runs[0].run, &pair->a, pair->shape);
		wti_buf_text(out, ", ");
		ok &= put_value(out, &runs->runs[1].run, &pair->b, pair->shape);
		wti_buf_text(out, ")),\n");
	}
	wti_buf_text(out, "]\nOTHERS = [  # position, name, text\n");
	for (uint32_t i = 0; i < first->other_count; i++) {
		wti_buf_printf(out, "    (%d, ", first->others[i].position);
		put_text(out, first->others[i].name);
		wti_buf_text(out, ", ");
		put_text(out, first->others[i].text);
		wti_buf_text(out, "),\n");
	}
	wti_buf_text(out, "]\n");
	return ok;
}

static void put_results(struct wti_buf *out, const struct wti_compared_runs *runs,
			const struct wti_first_difference *first)
{
	const struct wti_value_pair *pair = NULL;

	for (uint32_t i = 0; i < first->value_count && !pair; i++)
		if (first->values[i].a.position < 0 && first->values[i].a.type == WTI_VALUE_TENSOR)
			pair = &first->values[i];
	wti_buf_text(out, "RESULTS = ");
	if (!pair || !(pair->a.digest.flags & pair->b.digest.flags & WT_TENSOR_BLOB)) {
		wti_buf_text(out, "None\n");
		return;
	}
	wti_buf_byte(out, '(');
	put_tensor(out, &runs->runs[0].run, &pair->a.digest, pair->shape);
	wti_buf_text(out, ", ");
	put_tensor(out, &runs->runs[1].run, &pair->b.digest, pair->shape);
	wti_buf_text(out, ")\n");
}

static void put_head(struct wti_buf *out, const struct wti_first_difference *first)
{
	char place[600];

	snprintf(place, sizeof(place), "%s:%u", first->file, first->line);
	wti_buf_text(out,
		     "#!/usr/bin/env python3\n"
		     "# Written by `wheeltap rerun --emit`: an operation of two runs that differs. "
		     "Needs torch alone.\n"
		     "import ast\nimport importlib\nimport sys\n\nimport torch\n\n"
		     "TIMES = 20\nCALLEE = ");
	put_text(out, first->callee);
	wti_buf_text(out, "\nMODULE = ");
	put_text(out, first->module);
	wti_buf_text(out, "\nPLACE = ");
	put_text(out, place);
	wti_buf_printf(out, "\nSAME_INPUTS = %s\nMEMORY = %s  # that nobody has written\n",
		       first->in.different ? "False" : "True",
		       first->how == WTI_BEGINS_MEMORY ? "True" : "False");
}

/* Operators below Python are recorded with their results alone, unless --operators asks for more.
 */
static bool has_inputs(const struct wti_first_difference *first)
{
	bool found = first->other_count || first->how == WTI_BEGINS_MEMORY;

	for (uint32_t i = 0; i < first->value_count && !found; i++)
		found = first->values[i].a.position >= 0;
	return found;
}

static int refuse(const struct wti_first_difference *first, const char *path, struct wt_err *err)
{
	if (first->kind == WTI_COMPUTED_VALUE || first->action != WT_ACTION_NONE || *first->object)
		return wti_err(
			err, WT_E_MISSING,
			"nothing was written to '%s': '%s' has inputs that are not among its "
			"arguments",
			path, first->callee);
	if (first->kind == WTI_COMPUTED_OPERATOR && !has_inputs(first))
		return wti_err(err, WT_E_MISSING,
			       "nothing was written to '%s': of the operator '%s' the inputs are "
			       "not recorded",
			       path, first->callee);
	if (first->in.opaque)
		return wti_err(err, WT_E_MISSING,
			       "nothing was written to '%s': of an argument of '%s' only the type "
			       "or the first elements are recorded",
			       path, first->callee);
	return 0;
}

int wti_repro_write(const struct wti_compared_runs *runs, const char *path, struct wt_err *err)
{
	const struct wti_first_difference *first = wti_divergence_first(&runs->report);
	struct wti_buf out;
	int r = first ? refuse(first, path, err)
		      : wti_err(err, WT_E_MISSING, "the runs do not differ: nothing was written");

	if (r)
		return r;
	wti_buf_init(&out, FILE_BYTES_MAX);
	put_head(&out, first);
	if (!put_inputs(&out, runs, first))
		r = wti_err(err, WT_E_MISSING,
			    "nothing was written to '%s': not all inputs of '%s' were kept", path,
			    first->callee);
	put_results(&out, runs, first);
	wti_buf_text(&out, code);
	if (!r && wti_buf_status(&out))
		r = wti_err(err, WT_E_LIMIT, "the inputs of '%s' are too large for a file",
			    first->callee);
	r = r ? r : wti_file_replace(path, out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}
