/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output, standard error and exit codes. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "report.h"
#include "show/terminal.h"
#include "show/wrap.h"

#define OUTPUT_MAX (1u << 30)

/* 0: it is no terminal. */
static unsigned terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* A pipe has no width, unless somebody has said which. */
static unsigned output_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned width = terminal_width(STDOUT_FILENO);
	unsigned long wanted = !width && columns ? strtoul(columns, NULL, 10) : 0;

	return wanted >= 20 && wanted <= 10000 ? (unsigned)wanted : width;
}

/* By the names of locales, which need not be installed: most machines have no more than C.UTF-8. */
static bool has_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *locale = getenv(variables[i]);

		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

static bool has_colour(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool plain = (no_color && *no_color) || !term || !strcmp(term, "dumb");

	return !plain && isatty(fd);
}

unsigned wti_terminal_columns(void)
{
	return terminal_width(STDOUT_FILENO);
}

struct wti_style wti_style_stdout(void)
{
	return (struct wti_style){
		.colour = has_colour(STDOUT_FILENO), .width = output_width(), .ascii = !has_utf8()};
}

/* ---- The two ways out ------------------------------------------------------------------------ */

/* What a terminal would obey is escaped, also where there is none: pipes end in pagers and logs. */
static int write_text(int fd, const char *text, size_t bytes)
{
	bool has_ink = has_colour(fd);
	struct wti_buf safe;
	int r;

	if (wti_terminal_safe(text, bytes, has_ink) == bytes)
		return wti_write_all(fd, text, bytes);
	wti_buf_init(&safe, 4 * bytes + 1);
	wti_terminal_escape(&safe, text, bytes, has_ink);
	r = wti_buf_status(&safe) ? -ENOMEM : wti_write_all(fd, safe.data, safe.bytes);
	wti_buf_release(&safe);
	return r;
}

void wti_print_err(const void *data, size_t bytes)
{
	/* Nowhere to complain when standard error is gone. */
	if (write_text(STDERR_FILENO, data, bytes))
		return;
}

bool wti_print(const void *data, size_t bytes)
{
	int r = write_text(STDOUT_FILENO, data, bytes);

	/* Who closes the pipe early (head) has seen enough: SIGPIPE ends us before we come here. */
	if (r < 0)
		wti_warn("cannot write to standard output: %s", strerror(-r));
	return r >= 0;
}

bool wti_print_lines(struct wti_buf *buf, unsigned width)
{
	struct wti_buf lines;
	bool ok;

	wti_buf_init(&lines, OUTPUT_MAX);
	wti_buf_inherit(&lines, buf);
	if (!wti_buf_status(buf))
		wti_wrap(&lines, (const char *)buf->data, buf->bytes, width);
	wti_buf_clear(buf);
	ok = wti_print_buf(&lines);
	wti_buf_release(&lines);
	return ok;
}

void wti_print_err_lines(const void *data, size_t bytes)
{
	struct wti_buf lines;

	wti_buf_init(&lines, OUTPUT_MAX);
	wti_wrap(&lines, data, bytes, terminal_width(STDERR_FILENO));
	if (wti_buf_status(&lines))
		wti_print_err(data, bytes);
	else
		wti_print_err(lines.data, lines.bytes);
	wti_buf_release(&lines);
}

bool wti_print_buf(struct wti_buf *buf)
{
	bool ok = wti_buf_status(buf) == 0;

	if (!ok)
		wti_warn("%s", wti_buf_status(buf) == WT_E_NOMEM
				       ? "out of memory"
				       : "the output is too large for memory");
	else
		ok = wti_print(buf->data, buf->bytes);
	wti_buf_clear(buf);
	return ok;
}

void wti_warn(const char *format, ...)
{
	static const char failed[] = "wheeltap: out of memory\n";
	struct wti_buf line;
	va_list args;

	wti_buf_init(&line, OUTPUT_MAX);
	wti_buf_text(&line, "wheeltap: ");
	va_start(args, format);
	wti_vtextf(&line, format, args);
	va_end(args);
	wti_buf_byte(&line, '\n');
	if (wti_buf_status(&line))
		wti_print_err(failed, sizeof(failed) - 1);
	else
		wti_print_err_lines(line.data, line.bytes);
	wti_buf_release(&line);
}

void wti_print_err_over(const char *text)
{
	static const char erase[] = "\r\033[K";

	if (!wti_write_all(STDERR_FILENO, erase, sizeof(erase) - 1))
		wti_print_err(text, strlen(text));
}

/* ---- Errors and results ---------------------------------------------------------------------- */

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
	static const char lead[] = "wheeltap: ";
	const size_t lead_bytes = sizeof(lead) - 1;
	struct wti_buf line, out;

	wti_buf_init(&line, OUTPUT_MAX);
	wti_buf_append(&line, lead, lead_bytes);
	one_line(&line, err);
	if (wti_buf_status(&line)) {
		wti_warn("out of memory");
		json = false;
	} else {
		wti_buf_byte(&line, '\n');
		wti_print_err_lines(line.data, line.bytes--);
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
		wti_json_text_n(&j, (const char *)line.data + lead_bytes, line.bytes - lead_bytes);
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
	for (size_t i = 0; i < result->note_count; i++)
		wti_warn("%s", result->notes[i]);
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
	ok = json ? wti_print_buf(&out) : wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

int wti_report_csv(const struct wt_result *result, int code)
{
	struct wti_buf out;
	bool ok;

	if (wt_result_status(result)) {
		wti_warn("out of memory while making the result");
		return WTI_EXIT_ENVIRONMENT;
	}
	wti_buf_init(&out, OUTPUT_MAX);
	wti_show_csv(&out, result->tables[0]);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}
