/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes as JUnit's XML: what could not be evaluated is an error there, never a success. */
#include <string.h>

#include "junit.h"
#include "markup.h"

static void put_attribute(struct wti_buf *out, const char *name, const char *text)
{
	wti_buf_printf(out, " %s=\"", name);
	wti_markup_text(out, text);
	wti_buf_byte(out, '"');
}

static void put_outcome(struct wti_buf *out, const char *element, const char *message,
			const struct wti_outcome *outcome)
{
	wti_buf_printf(out, "    <%s", element);
	put_attribute(out, "message", message);
	wti_buf_text(out, ">expected: ");
	wti_markup_text(out, outcome->expected);
	wti_buf_text(out, "\nactual: ");
	wti_markup_text(out, outcome->actual);
	wti_buf_printf(out, "</%s>\n", element);
}

static void put_case(struct wti_buf *out, const struct wti_judged *judged)
{
	const struct wti_outcome *outcome = &judged->outcome;

	wti_buf_text(out, "  <testcase");
	put_attribute(out, "classname", judged->run);
	put_attribute(out, "name", judged->assertion->name);
	wti_buf_text(out, ">\n");
	if (outcome->verdict == WTI_NOT_MEASURED)
		put_outcome(out, "error", outcome->why, outcome);
	else if (outcome->verdict == WTI_DISABLED)
		wti_buf_text(out, "    <skipped/>\n");
	else if (judged->fails)
		put_outcome(out, "failure", outcome->actual, outcome);
	else if (outcome->verdict == WTI_VIOLATED) {
		wti_buf_text(out, "    <system-out>warning: ");
		wti_markup_text(out, outcome->actual);
		wti_buf_text(out, "</system-out>\n");
	}
	wti_buf_text(out, "  </testcase>\n");
}

void wti_show_junit(struct wti_buf *out, const struct wti_judged *judged, size_t count)
{
	size_t failures = 0, errors = 0, skipped = 0;

	for (size_t i = 0; i < count; i++) {
		failures += judged[i].fails;
		errors += judged[i].outcome.verdict == WTI_NOT_MEASURED;
		skipped += judged[i].outcome.verdict == WTI_DISABLED;
	}
	wti_buf_printf(out,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<testsuite name=\"wheeltap gate\" tests=\"%zu\" failures=\"%zu\" "
		       "errors=\"%zu\" skipped=\"%zu\">\n",
		       count, failures, errors, skipped);
	for (size_t i = 0; i < count; i++)
		put_case(out, &judged[i]);
	wti_buf_text(out, "</testsuite>\n");
}
