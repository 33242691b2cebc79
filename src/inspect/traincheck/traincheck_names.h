/* SPDX-License-Identifier: Apache-2.0 */
/* What TrainCheck calls functions, types and stages, and what we do. */
#ifndef WTI_TRAINCHECK_NAMES_H
#define WTI_TRAINCHECK_NAMES_H

#include <stddef.h>

/* "torch.optim.optimizer.Optimizer.step" of "Optimizer.step" */
void wti_traincheck_path(char *out, size_t bytes, const char *function);

/* "torch.optim.adam" and "Adam.step" of the path, as our events name them. */
void wti_traincheck_split(const char *path, char *module, char *callee, size_t bytes);
/* Both, joined by a dot. */
void wti_traincheck_canonical(char *out, size_t bytes, const char *path);

/* "torch.float32" -> "f32"; "f32" -> "float32"; what is not known stays. */
const char *wti_traincheck_dtype(const char *theirs);
const char *wti_traincheck_torch_dtype(const char *ours);
/* "training" -> "train", "testing" and "evaluation" -> "eval"; others stay. */
const char *wti_traincheck_stage(const char *theirs);

#endif
