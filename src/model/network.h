/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model as a plain chain of linear layers, where its tensors show that it is one: matrices that
 * fit one behind the other, each with a vector as its bias or without one. What no file says is the
 * function between the layers.
 */
#ifndef WTI_MODEL_NETWORK_H
#define WTI_MODEL_NETWORK_H

#include "model/model.h"

enum wti_activation { WTI_ACTIVATION_RELU, WTI_ACTIVATION_TANH, WTI_ACTIVATION_NONE };

struct wti_layer {
	const struct wti_model_tensor *weight;
	const struct wti_model_tensor *bias; /* or NULL */
	size_t in;
	size_t out;
	double *w; /* w[i * out + o], whatever the file has */
	double *b; /* or NULL */
};

struct wti_network {
	struct wti_layer *layers;
	size_t count;
	enum wti_activation activation;
	bool is_transposed; /* the file has [out, in], as torch does; Burn has [in, out] */
	double *values;     /* two rows, as wide as the widest layer */
	size_t width_max;
};

/* WT_E_ARG, and why, if it is not such a chain from `inputs` numbers on. */
int wti_network_open(struct wti_model *model, size_t inputs, enum wti_activation activation,
		     struct wti_network **ret, struct wt_err *err);
void wti_network_free(struct wti_network *network);
size_t wti_network_outputs(const struct wti_network *network);
/* What the last layer gives for one row; valid until the next call. */
const double *wti_network_run(struct wti_network *network, const double *row);

#endif
