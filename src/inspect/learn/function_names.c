/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by what they are to a training run. */
#include "function_names.h"

#include <stdio.h>
#include <string.h>

#include "inspect/training/training.h"

#define LAYER_BYTES 256

static const char *role_of_module(const char *module)
{
	if (!strncmp(module, "torch.optim.lr_scheduler", 24))
		return "Scheduler";
	if (!strncmp(module, "torch.optim", 11))
		return "Optimizer";
	if (!strcmp(module, "torch.nn.modules.module"))
		return "Module";
	return NULL;
}

static const char *const roles[] = {
	[WT_OBJECT_TYPE_MODULE] = "Module",       [WT_OBJECT_TYPE_WRAPPER] = "Wrapper",
	[WT_OBJECT_TYPE_AVERAGE] = "Average",     [WT_OBJECT_TYPE_OPTIMIZER] = "Optimizer",
	[WT_OBJECT_TYPE_SCHEDULER] = "Scheduler", [WT_OBJECT_TYPE_SCALER] = "Scaler",
	[WT_OBJECT_TYPE_LOADER] = "Loader",       [WT_OBJECT_TYPE_SAMPLER] = "Sampler",
};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

bool wti_is_of_a_role(const char *function)
{
	size_t bytes = strcspn(function, ".");

	for (size_t i = 0; i < ROLES && function[bytes]; i++)
		if (roles[i] && strlen(roles[i]) == bytes && !strncmp(roles[i], function, bytes))
			return true;
	return false;
}

static const char *role_of(uint32_t type, const char *module, const char *method)
{
	if (type < ROLES && roles[type] && type != WT_OBJECT_TYPE_MODULE)
		return roles[type];
	if (role_of_module(module))
		return role_of_module(module);
	if (!strcmp(method, "forward") && strncmp(module, "torch.", 6))
		return "Module";
	return type == WT_OBJECT_TYPE_MODULE && strcmp(method, "forward") ? "Module" : NULL;
}

/*
 * A layer and the function that it calls are one thing: nn.Dropout and F.dropout, BatchNorm2d and
 * F.batch_norm, MSELoss and F.mse_loss. "BatchNorm2d" -> "batch_norm".
 */
static void name_layer(char *out, size_t bytes, const char *name)
{
	size_t at = 0;
	bool was_lower = false;

	for (; *name && *name != '.' && at + 2 < bytes; name++) {
		bool is_upper = *name >= 'A' && *name <= 'Z';
		bool begins_word =
			is_upper && (was_lower || (at && name[1] >= 'a' && name[1] <= 'z'));

		if (begins_word && at && out[at - 1] != '_')
			out[at++] = '_';
		out[at++] = (char)(is_upper ? *name - 'A' + 'a' : *name);
		was_lower = !is_upper;
	}
	if (at > 2 && out[at - 1] == 'd' && out[at - 2] >= '1' && out[at - 2] <= '3')
		at -= 2;
	out[at] = 0;
	if (at > 5 && !strcmp(out + at - 5, "_loss"))
		out[at - 5] = 0;
}

const char *wti_layer_spelling(const char *layer)
{
	static const char *const spellings[][2] = {
		{"bce", "binary_cross_entropy"},
		{"bce_with_logits", "binary_cross_entropy_with_logits"},
		{"circular_pad", "pad"},
		{"constant_pad", "pad"},
		{"leaky_re_lu", "leaky_relu"},
		{"log_sigmoid", "logsigmoid"},
		{"multi_label_margin", "multilabel_margin"},
		{"multi_label_soft_margin", "multilabel_soft_margin"},
		{"multihead_attention", "multi_head_attention_forward"},
		{"p_re_lu", "prelu"},
		{"r_re_lu", "rrelu"},
		{"re_lu", "relu"},
		{"re_lu6", "relu6"},
		{"reflection_pad", "pad"},
		{"replication_pad", "pad"},
		{"si_lu", "silu"},
		{"upsampling_bilinear", "upsample_bilinear"},
		{"upsampling_nearest", "upsample_nearest"},
		{"zero_pad", "pad"},
	};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (!strcmp(spellings[i][0], layer))
			return spellings[i][1];
	return layer;
}

static bool is_layer(const char *module, const char *method)
{
	return !strncmp(module, "torch.nn.functional", 19) ||
	       (!strncmp(module, "torch.nn.modules.", 17) && !strcmp(method, "forward"));
}

void wti_name_function(char *out, size_t bytes, const char *module, const char *callee,
		       uint32_t type)
{
	const char *dot = strrchr(callee, '.');
	const char *method = dot ? dot + 1 : callee;
	const char *role = role_of(type, module, method);
	char layer[LAYER_BYTES];

	if (role) {
		snprintf(out, bytes, "%s.%s", role, method);
	} else if (is_layer(module, method)) {
		name_layer(layer, sizeof(layer), callee);
		snprintf(out, bytes, "nn.%s", wti_layer_spelling(layer));
	} else {
		snprintf(out, bytes, "%s.%s", module, callee);
	}
}

/* The acts of which training loops are made; what prepares for it (seeds, samplers) is not. */
bool wti_is_act(const char *function)
{
	static const char *const prefixes[] = {
		"Optimizer.step",
		"Optimizer.zero_grad",
		"Module.zero_grad",
		"Scheduler.step",
		"Scaler.",
		"Average.",
		"Module.forward",
		"Wrapper.forward",
		"torch.Tensor.backward",
		"torch.nn.utils.clip",
		"torch.autograd.backward",
		"torch.autograd.grad",
		"Loader.__next__",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(function, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}
