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

#define WTI_PATCHES_MAX 64u

/* A row that the planes cannot hold: its packed value is given beside them. */
struct wti_patch {
	uint32_t row;
	uint64_t packed;
};

struct wti_packing {
	uint8_t transform; /* enum wt_transform */
	uint8_t width;     /* planes */
	uint64_t first;
	uint64_t bias;
	uint32_t patch_count;
	struct wti_patch patches[WTI_PATCHES_MAX];
};

/*
 * The rows of a block come in runs, one each time its writer turned to another track. Where a run
 * begins, the row before is of another track and predicts nothing: such rows become patches, so
 * that they do not widen the planes for all the others.
 */
struct wti_runs {
	uint32_t count; /* at least 1; 1 also if there are too many to be worth it */
	bool complete;  /* false: there were too many */
	uint32_t begin[WTI_PATCHES_MAX];
};

void wti_runs_find(const uint64_t *tracks, uint32_t rows, struct wti_runs *ret_runs);

/* Bit (id mod 64) for each id, and the least and greatest value: what a block's header says. */
uint64_t wti_pack_filter(const uint64_t *ids, uint32_t rows);
void wti_pack_bounds(const uint64_t *values, uint32_t rows, uint64_t *ret_low, uint64_t *ret_high);

/* What is packed: `rows` values, for relative transforms with those that they are relative to. */
struct wti_pack_input {
	uint8_t transform;
	uint32_t rows;
	const uint64_t *values;
	const uint64_t *ref;
	const struct wti_runs *runs;
};

/*
 * Chooses first, bias, width and patches, and returns the residuals: `scratch` (of as many values)
 * or, where nothing had to be computed, the values themselves.
 */
const uint64_t *wti_pack_plan(const struct wti_pack_input *input, uint64_t *scratch,
			      struct wti_packing *ret_packing);
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
