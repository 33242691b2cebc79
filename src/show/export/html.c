/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls as one page that needs nothing but itself: a table of calls by name, then each call.
 * No script. Everything that comes from the trace is escaped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "put.h"
#include "show/markup.h"
#include "show/source.h"
#include "traced.h"

#define NS_PER_US 1000
#define TEXT_MAX ((size_t)1 << 20)

struct total {
	uint64_t count;
	uint64_t errors;
	uint64_t ns;
	uint32_t arch;
	uint32_t nr;
};

struct html {
	struct wti_traced calls;
	struct wti_buf *out;
	struct wti_buf text;
	struct total totals[WTI_CALLS_MAX + 1]; /* by number; the last: all beyond */
};

/* What HTML gives a meaning is escaped; controls, which it does not allow, changes of direction and
 * what is not UTF-8 are replaced. */
static void put_escaped(struct wti_buf *out, const char *text, size_t bytes)
{
	size_t length;

	for (size_t i = 0; i < bytes; i += length ? length : 1) {
		length = wti_harmless_length(text + i, bytes - i);
		if (length) {
			wti_markup_escape(out, text + i, length);
			continue;
		}
		WTI_PUT(out, "\xef\xbf\xbd");
		length = wti_utf8_length(text + i, bytes - i);
	}
}

static void put_cell(struct html *html, const char *tag)
{
	wti_buf_printf(html->out, "<td%s>", tag);
	put_escaped(html->out, (const char *)html->text.data, html->text.bytes);
	wti_buf_inherit(html->out, &html->text);
	wti_buf_clear(&html->text);
}

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct html *html = state;

	html->out = &export->sink->buf;
	wti_buf_init(&html->text, TEXT_MAX);
	WTI_PUT(html->out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<title>system calls</title>\n<style>\n"
		"body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
		"th{text-align:left;border-bottom:1px solid #888}td,th{padding:.15em .8em}"
		"td.n{text-align:right}td.c{font-family:monospace;white-space:pre-wrap;"
		"word-break:break-all}tr.e td{background:#fdd}\n"
		"@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}"
		"tr.e td{background:#522}}\n</style></head><body>\n"
		"<h1>System calls</h1>\n<table><tr><th>time (s)<th>thread<th>call<th>result"
		"<th>duration (µs)<th>source\n");
	return wti_traced_begin(&html->calls, export, err);
}

static void count(struct html *html, const struct wti_syscall *call, bool failed)
{
	struct total *total =
		&html->totals[call->nr < WTI_CALLS_MAX ? call->nr : (uint32_t)WTI_CALLS_MAX];

	total->arch = call->arch;
	total->nr = call->nr;
	total->count++;
	total->errors += failed;
	total->ns += call->duration_ns;
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct html *html = state;
	const struct wti_syscall *call = &html->calls.call;
	struct wti_source_place source;
	int r = wti_traced_take(&html->calls, event, err);
	bool failed = call->result < 0 && call->result >= -4095;

	if (r <= 0)
		return r;
	count(html, call, failed);
	wti_buf_printf(html->out, "<tr%s><td class=n>%.6f", failed ? " class=e" : "",
		       (double)call->start_ns / 1e9);
	wti_buf_printf(html->out, "<td class=n>%u", html->calls.tid);
	wti_decode_call(&html->text, call, &html->calls.options);
	put_cell(html, " class=c");
	r = wti_traced_done(&html->calls, err);
	wti_decode_result(&html->text, call, &html->calls.options);
	put_cell(html, " class=c");
	wti_buf_printf(html->out, "<td class=n>");
	wti_put_us(html->out, (int64_t)call->duration_ns);
	if (wti_sources_of(html->calls.export->sources, event, &source))
		wti_put_source(&html->text, &source);
	put_cell(html, " class=c");
	WTI_PUT(html->out, "\n");
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct total *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return (left->nr > right->nr) - (left->nr < right->nr);
}

static void put_totals(struct html *html)
{
	char label[WTI_CALL_LABEL_BYTES];

	qsort(html->totals, WTI_CALLS_MAX + 1, sizeof(html->totals[0]), by_time);
	WTI_PUT(html->out, "</table>\n<h2>By name</h2>\n<table><tr><th>call<th>calls<th>errors"
			   "<th>time (µs)\n");
	for (size_t i = 0; i <= WTI_CALLS_MAX; i++) {
		const struct total *total = &html->totals[i];

		if (!total->count)
			continue;
		wti_buf_text(&html->text, wti_call_label(label, total->arch, total->nr));
		WTI_PUT(html->out, "<tr>");
		put_cell(html, " class=c");
		wti_buf_printf(html->out, "<td class=n>%llu<td class=n>%llu<td class=n>",
			       (unsigned long long)total->count, (unsigned long long)total->errors);
		wti_put_us(html->out, (int64_t)total->ns);
		WTI_PUT(html->out, "\n");
	}
	WTI_PUT(html->out, "</table>\n</body></html>\n");
}

static int finish(void *state, struct wt_err *err)
{
	struct html *html = state;

	put_totals(html);
	return wti_traced_finish(&html->calls, err);
}

static void release(void *state)
{
	struct html *html = state;

	wti_traced_release(&html->calls);
	wti_buf_release(&html->text);
}

const struct wti_exporter wti_exporter_html = {
	.name = "html",
	.extension = "html",
	.summary = "system calls as a self-contained page",
	.streams = true,
	.state_bytes = sizeof(struct html),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
