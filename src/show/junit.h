/* SPDX-License-Identifier: Apache-2.0 */
/* What came out of assertions, as JUnit's XML, for CI. */
#ifndef WTI_SHOW_JUNIT_H
#define WTI_SHOW_JUNIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "inspect/gate/gate.h"

struct wti_judged {
	const struct wti_assertion *assertion;
	const char *run; /* its name; of several: of all */
	struct wti_outcome outcome;
	bool fails; /* violated, at or above --fail-on */
};

void wti_show_junit(struct wti_buf *out, const struct wti_judged *judged, size_t count);

#endif
