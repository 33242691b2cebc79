/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise on the results of operations in C that a hook sees: which operations round, which memory is
 * theirs to perturb, and by which random numbers. Hides numpy's and torch's ways to that. The
 * numbers themselves are the kernel's (src/agents/noise).
 *
 *	noise.c    what the recording asks for
 *	enter.c    around a call: perturbs what an operation has made
 *	exact.c    operations that do not round, by name
 *	place.c    numbers of call sites, and which of them are to be perturbed
 *	memory.c   elements wherever they lie
 *	cancel.c   operands of sums, for the mode that looks at what was lost
 *	input.c    copies of inputs, for the modes that perturb those
 *	scalar.c   operators of numpy's scalars, and functions of Fortran
 *	float.c    operators of Python's own floats, in the user's code
 *	general.c  keeps the interpreter from computing with floats by itself
 *	index.c    numbers that are taken out of arrays, and put into them
 *	backward.c operators within backward, as the shim reports them
 *
 * Nothing here is reached unless the recording asks for noise: hooks that are made without it do
 * not lead here.
 */
#ifndef WTI_PYTHON_NOISE_NOISE_H
#define WTI_PYTHON_NOISE_NOISE_H

#include "python/core/pyagent.h"

struct wti_shim_host;

/* Who gets what the shim watches: `host`, and with it, if the recording asks for noise, this room.
 */
const struct wti_shim_host *wti_noise_host(const struct wti_shim_host *host);
extern PyMethodDef wti_noise_methods[];

#endif
