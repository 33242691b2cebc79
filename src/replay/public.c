/* SPDX-License-Identifier: Apache-2.0 */
/* The public C API of a replay, over what the command line uses. */
#include <wheeltap/replay.h>

#include "base/buf.h"
#include "base/err.h"
#include "replay.h"

#define LINES_BYTES_MAX (1u << 20)

void wt_replay_options_init(struct wt_replay_options *options)
{
	struct wti_replay_options defaults;

	wti_replay_options_init(&defaults);
	*options = (struct wt_replay_options){.size = sizeof(*options),
					      .to = defaults.to,
					      .repeats = defaults.repeats,
					      .ulp = defaults.ulp,
					      .memory_bytes = defaults.memory_bytes};
}

int wt_replay_code(const struct wt_trace *trace, const char *folder,
		   char ret_code[WT_REPLAY_CODE_BYTES], struct wt_err *err)
{
	struct wti_buf lines;
	int r;

	wti_buf_init(&lines, LINES_BYTES_MAX);
	r = wti_replay_consent(trace, folder, ret_code, &lines, err);
	wti_buf_release(&lines);
	return r;
}

static int consent(const struct wt_trace *trace, const char *folder,
		   const struct wt_replay_options *options, struct wt_err *err)
{
	char code[WT_REPLAY_CODE_BYTES];
	int r = wt_replay_code(trace, folder, code, err);

	if (r || (options->yes && wti_replay_is_agreed(options->yes, code)))
		return r;
	return wti_err(err, WT_E_ARG,
		       "nothing was executed: `yes` is not the code of the run's programs, '%s'",
		       code);
}

int wt_replay_trace(const struct wt_trace *trace, const char *folder,
		    const struct wt_replay_options *options, struct wt_result *result,
		    struct wt_err *err)
{
	struct wti_replay_options how;
	int r;

	if (options->size != sizeof(*options) || (unsigned)options->mode > WT_REPLAY_STREAM ||
	    (unsigned)options->order > WT_REPLAY_RANDOM)
		return wti_err(err, WT_E_ARG,
			       "options of a replay are initialised by wt_replay_options_init()");
	r = options->mode == WT_REPLAY_DRY_RUN ? 0 : consent(trace, folder, options, err);
	if (r)
		return r;
	wti_replay_options_init(&how);
	how.mode = (enum wti_replay_mode)options->mode;
	how.order = (struct wti_replay_order){.type = (enum wti_replay_order_type)options->order,
					      .seed = options->seed};
	how.from = options->from;
	how.to = options->to;
	how.queue = options->queue;
	how.kernel = options->kernel;
	how.repeats = options->repeats;
	how.device = options->device;
	how.ulp = options->ulp;
	how.memory_bytes = options->memory_bytes;
	how.binaries = options->yes;
	return wti_replay(trace, folder, &how, result, err);
}
