/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how torch lays out the state of an optimizer, and what optimizers call what they keep. */
#include "optimizer_state.h"

#include <string.h>

bool wti_optimizer_groups(const char *path, struct wti_optimizer_part *ret)
{
	const char *at = strstr(path, "param_groups.");

	if (!at || (at != path && at[-1] != '.'))
		return false;
	*ret = (struct wti_optimizer_part){path, (size_t)(at - path)};
	return true;
}

size_t wti_optimizer_state_bytes(const char *path, const struct wti_optimizer_part *part)
{
	static const char state[] = "state.";
	const char *end;

	if (strncmp(path, part->path, part->bytes) != 0 ||
	    strncmp(path + part->bytes, state, strlen(state)) != 0)
		return 0;
	end = strrchr(path + part->bytes + strlen(state), '.');
	return end ? (size_t)(end - path) : 0;
}

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (!strcmp(key, *keys))
			return true;
	return false;
}

/* "solver.state.0.sum": what is kept of something. */
static bool is_in_state(const char *path)
{
	const char *at = strstr(path, "state.");

	return at && (at == path || at[-1] == '.') && strchr(at + strlen("state."), '.');
}

/* Those of torch's own optimizers, and of Adafactor, Shampoo and ones with 8 bits. */
bool wti_optimizer_keeps(const char *path)
{
	static const char *const own[] = {
		"exp_avg", "exp_avg_sq", "max_exp_avg_sq",  "exp_avg_sq_row", "exp_avg_sq_col",
		"exp_inf", "square_avg", "momentum_buffer", "acc_delta",      NULL};
	/* Words that a tensor of a model may be called by, too. */
	static const char *const common[] = {
		"sum",      "prev",   "ax",     "grad_avg", "step_size",  "preconditioner",
		"momentum", "state1", "state2", "step",     "mu_product", NULL};
	const char *dot = strrchr(path, '.');

	return dot &&
	       (is_one_of(dot + 1, own) || (is_in_state(path) && is_one_of(dot + 1, common)));
}
