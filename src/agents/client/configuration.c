/* SPDX-License-Identifier: Apache-2.0 */
/* The program's configuration, value by value, as the program gives it. */
#include "common/agent.h"

#include <inttypes.h>

#include "common/text.h"
#include "emit.h"
#include "number.h"

static bool emit(struct wti_here here, struct wt_name *key, uint32_t type, const char *value)
{
	struct wti_record_configuration record = {.key = wti_name(here, key),
						  .source = wti_name(here, WT_NAME("program")),
						  .type = type};
	struct wti_kept_text kept;

	wti_keep_value(&kept, key->text, value);
	return wti_emit_configuration(here, &record, &kept);
}

bool wt_config_int(struct wt_name *key, int64_t value)
{
	const struct wti_here here = wti_here();
	char text[WTI_NUMBER_BYTES];

	if (!here.ring)
		return false;
	snprintf(text, sizeof(text), "%" PRId64, value);
	return emit(here, key, WT_VALUE_TYPE_INT, text);
}

bool wt_config_float(struct wt_name *key, double value)
{
	const struct wti_here here = wti_here();
	char text[WTI_NUMBER_BYTES];

	return here.ring && emit(here, key, WT_VALUE_TYPE_FLOAT, wti_number_text(text, value));
}

bool wt_config_text(struct wt_name *key, const char *value)
{
	const struct wti_here here = wti_here();

	return here.ring && emit(here, key, WT_VALUE_TYPE_TEXT, value ? value : "");
}
