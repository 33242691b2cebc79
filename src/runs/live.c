/* SPDX-License-Identifier: Apache-2.0 */
/* Between the watch, which knows no rules, and whoever shows what is found. */
#include <stdlib.h>

#include "base/err.h"
#include "examine.h"
#include "inspect/check/check.h"
#include "live.h"
#include "suppress.h"
#include "thresholds.h"

struct wti_live_check {
	struct wti_live_options options;
	struct wti_watch *watch;
	struct wti_suppressions *suppressions; /* or NULL */
	struct wti_setting *settings;          /* or NULL */
	struct wti_check_options how;
	char today[16];
};

/* On the watch's thread. */
static void take_news(void *cookie, struct wt_result *result)
{
	struct wti_live_check *live = cookie;

	wti_shorten_paths(result, live->options.directory);
	wti_suppress(live->suppressions, result, live->today);
	if (result->finding_count)
		live->options.news(live->options.cookie, result);
}

static int read_config(const char *config, struct wti_live_check *live, struct wt_err *err)
{
	int r = wti_suppressions_read(config, &live->suppressions, err);

	return r ? r : wti_thresholds_read(config, &live->settings, &live->how.setting_count, err);
}

int wti_live_start(const struct wti_front *front, const struct wti_live_options *options,
		   struct wti_live_check **ret_live, struct wt_err *err)
{
	struct wti_live_check *live = calloc(1, sizeof(*live));
	struct wti_watch_options watch = {
		.inspector = wt_inspector_by_name("check"), .news = take_news, .cookie = live};
	int r;

	if (!live)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	live->options = *options;
	live->how = (struct wti_check_options){.pack = options->pack,
					       .is_builtin = options->is_builtin,
					       .with_rules = true,
					       .some_calls = options->some_calls,
					       .today = wti_today(live->today)};
	r = front->config ? read_config(front->config, live, err) : 0;
	live->how.settings = live->settings;
	watch.inspector_options = &live->how;
	r = r ? r : wti_watch_start(&watch, &live->watch, err);
	if (r)
		wti_live_free(live);
	else
		*ret_live = live;
	return r;
}

struct wti_sink *wti_live_sink(struct wti_live_check *live)
{
	return wti_watch_sink(live->watch);
}

int wti_live_finish(struct wti_live_check *live, const char *run_status, struct wt_result *result,
		    struct wt_err *err)
{
	int r = wti_watch_finish(live->watch, result, err);

	if (r)
		return r;
	wti_shorten_paths(result, live->options.directory);
	wti_suppress(live->suppressions, result, live->today);
	wti_suppress_say(live->suppressions, result, live->today);
	wti_judged_early(result, run_status);
	return 0;
}

void wti_live_free(struct wti_live_check *live)
{
	if (!live)
		return;
	wti_watch_free(live->watch);
	wti_suppressions_free(live->suppressions);
	free(live->settings);
	free(live);
}
