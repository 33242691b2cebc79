/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How functions are called in packs: Optimizer.step and not Adam.step, nn.relu for the layer and
 * the function alike; others by module and name.
 */
#ifndef WTI_LEARN_FUNCTION_NAMES_H
#define WTI_LEARN_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By module, callee and kind of object (enum wt_object_type; 0: not known). */
void wti_name_function(char *out, size_t bytes, const char *module, const char *callee,
		       uint32_t type);
/* What torch.nn.functional calls a layer, where that is not its name in lower case with _ between
 * words: "relu" of "re_lu"; otherwise the name itself. */
const char *wti_layer_spelling(const char *layer);
/* Whether it is named by a role, such as Optimizer.step, and not by where it is defined. */
bool wti_is_of_a_role(const char *function);
/* Whether it is one of those of which a training loop is made: step, backward, clip, save ... */
bool wti_is_act(const char *function);

#endif
