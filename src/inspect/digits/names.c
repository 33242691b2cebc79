/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of operation a callee is, by the last word of its name, without underscores. */
#include <ctype.h>
#include <string.h>

#include "base/bytes.h"
#include "tally.h"

#define WORD_MAX 40u

/* "torch.Tensor.__isub__" gives "isub", "aten::add_" gives "add". */
static void last_word(const char *callee, char word[WORD_MAX])
{
	const char *from = callee, *end = callee + strlen(callee);
	size_t bytes;

	for (const char *at = callee; *at; at++)
		from = *at == '.' || *at == ':' ? at + 1 : from;
	while (*from == '_')
		from++;
	while (end > from && end[-1] == '_')
		end--;
	bytes = (size_t)(end - from) < WORD_MAX - 1 ? (size_t)(end - from) : WORD_MAX - 1;
	for (size_t i = 0; i < bytes; i++)
		word[i] = (char)tolower((unsigned char)from[i]);
	word[bytes] = 0;
}

static bool is_one_of(const char *callee, const char *const *words, size_t count)
{
	char word[WORD_MAX];

	last_word(callee, word);
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(word, words[i]))
			return true;
	}
	return false;
}

bool wti_is_addition(const char *callee)
{
	static const char *const words[] = {"add",  "iadd", "radd",     "sub",
					    "isub", "rsub", "subtract", "fsub"};

	return is_one_of(callee, words, WTI_COUNT(words));
}

bool wti_is_product(const char *callee)
{
	static const char *const words[] = {
		"mul",    "imul",        "rmul",     "multiply",    "div",    "truediv",
		"divide", "true_divide", "itruediv", "rtruediv",    "square", "exp",
		"exp2",   "pow",         "power",    "float_power", "rpow",   "sigmoid"};

	return is_one_of(callee, words, WTI_COUNT(words));
}

bool wti_is_elementwise(const char *callee)
{
	static const char *const words[] = {
		"abs",     "absolute", "neg",        "negative", "sqrt",    "rsqrt",   "cbrt",
		"log",     "log2",     "log10",      "log1p",    "expm1",   "sin",     "cos",
		"tan",     "arcsin",   "arccos",     "arctan",   "asin",    "acos",    "atan",
		"sinh",    "cosh",     "tanh",       "arcsinh",  "arccosh", "arctanh", "hypot",
		"arctan2", "atan2",    "reciprocal", "erf",      "erfc",    "lgamma",  "gammaln",
		"gelu",    "silu",     "softplus",   "lerp",     "addcmul", "addcdiv", "logaddexp",
		"fmod",    "mod",      "remainder"};

	return wti_is_addition(callee) || wti_is_product(callee) ||
	       is_one_of(callee, words, WTI_COUNT(words));
}

bool wti_is_selection(const char *callee)
{
	static const char *const words[] = {
		"getitem",       "unbind",   "split",  "chunk",    "select",
		"narrow",        "take",     "gather", "item",     "index_select",
		"masked_select", "diagonal", "diag",   "tolist",   "max",
		"min",           "amax",     "amin",   "sort",     "topk",
		"unique",        "median",   "where",  "compress", "take_along_dim"};

	return is_one_of(callee, words, WTI_COUNT(words));
}

bool wti_is_store(const char *callee)
{
	static const char *const words[] = {"setitem", "put", "place", "copyto", "index_put"};

	return is_one_of(callee, words, WTI_COUNT(words));
}

bool wti_is_access(const char *callee)
{
	static const char *const words[] = {
		"grad",      "data",          "empty",          "empty_like",
		"new_empty", "empty_strided", "empty_permuted", "new_empty_strided"};

	return is_one_of(callee, words, WTI_COUNT(words));
}

bool wti_is_random(const char *callee)
{
	static const char *const words[] = {"rand",        "randn",           "randint",
					    "random",      "random_sample",   "normal",
					    "uniform",     "choice",          "shuffle",
					    "permutation", "randperm",        "bernoulli",
					    "multinomial", "standard_normal", "integers",
					    "exponential", "poisson",         "gamma",
					    "beta",        "dropout",         "rand_like",
					    "randn_like",  "randint_like",    "ranf",
					    "sample",      "gauss",           "multivariate_normal",
					    "lognormal"};

	return is_one_of(callee, words, WTI_COUNT(words));
}
