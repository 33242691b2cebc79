/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `model`: files of saved parameters, of any format. */
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/front.h"
#include "cli/judge/compute.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "model/sign.h"
#include "runs/model/actions.h"
#include "runs/model/verify.h"
#include "show/verdict.h"

#define PAGE_MAX ((size_t)256 << 20)
#define TOLERANCE                                                                                  \
	1e-5 /* of a probe: what single precision and another order of sums may differ by */

struct model_options {
	bool json;
	const char *output;
	const char *html;
	const char *to;
	const char *manifest;
	const char *against;
	const char *data;
	const char *labels;
	const char *activation;
	const char *compute;
	const char *like;
	const char *key;
	const char *signature;
	const char *run;
	const char *probe;
	const char *expect;
	const char *tolerance;
	const char *fail_on;
};

static const struct model_options defaults = {.fail_on = "error", .activation = "relu"};

/* What an action gets. */
struct request {
	const struct model_options *options;
	const struct wti_front *front;
	char **arguments;
	struct wt_result *result;
};

struct action {
	const char *name;
	const char *takes;
	size_t arguments;
	bool judges; /* findings at or above --fail-on give 1; of others a status of findings does
		      */
	int (*run)(const struct request *request, struct wt_err *err);
};

/* ---- Actions -------------------------------------------------------------------------------- */

