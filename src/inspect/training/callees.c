/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of functions, by name. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "callees.h"

#define IN_PLACE 0x80u
#define CACHED_MAX (1u << 20)

struct named {
	const char *name;
	enum wti_callee callee;
};

/* Functions and methods: the last part of the name. */
static const struct named functions[] = {
	{"clip_grad_norm_", WTI_CALLEE_CLIP_NORM},
	{"clip_grad_norm", WTI_CALLEE_CLIP_NORM},
	{"clip_grad_value_", WTI_CALLEE_CLIP_VALUE},
	{"dropout", WTI_CALLEE_DROPOUT},
	{"dropout1d", WTI_CALLEE_DROPOUT},
	{"dropout2d", WTI_CALLEE_DROPOUT},
	{"dropout3d", WTI_CALLEE_DROPOUT},
	{"alpha_dropout", WTI_CALLEE_DROPOUT},
	{"feature_alpha_dropout", WTI_CALLEE_DROPOUT},
	{"cross_entropy", WTI_CALLEE_CROSS_ENTROPY},
	{"nll_loss", WTI_CALLEE_NLL},
	{"binary_cross_entropy_with_logits", WTI_CALLEE_BINARY},
	{"binary_cross_entropy", WTI_CALLEE_DISTANCE},
	{"mse_loss", WTI_CALLEE_DISTANCE},
	{"l1_loss", WTI_CALLEE_DISTANCE},
	{"smooth_l1_loss", WTI_CALLEE_DISTANCE},
	{"huber_loss", WTI_CALLEE_DISTANCE},
	{"poisson_nll_loss", WTI_CALLEE_DISTANCE},
	{"kl_div", WTI_CALLEE_DIVERGENCE},
	{"softmax", WTI_CALLEE_SOFTMAX},
	{"log_softmax", WTI_CALLEE_SOFTMAX},
	{"sigmoid", WTI_CALLEE_SIGMOID},
	{"sigmoid_", WTI_CALLEE_SIGMOID},
	{"mean", WTI_CALLEE_MEAN},
	{"sub", WTI_CALLEE_SUBTRACT},
	{"subtract", WTI_CALLEE_SUBTRACT},
	{"__sub__", WTI_CALLEE_SUBTRACT},
	{"__rsub__", WTI_CALLEE_SUBTRACT},
	{"mul", WTI_CALLEE_MULTIPLY},
	{"multiply", WTI_CALLEE_MULTIPLY},
	{"__mul__", WTI_CALLEE_MULTIPLY},
	{"__rmul__", WTI_CALLEE_MULTIPLY},
	{"add", WTI_CALLEE_ADD},
	{"__add__", WTI_CALLEE_ADD},
	{"__radd__", WTI_CALLEE_ADD},
	{"floor_divide", WTI_CALLEE_FLOOR},
	{"__floordiv__", WTI_CALLEE_FLOOR},
	{"long", WTI_CALLEE_FLOOR},
	{"int", WTI_CALLEE_FLOOR},
	{"short", WTI_CALLEE_FLOOR},
	{"byte", WTI_CALLEE_FLOOR},
	{"lerp", WTI_CALLEE_MIX},
	{"lerp_", WTI_CALLEE_BLEND},
	{"copy_", WTI_CALLEE_BLEND},
	{"add_", WTI_CALLEE_ADD_IN_PLACE},
	{"__iadd__", WTI_CALLEE_ADD_IN_PLACE},
	{"sub_", WTI_CALLEE_SUBTRACT_IN_PLACE},
	{"__isub__", WTI_CALLEE_SUBTRACT_IN_PLACE},
	{"mul_", WTI_CALLEE_SCALE_IN_PLACE},
	{"div_", WTI_CALLEE_SCALE_IN_PLACE},
	{"__imul__", WTI_CALLEE_SCALE_IN_PLACE},
	{"__itruediv__", WTI_CALLEE_SCALE_IN_PLACE},
	{"normal_", WTI_CALLEE_RANDOM_FILL},
	{"uniform_", WTI_CALLEE_RANDOM_FILL},
	{"trunc_normal_", WTI_CALLEE_RANDOM_FILL},
	{"xavier_uniform_", WTI_CALLEE_RANDOM_FILL},
	{"xavier_normal_", WTI_CALLEE_RANDOM_FILL},
	{"kaiming_uniform_", WTI_CALLEE_RANDOM_FILL},
	{"kaiming_normal_", WTI_CALLEE_RANDOM_FILL},
	{"orthogonal_", WTI_CALLEE_RANDOM_FILL},
	{"zeros", WTI_CALLEE_CONSTANT},
	{"ones", WTI_CALLEE_CONSTANT},
	{"full", WTI_CALLEE_CONSTANT},
	{"zeros_like", WTI_CALLEE_CONSTANT},
	{"ones_like", WTI_CALLEE_CONSTANT},
	{"full_like", WTI_CALLEE_CONSTANT},
	{"new_zeros", WTI_CALLEE_CONSTANT},
	{"new_ones", WTI_CALLEE_CONSTANT},
	{"new_full", WTI_CALLEE_CONSTANT},
	{"fill_", WTI_CALLEE_CONSTANT},
	{"zero_", WTI_CALLEE_CONSTANT},
	{"empty", WTI_CALLEE_UNSET},
	{"empty_like", WTI_CALLEE_UNSET},
	{"empty_permuted", WTI_CALLEE_UNSET},
	{"empty_strided", WTI_CALLEE_UNSET},
	{"new_empty", WTI_CALLEE_UNSET},
	{"new_empty_strided", WTI_CALLEE_UNSET},
	{"resize_", WTI_CALLEE_UNSET},
	{"resize_as_", WTI_CALLEE_UNSET},
	{"manual_seed", WTI_CALLEE_SEED},
	{"state_dict", WTI_CALLEE_STATE_DICT},
	{"load_state_dict", WTI_CALLEE_LOAD_STATE_DICT},
	{"__getitem__", WTI_CALLEE_INDEX},
	{"stack", WTI_CALLEE_STACK},
	{"all_gather", WTI_CALLEE_EXCHANGE},
	{"all_gather_into_tensor", WTI_CALLEE_EXCHANGE},
	{"all_to_all", WTI_CALLEE_EXCHANGE},
	{"all_to_all_single", WTI_CALLEE_EXCHANGE},
	{"broadcast", WTI_CALLEE_EXCHANGE},
	{"recv", WTI_CALLEE_EXCHANGE},
	{"scatter", WTI_CALLEE_EXCHANGE},
	{"all_reduce", WTI_CALLEE_REDUCE},
	{"all_reduce_coalesced", WTI_CALLEE_REDUCE},
	{"reduce", WTI_CALLEE_REDUCE},
	{"reduce_scatter", WTI_CALLEE_REDUCE},
	{"reduce_scatter_tensor", WTI_CALLEE_REDUCE},
	{"_reduce_scatter_base", WTI_CALLEE_REDUCE},
	{"_all_gather_base", WTI_CALLEE_REDUCE},
	{"all_gather_coalesced", WTI_CALLEE_REDUCE},
	{"send", WTI_CALLEE_REDUCE},
	{"isend", WTI_CALLEE_REDUCE},
	{"irecv", WTI_CALLEE_REDUCE},
	{"batch_isend_irecv", WTI_CALLEE_REDUCE},
	{"generate", WTI_CALLEE_GENERATE},
	{"normalize", WTI_CALLEE_NORMALIZE},
	{"eq", WTI_CALLEE_EQUAL},
	{"__eq__", WTI_CALLEE_EQUAL},
	{"ne", WTI_CALLEE_UNEQUAL},
	{"__ne__", WTI_CALLEE_UNEQUAL},
	{"not_equal", WTI_CALLEE_UNEQUAL},
	{"lt", WTI_CALLEE_BELOW},
	{"__lt__", WTI_CALLEE_BELOW},
	{"less", WTI_CALLEE_BELOW},
	{"ge", WTI_CALLEE_NOT_BELOW},
	{"__ge__", WTI_CALLEE_NOT_BELOW},
	{"greater_equal", WTI_CALLEE_NOT_BELOW},
	{"__invert__", WTI_CALLEE_NEGATE},
	{"logical_not", WTI_CALLEE_NEGATE},
	{"bitwise_not", WTI_CALLEE_NEGATE},
	{"detach", WTI_CALLEE_DETACH},
	{"numpy", WTI_CALLEE_TO_NUMPY},
	{"__array__", WTI_CALLEE_TO_NUMPY},
	{"tolist", WTI_CALLEE_TO_NUMPY},
	{"from_numpy", WTI_CALLEE_FROM_NUMPY},
	{"tensor", WTI_CALLEE_FROM_NUMPY},
	{"as_tensor", WTI_CALLEE_FROM_NUMPY},
	{"relu", WTI_CALLEE_ACTIVATION},
	{"relu_", WTI_CALLEE_ACTIVATION},
	{"tanh", WTI_CALLEE_ACTIVATION},
	{"pairwise_distance", WTI_CALLEE_COMPARISON},
	{"cosine_similarity", WTI_CALLEE_COMPARISON},
};

