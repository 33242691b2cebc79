/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the program speaks: results on standard output as text or JSON, errors and notes as single
 * lines on standard error. Every verb goes through here, so that they all sound the same, and so
 * that nothing else can reach a terminal: what it would obey is escaped on the way out (tools/check
 * forbids other ways). Whether a text breaks a line nobody can see there: wti_textf() in
 * base/text.h is for that.
 */
#ifndef WTI_CLI_REPORT_H
#define WTI_CLI_REPORT_H

#include <stdbool.h>

#include <wheeltap/err.h>
#include <wheeltap/result.h>

#include "base/buf.h"
#include "show/show.h"
#include "verb.h"

/*
 * What standard output is: colours, width, and whether it takes more than ASCII. This is the one
 * place that knows: NO_COLOR and TERM say whether there are colours; the terminal has a width, a
 * pipe that of COLUMNS, or any; LC_ALL, LC_CTYPE and LANG say what it takes.
 */
struct wti_style wti_style_stdout(void);
/* Of its terminal; 0: it is none, whatever COLUMNS says. */
unsigned wti_terminal_columns(void);

/* Writes all of it to standard output. False, said on standard error, if that failed. */
bool wti_print(const void *data, size_t bytes);
bool wti_print_buf(struct wti_buf *buf); /* and empties it */
/* The same of text for people: lines are wrapped at that width, if it is not 0 (show/wrap.h). */
bool wti_print_lines(struct wti_buf *buf, unsigned width);

/* The same to standard error, where nobody can be asked whether it arrived. */
void wti_print_err(const void *data, size_t bytes);
/* Wrapped, if it is a terminal: in a file a message is a line. */
void wti_print_err_lines(const void *data, size_t bytes);
/* In place of the line that standard error's terminal is at. */
void wti_print_err_over(const char *text);

/* A line on standard error; what is inserted cannot break it. */
void wti_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says the error, as an object on standard output as well when `json`; the exit code for it. */
int wti_report_error(const char *verb, bool json, const struct wt_err *err);
/* The exit code of an error: usage, trace or environment. */
int wti_exit_of(const struct wt_err *err);

/* Prints the result, its notes on standard error too; `code` unless printing failed. */
int wti_report_result(const struct wt_result *result, bool json, int code);

/* The first table as comma-separated values, notes on standard error; `code` unless printing
 * failed. */
int wti_report_csv(const struct wt_result *result, int code);

void wti_report_notes(const struct wt_result *result);

#endif
