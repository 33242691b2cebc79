/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for bpf.c where it could not be built. */
#include "base/err.h"

#include "capture.h"

int wti_capture_bpf(const struct wti_capture_options *options, struct wti_capture *ret_capture,
		    struct wt_err *err)
{
	return wti_err(err, WT_E_MISSING,
		       "this wheeltap was built without BPF; install clang, bpftool and libbpf-dev "
		       "and build it again");
}