/* Modules: the class before ".forward". */
static const struct named modules[] = {
	{"CrossEntropyLoss", WTI_CALLEE_CROSS_ENTROPY},
	{"NLLLoss", WTI_CALLEE_NLL},
	{"BCEWithLogitsLoss", WTI_CALLEE_BINARY},
	{"BCELoss", WTI_CALLEE_DISTANCE},
	{"MSELoss", WTI_CALLEE_DISTANCE},
	{"L1Loss", WTI_CALLEE_DISTANCE},
	{"SmoothL1Loss", WTI_CALLEE_DISTANCE},
	{"HuberLoss", WTI_CALLEE_DISTANCE},
	{"PoissonNLLLoss", WTI_CALLEE_DISTANCE},
	{"KLDivLoss", WTI_CALLEE_DIVERGENCE},
	{"Sigmoid", WTI_CALLEE_SIGMOID},
	{"ReLU", WTI_CALLEE_ACTIVATION},
	{"Tanh", WTI_CALLEE_ACTIVATION},
	{"PairwiseDistance", WTI_CALLEE_COMPARISON},
	{"CosineSimilarity", WTI_CALLEE_COMPARISON},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static enum wti_callee find(const struct named *table, size_t count, const char *name, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(table[i].name) == bytes && !memcmp(table[i].name, name, bytes))
			return table[i].callee;
	return WTI_CALLEE_OTHER;
}