static int save_page(const char *path, const struct wt_result *result, struct wt_err *err)
{
	struct wti_buf out;
	int r;

	wti_buf_init(&out, PAGE_MAX);
	wti_show_page(&out, result);
	r = wti_buf_status(&out);
	r = r ? wti_err(err, r, "the page would be too large")
	      : wti_file_replace(path, out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}

static int inspect(const struct request *request, struct wt_err *err)
{
	const char *html = request->options->html;
	int r = wti_model_inspect(request->front, request->arguments[0], html, request->result,
				  err);

	return r || !html ? r : save_page(html, request->result, err);
}

static enum wti_activation activation_of(const char *word)
{
	return !strcmp(word, "relu")   ? WTI_ACTIVATION_RELU
	       : !strcmp(word, "tanh") ? WTI_ACTIVATION_TANH
				       : WTI_ACTIVATION_NONE;
}

static int verify(const struct request *request, struct wt_err *err)
{
	const char *given = request->options->tolerance;
	double tolerance = TOLERANCE;
	int r;

	if (given && (!wti_scan_double(given, &tolerance) || !(tolerance >= 0)))
		return wti_err(err, WT_E_ARG, "--tolerance '%s' is not a number from 0 on", given);
	if (request->options->compute && !request->options->probe && !request->options->data)
		return wti_err(err, WT_E_ARG, "--compute needs inputs: --probe or --data");

	struct wti_compute compute = {.command = request->options->compute};
	const struct wti_model_verify_options options = {
		.manifest = request->options->manifest,
		.against = request->options->against,
		.data = request->options->data,
		.labels = request->options->labels,
		.activation = activation_of(request->options->activation),
		.program = {compute.command ? wti_compute_run : NULL, &compute},
		.key = request->options->key,
		.signature = request->options->signature,
		.probe = request->options->probe,
		.expect = request->options->expect,
		.tolerance = tolerance,
	};

	r = wti_model_verify(request->front, request->arguments[0], &options, request->result, err);
	wti_compute_release(&compute);
	return r;
}

static int diff(const struct request *request, struct wt_err *err)
{
	return wti_model_diff(request->front, request->arguments[0], request->arguments[1],
			      request->result, err);
}

static int convert(const struct request *request, struct wt_err *err)
{
	return wti_model_convert(request->front, request->arguments[0], request->arguments[1],
				 request->options->to, request->options->like, request->result,
				 err);
}

static int manifest(const struct request *request, struct wt_err *err)
{
	return wti_model_manifest(request->front, request->arguments[0], request->options->output,
				  request->result, err);
}

static int key(const struct request *request, struct wt_err *err)
{
	int r = wti_key_make(request->arguments[0], err);

	if (!r)
		wt_result_fact_text(request->result, "key", "private key, keep it secret",
				    request->arguments[0]);
	return r;
}

static int sign(const struct request *request, struct wt_err *err)
{
	return wti_model_sign(request->front, request->arguments[0], request->options->key,
			      request->options->output, request->result, err);
}

static int attest(const struct request *request, struct wt_err *err)
{
	return wti_model_attest(request->front, request->arguments[0], request->options->run,
				request->options->key, request->options->output, request->result,
				err);
}

static const struct action actions[] = {
	{"inspect", "a model", 1, false, inspect},
	{"verify", "a model", 1, true, verify},
	{"diff", "two models", 2, false, diff},
	{"convert", "a model and the file to write", 2, false, convert},
	{"manifest", "a model", 1, false, manifest},
	{"key", "the file to write", 1, false, key},
	{"sign", "a model", 1, false, sign},
	{"attest", "a model", 1, false, attest},
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static const struct action *find_action(const char *word, size_t count, struct wt_err *err)
{
	const char *names[ACTIONS];
	const char *near;

	for (size_t i = 0; i < ACTIONS; i++) {
		names[i] = actions[i].name;
		if (strcmp(actions[i].name, word))
			continue;
		if (count == actions[i].arguments)
			return &actions[i];
		wti_err(err, WT_E_ARG, "`model %s` takes %s", word, actions[i].takes);
		return NULL;
	}
	near = wti_suggest(word, names, ACTIONS);
	wti_err(err, WT_E_ARG,
		"no action '%s'%s%s%s; there are inspect, verify, diff, convert, manifest, key, "
		"sign and attest",
		word, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

/* ---- The verb ------------------------------------------------------------------------------- */

static int exit_code(const struct action *action, const struct model_options *options,
		     const struct wt_result *result)
{
	bool has_findings = action->judges ? wti_verdict_any_fails(result, options->fail_on)
					   : result->status && !strcmp(result->status, "findings");

	if (result->status && !strcmp(result->status, "not_measured"))
		return WTI_EXIT_TRACE;
	return has_findings ? WTI_EXIT_FINDINGS : WTI_EXIT_CLEAN;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct model_options *options = opaque;
	struct wt_err err = {.offset = -1};
	const struct action *action = find_action(arguments[0], count - 1, &err);
	struct wti_progress progress;
	struct wti_front front;
	struct wt_result result;
	struct request request = {options, &front, arguments + 1, &result};
	int code;

	if (!action)
		return wti_report_error("model", options->json, &err);
	front = wti_front_here(&progress);
	wt_result_init(&result, "model");
	if (action->run(&request, &err))
		code = wti_report_error("model", options->json, &err);
	else
		code = wti_report_result(&result, options->json,
					 exit_code(action, options, &result));
	wt_result_release(&result);
	return code;
}

#define OFFSET(member) offsetof(struct model_options, member)

static const struct wti_option options[] = {
	{"manifest", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "verify: compare with this manifest; default: FILE.manifest.json, if there is one",
	 OFFSET(manifest)},
	{"against", 0, WTI_OPT_TEXT, "RUN", NULL,
	 "verify: compare with what this run saved and held, tensor by tensor", OFFSET(against)},
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL,
	 "manifest, sign, attest: write to this file; default: beside the model", OFFSET(output)},
	{"key", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "sign, attest: the private key; verify: the public key that the model has to be signed "
	 "with",
	 OFFSET(key)},
	{"signature", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "verify: the signature; default: FILE.sig.json", OFFSET(signature)},
	{"run", 0, WTI_OPT_TEXT, "RUN", NULL,
	 "attest: the run that the model comes from; default: the latest", OFFSET(run)},
	{"to", 0, WTI_OPT_TEXT, "FORMAT", NULL,
	 "convert: the format to write; default: by the extension of the file name", OFFSET(to)},
	{"like", 0, WTI_OPT_TEXT, "MODEL", NULL,
	 "convert: names, order and what is between the tensors as in this model of the same "
	 "shapes",
	 OFFSET(like)},
	{"data", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "verify: run the model on these rows (CSV, .npy, .npz), and report if it has learned "
	 "nothing",
	 OFFSET(data)},
	{"labels", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "verify: the classes of those rows, one for "
	 "each row",
	 OFFSET(labels)},
	{"activation", 0, WTI_OPT_CHOICE, NULL, "relu|tanh|none",
	 "verify: the activation function between the layers when the model is run; default relu",
	 OFFSET(activation)},
	{"compute", 0, WTI_OPT_TEXT, "COMMAND", NULL,
	 "verify: what --probe and --data run, for models of any kind: COMMAND MODEL INPUTS "
	 "OUTPUTS, which writes the outputs (.npy); default: a chain of linear layers",
	 OFFSET(compute)},
	{"html", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "inspect: also write a page with a histogram and a map of each tensor", OFFSET(html)},
	{"probe", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "verify: run the model on these inputs (.npy, rows), as a chain of linear layers or by "
	 "--compute",
	 OFFSET(probe)},
	{"expect", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "verify: the outputs (.npy) that --probe has to give", OFFSET(expect)},
	{"tolerance", 0, WTI_OPT_TEXT, "NUMBER", NULL,
	 "verify: how far outputs may differ from the expected ones, relative for values larger "
	 "than 1; default 1e-5",
	 OFFSET(tolerance)},
	{"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,
	 "verify: least severity of findings that gives exit status 1; default error",
	 OFFSET(fail_on)},
	WTI_OPTION_JSON(struct model_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_model = {
	.name = "model",
	.arguments = "inspect|verify|diff|convert|manifest|key|sign|attest FILE [FILE]",
	.summary = "inspect, verify, compare and convert saved models",
	.description =
		"Reads files of saved parameters by what they contain, whatever their names. "
		"Nothing in a file is ever executed, and files of any size are read in blocks. "
		"docs/model.md lists the formats.\n\n"
		"inspect lists tensors with types, shapes, statistics and digests, those that "
		"are tied, and the canonical digest of the model, which is the same in every "
		"format.\n\n"
		"verify checks in layers: the structure of the file, its hash and its tensors "
		"against a manifest, NaN and infinity, dead and equal units, weights that were "
		"never trained. With --data, the model is run on the rows, as a chain of linear "
		"layers or by --compute, and its answers are compared with chance. What could "
		"not be checked is NOT MEASURED.\n\n"
		"diff compares two models tensor by tensor, across formats: how many elements "
		"differ, by how many steps (ULP), how far, and where first.\n\n"
		"convert writes a model in another format. manifest writes down the SHA-256 of "
		"every file and tensor, which verify compares later.\n\n"
		"key makes a pair of Ed25519 keys, FILE and FILE.pub. sign signs the manifest, "
		"which verify --key checks. attest states which run a model comes from, as SLSA "
		"provenance, unless the run shows that it saved something else.\n\n"
		"Exit status: 0 clean, 1 findings or differences, 2 usage, 3 the file is damaged "
		"or of no known format.",
	.examples = "wheeltap model inspect model.safetensors\tits tensors\n"
		    "wheeltap model manifest model.safetensors\tkeep what it is\n"
		    "wheeltap model verify model.safetensors\tis it still the same\n"
		    "wheeltap model diff old.safetensors new.safetensors\twhat changed",
	.options = options,
	.options_bytes = sizeof(struct model_options),
	.defaults = &defaults,
	.arguments_min = 2,
	.arguments_max = 3,
	.group = "judge",
	.run = run,
};
