/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output, standard error and exit codes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "report.h"

#define OUTPUT_MAX (1u << 30)

static unsigned terminal_width(bool tty)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long width;

	if (tty && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	width = columns ? strtoul(columns, NULL, 10) : 0;
	if (width >= 20 && width <= 10000)
		return (unsigned)width;
	return tty ? 80 : 0;
}

struct wti_style wti_style_stdout(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool tty = isatty(STDOUT_FILENO);
	bool plain = (no_color && *no_color) || !term || !strcmp(term, "dumb");

	return (struct wti_style){.colour = tty && !plain, .width = terminal_width(tty)};
}

bool wti_print(const void *data, size_t bytes)
{
	int r = wti_write_all(STDOUT_FILENO, data, bytes);

	/* Who closes the pipe early (head) has seen enough: SIGPIPE ends us before we come here. */
	if (r < 0)
		fprintf(stderr, "wheeltap: cannot write to standard output: %s\n", strerror(-r));
	return r >= 0;
}

bool wti_print_buf(struct wti_buf *buf)
{
	bool ok = wti_buf_status(buf) == 0;

	if (!ok)
		fprintf(stderr, "wheeltap: %s\n",
			wti_buf_status(buf) == WT_E_NOMEM
				? "out of memory"
				: "output too large to be made in memory");
	else
		ok = wti_print(buf->data, buf->bytes);
	wti_buf_clear(buf);
	return ok;
}

void wti_warn(const char *format, ...)
{
	va_list args;

	fputs("wheeltap: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int wti_exit_of(const struct wt_err *err)
{
	switch (err->code) {
	case WT_E_ARG:
		return WTI_EXIT_USAGE;
	case WT_E_NOMEM:
	case WT_E_EXISTS:
	case WT_E_BUSY:
		return WTI_EXIT_ENVIRONMENT;
	default:
		return WTI_EXIT_TRACE;
	}
}

static const char *code_name(int code)
{
	static const char *const names[] = {"ok",     "io",       "format",  "version", "limit",
					    "memory", "argument", "missing", "exists",  "busy"};

	return code <= 0 && -code < (int)(sizeof(names) / sizeof(names[0])) ? names[-code]
									    : "other";
}

/* The message is one line whatever it quotes: the libraries pass subjects on as they are. */
static void one_line(struct wti_buf *out, const struct wt_err *err)
{
	wti_printable(out, err->message, strlen(err->message));
	if (err->offset >= 0 && !strstr(err->message, "byte "))
		wti_buf_printf(out, " (byte %lld)", (long long)err->offset);
}

int wti_report_error(const char *verb, bool json, const struct wt_err *err)
{
	struct wti_buf line, out;

	wti_buf_init(&line, OUTPUT_MAX);
	one_line(&line, err);
	if (wti_buf_status(&line)) {
		fprintf(stderr, "wheeltap: out of memory\n");
		json = false;
	} else {
		fprintf(stderr, "wheeltap: %s\n", wti_buf_cstr(&line));
	}
	if (json) {
		struct wti_json j;

		wti_buf_init(&out, OUTPUT_MAX);
		wti_json_init(&j, &out, true);
		wti_json_object(&j);
		wti_json_key(&j, "verb");
		wti_json_text(&j, verb);
		wti_json_key(&j, "status");
		wti_json_text(&j, "error");
		wti_json_key(&j, "error");
		wti_json_object(&j);
		wti_json_key(&j, "code");
		wti_json_text(&j, code_name(err->code));
		wti_json_key(&j, "message");
		wti_json_text_n(&j, (const char *)line.data, line.bytes);
		wti_json_key(&j, "offset");
		if (err->offset >= 0)
			wti_json_i64(&j, err->offset);
		else
			wti_json_null(&j);
		wti_json_object_end(&j);
		wti_json_object_end(&j);
		wti_buf_byte(&out, '\n');
		wti_print_buf(&out);
		wti_buf_release(&out);
	}
	wti_buf_release(&line);
	return wti_exit_of(err);
}

void wti_report_notes(const struct wt_result *result)
{
	struct wti_buf line;

	wti_buf_init(&line, OUTPUT_MAX);
	for (size_t i = 0; i < result->note_count; i++) {
		wti_buf_clear(&line);
		wti_printable(&line, result->notes[i], strlen(result->notes[i]));
		wti_warn("%s", wti_buf_cstr(&line));
	}
	wti_buf_release(&line);
}

int wti_report_result(const struct wt_result *result, bool json, int code)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	if (wt_result_status(result)) {
		wti_warn("out of memory while making the result");
		return WTI_EXIT_ENVIRONMENT;
	}
	wti_buf_init(&out, OUTPUT_MAX);
	if (json)
		wti_show_json(&out, result);
	else
		wti_show_text(&out, result, &style);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}
