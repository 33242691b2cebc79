/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which answers are a yes; everything else, and the end of input, is a no. */
#include "consent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "report.h"

enum { QUESTION_BYTES_MAX = 4096 };

enum wti_consent wti_consent_ask(const char *question, ...)
{
	struct wti_buf line;
	char answer[16];
	va_list args;

	if (!isatty(STDIN_FILENO))
		return WTI_CONSENT_NOBODY;
	wti_buf_init(&line, QUESTION_BYTES_MAX);
	va_start(args, question);
	wti_buf_vprintf(&line, question, args);
	va_end(args);
	wti_buf_text(&line, " [y/N] ");
	wti_print_err(line.data, line.bytes);
	wti_buf_release(&line);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y')
		       ? WTI_CONSENT_GIVEN
		       : WTI_CONSENT_REFUSED;
}
