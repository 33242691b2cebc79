/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifying a model in layers: from what the file is made of to what it computes. A layer is a row
 * in verify.c and a function; what it cannot check is NOT MEASURED, with the reason.
 */
#ifndef WTI_RUNS_MODEL_VERIFY_H
#define WTI_RUNS_MODEL_VERIFY_H

#include <limits.h>

#include <wheeltap/result.h>

#include "model/examine.h"
#include "model/manifest.h"
#include "model/network.h"
#include "runs/front.h"
#include "runs/model/codes.h"

/*
 * The person's own program, where a front end can start one: computes what `model` gives for the
 * file `inputs`, and says which file has the outputs. `run` NULL: there is none.
 */
struct wti_model_program {
	int (*run)(void *cookie, const char *model, const char *inputs, char ret_outputs[PATH_MAX],
		   struct wt_err *err);
	void *cookie;
};

struct wti_model_verify_options {
	const char *data;               /* rows to run the model on; NULL: it is not run */
	const char *labels;             /* of those rows, where they are in another file; or NULL */
	enum wti_activation activation; /* between the layers of a chain */
	struct wti_model_program program;
	const char *probe; /* a batch of inputs, and the outputs that it has to give; or NULL */
	const char *expect;
	double tolerance;      /* of the outputs, relative where they are larger than 1 */
	const char *manifest;  /* NULL: that beside the model, if there is one */
	const char *key;       /* the public key of a signature; NULL: none is looked for */
	const char *signature; /* NULL: that beside the model */
	const char *against;   /* a run, as wti_run_find() takes it; NULL: none */
};

enum wti_model_verdict { WTI_LAYER_NOT_MEASURED, WTI_LAYER_HELD, WTI_LAYER_VIOLATED };

/* A model that is being verified: what one layer has found out the next need not compute again. */
struct wti_model_verifying {
	const struct wti_front *front;
	const struct wti_model_verify_options *options;
	struct wti_model *model;
	struct wti_model_examined *examined; /* of each tensor; NULL: not yet */
	unsigned known;                      /* what it has: WTI_MODEL_HASH ... */
	struct wti_manifest *manifest;       /* or NULL */
	char manifest_path[4096];
	bool files_hold; /* every file is bit for bit that of the manifest */
	struct wt_result *result;
	/* Of the layer that is at work: */
	enum wti_model_verdict verdict;
	char why[256]; /* in a few words: what was checked, or why it was not */
};

struct wti_model_layer {
	const char *name;
	const char *title;
	/* Sets verdict and why, and adds findings. */
	int (*check)(struct wti_model_verifying *verifying, struct wt_err *err);
};

extern const struct wti_model_layer wti_model_layers[]; /* ends with a name of NULL */
/* The layers, one or two a file. */
int wti_layer_structure(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_signature(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_files(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_tensors(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_values(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_units(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_initial(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_probe(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_answers(struct wti_model_verifying *verifying, struct wt_err *err);
int wti_layer_run(struct wti_model_verifying *verifying, struct wt_err *err);

/* All of it: facts, findings and the table of layers. The status is clean or findings. */
int wti_model_verify(const struct wti_front *front, const char *path,
		     const struct wti_model_verify_options *options, struct wt_result *result,
		     struct wt_err *err);

/* ---- For layers ----------------------------------------------------------------------------- */

/* Sees to it that `examined` has all of this. */
int wti_model_know(struct wti_model_verifying *verifying, unsigned what, struct wt_err *err);
void wti_layer_says(struct wti_model_verifying *verifying, enum wti_model_verdict verdict,
		    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds a finding; texts of `more` besides code, severity, title, means and hint are kept. */
void wti_model_finding(struct wt_result *result, enum wti_model_code_number number,
		       const struct wt_finding *more);

/* Of a run that did not say what it saved: what its system calls tell of the file. False: nothing.
 */
bool wti_model_written(struct wti_model_verifying *verifying, const char *place);

/* Tensors of which the same is to be said: one finding for all. */
struct wti_model_affected {
	struct wti_buf names; /* the first ones */
	uint64_t count;
	uint64_t cases;
	const char *first;
};

void wti_affected_init(struct wti_model_affected *affected);
/* `detail` is added in brackets; NULL: none. */
void wti_affected_add(struct wti_model_affected *affected, const char *name, const char *detail);
/* A finding if there are any, and all is released. Whether there were. */
bool wti_affected_end(struct wti_model_affected *affected, struct wti_model_verifying *verifying,
		      enum wti_model_code_number number);

#endif
