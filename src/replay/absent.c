/* SPDX-License-Identifier: Apache-2.0 */
/* In place of all that needs the headers of OpenCL, where there are none. */
#include "base/buf.h"
#include "base/err.h"
#include "base/library.h"
#include "replay.h"

void wti_replay_options_init(struct wti_replay_options *options)
{
	*options = (struct wti_replay_options){0};
}

static int absent(struct wt_err *err)
{
	return wti_err(
		err, WT_E_MISSING,
		"this wheeltap cannot replay: it was built without the headers of OpenCL; %s",
		wti_library_cure("on Debian they are in opencl-c-headers"));
}

int wti_replay(const struct wt_trace *trace, const char *folder,
	       const struct wti_replay_options *options, struct wt_result *result,
	       struct wt_err *err)
{
	return absent(err);
}

bool wti_replay_is_agreed(const char *yes, const char *code)
{
	return false;
}

int wti_replay_consent(const struct wt_trace *trace, const char *folder,
		       char ret_code[WTI_REPLAY_CODE_BYTES], struct wti_buf *out,
		       struct wt_err *err)
{
	return absent(err);
}