/* "add_", "__iadd__", not "__add__". */
static bool writes(const char *name)
{
	size_t bytes = strlen(name);

	if (!strncmp(name, "__i", 3))
		return strcmp(name, "__init__") && strcmp(name, "__int__") &&
		       strcmp(name, "__invert__") && strcmp(name, "__iter__") &&
		       strcmp(name, "__index__");
	return bytes > 1 && name[bytes - 1] == '_' && name[bytes - 2] != '_';
}

static uint8_t classify(const char *text)
{
	const char *dot = strrchr(text, '.');
	const char *name = dot ? dot + 1 : text;
	enum wti_callee callee;

	if (dot && !strcmp(name, "forward"))
		return (uint8_t)(find(modules, LENGTH(modules), text, (size_t)(dot - text)) + 1);
	callee = find(functions, LENGTH(functions), name, strlen(name));
	if (callee == WTI_CALLEE_SEED && dot)
		callee = WTI_CALLEE_OTHER; /* of a generator of one's own */
	return (uint8_t)(callee + 1) | (writes(name) ? IN_PLACE : 0);
}

enum wti_callee wti_callee_of(struct wti_callees *callees, const struct wti_symbols *symbols,
			      uint32_t symbol, bool *ret_in_place)
{
	uint8_t known;

	if (symbol < callees->count && callees->known[symbol]) {
		known = callees->known[symbol];
	} else {
		known = classify(wti_symbol_text(symbols, symbol));
		if (!wti_grow_zeroed(&callees->known, symbol + (size_t)1, &callees->count,
				     CACHED_MAX))
			callees->known[symbol] = known;
	}
	*ret_in_place = known & IN_PLACE;
	return (enum wti_callee)((known & ~IN_PLACE) - 1);
}

void wti_callees_release(struct wti_callees *callees)
{
	free(callees->known);
	*callees = (struct wti_callees){0};
}
