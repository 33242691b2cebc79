/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model in a file. Little-endian, without padding:
 *
 *	8 bytes   "MLPFILE1"
 *	u32       number of parameters; for each of them:
 *	  u32       bytes of its name
 *	  u32       rows
 *	  u32       columns
 *	  bytes     its name
 *	  floats    rows times columns, row by row
 *	u64       FNV-1a over all bytes before
 *
 * A reader of the path sees the old file or the new one, never a part: it is written beside,
 * brought to the disk and then renamed.
 */
#ifndef EXAMPLES_MODEL_FILE_H
#define EXAMPLES_MODEL_FILE_H

#include <stdbool.h>

#include "mlp.h"

/* False, and a line on standard error, if that failed. */
bool model_save(const struct mlp *mlp, const char *path);
/* Into a network of the same shape. The network is as it was if that failed. */
bool model_load(struct mlp *mlp, const char *path);

#endif
