/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function is to a training run, by its name: a loss, a clipping, a random fill. Asked of
 * every call, so the answer is kept for each symbol.
 */
#ifndef WTI_INSPECT_CALLEES_H
#define WTI_INSPECT_CALLEES_H

#include "inspect/core/symbols.h"

enum wti_callee {
	WTI_CALLEE_OTHER,
	WTI_CALLEE_CLIP_NORM, /* gradients, by their norm */
	WTI_CALLEE_CLIP_VALUE,
	WTI_CALLEE_DROPOUT,       /* the function; modules are asked for their mode */
	WTI_CALLEE_CROSS_ENTROPY, /* logits and classes */
	WTI_CALLEE_NLL,           /* logarithms of probabilities and classes */
	WTI_CALLEE_BINARY,        /* logits and targets between 0 and 1 */
	WTI_CALLEE_DISTANCE,      /* another loss of two tensors of one shape */
	WTI_CALLEE_DIVERGENCE,    /* logarithms of probabilities, and probabilities */
	WTI_CALLEE_SIGMOID,
	WTI_CALLEE_SOFTMAX, /* or its logarithm */
	WTI_CALLEE_MEAN,
	WTI_CALLEE_SUBTRACT,
	WTI_CALLEE_MULTIPLY,
	WTI_CALLEE_ADD,
	WTI_CALLEE_FLOOR, /* makes integers */
	WTI_CALLEE_MIX,   /* of two tensors, a new one between them */
	WTI_CALLEE_BLEND, /* writes another tensor, or part of it, into one */
	WTI_CALLEE_ADD_IN_PLACE,
	WTI_CALLEE_SUBTRACT_IN_PLACE,
	WTI_CALLEE_SCALE_IN_PLACE,
	WTI_CALLEE_RANDOM_FILL,
	WTI_CALLEE_CONSTANT, /* makes a tensor of one value */
	WTI_CALLEE_UNSET,    /* makes one, or room in one, of memory as it is */
	WTI_CALLEE_SEED,     /* the global generator */
	WTI_CALLEE_STATE_DICT,
	WTI_CALLEE_LOAD_STATE_DICT,
	WTI_CALLEE_INDEX,
	WTI_CALLEE_EXCHANGE, /* between ranks, of data rather than sums */
	WTI_CALLEE_REDUCE,   /* between ranks: sums, and from one rank to another */
	WTI_CALLEE_GENERATE,
	WTI_CALLEE_NORMALIZE, /* vectors to a length */
	WTI_CALLEE_EQUAL,     /* compares element by element, as the next ones do */
	WTI_CALLEE_UNEQUAL,
	WTI_CALLEE_BELOW,
	WTI_CALLEE_NOT_BELOW,
	WTI_CALLEE_NEGATE, /* of truth values */
	WTI_CALLEE_DETACH,
	WTI_CALLEE_TO_NUMPY,
	WTI_CALLEE_FROM_NUMPY, /* or from numbers */
	WTI_CALLEE_ACTIVATION, /* cuts off or bounds, other than by a sigmoid */
	WTI_CALLEE_COMPARISON, /* how far or how alike two tensors of one shape are, row by row */
	WTI_CALLEE_STACK,      /* several tensors of one shape become one */
	WTI_CALLEE_COUNT,
};

struct wti_callees {
	uint8_t *known; /* by symbol: enum wti_callee plus one; bit 7: it writes in place */
	size_t count;
};

void wti_callees_release(struct wti_callees *callees);
enum wti_callee wti_callee_of(struct wti_callees *callees, const struct wti_symbols *symbols,
			      uint32_t symbol, bool *ret_in_place);

#endif
