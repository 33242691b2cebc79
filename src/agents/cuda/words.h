/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's numbers in words, as PyTorch's profiler and Nsight have them. */
#ifndef WTI_AGENTS_CUDA_WORDS_H
#define WTI_AGENTS_CUDA_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "activity.h"

enum { WTI_CUDA_WORDS_BYTES = 96 };

/* What an operation or a call is called that has no name of its own: "Memcpy HtoD (Pinned ->
 * Device)". */
size_t wti_cuda_words(const struct wti_cuda_record *record, char out[WTI_CUDA_WORDS_BYTES]);
/* "256x1x1/128x1x1"; 0: it has none. */
size_t wti_cuda_geometry(const struct wti_cuda_record *record, char out[WTI_CUDA_WORDS_BYTES]);

#endif
