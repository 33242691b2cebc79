/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers to planes of bytes and back (docs/format.md, 4). A column is predicted (transform), what
 * the prediction leaves over is moved to begin at 0 (bias) and cut into byte planes, least
 * significant first, of which only as many are kept as the largest value needs. Planes of one
 * column differ much in how they compress, which is why each is stored for itself.
 */
#ifndef WTI_TRACE_PACK_H
#define WTI_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

/* True if a transform needs another column. */
static inline bool wti_is_relative(uint8_t transform)
{
	return transform == WT_REL || transform == WT_REL_DELTA || transform == WT_REL_PREVIOUS;
}

struct wti_packing {
	uint8_t transform; /* enum wt_transform */
	uint8_t width;     /* planes */
	uint64_t first;
	uint64_t bias;
};

/*
 * Chooses first, bias and width for `transform`, and returns the residuals: `scratch` (of `rows`
 * values) or, where nothing had to be computed, `values` itself. `ref` is for relative transforms.
 */
const uint64_t *wti_pack_plan(uint8_t transform, const uint64_t *values, const uint64_t *ref,
			      uint32_t rows, uint64_t *scratch, struct wti_packing *ret_packing);
/* Byte `plane` of each residual less the bias. */
void wti_pack_plane(const uint64_t *residuals, uint32_t rows, uint64_t bias, unsigned plane,
		    uint8_t *out);

/* Puts planes together: `values` receives the residuals without bias. */
void wti_unpack_planes(const uint8_t *const *planes, unsigned width, uint32_t rows,
		       uint64_t *values);
/* Residuals without bias to values, in place. */
void wti_unpack_transform(const struct wti_packing *packing, const uint64_t *ref, uint32_t rows,
			  uint64_t *values);

#endif
