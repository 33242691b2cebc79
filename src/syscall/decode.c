/* SPDX-License-Identifier: Apache-2.0 */
/* A whole call: its arguments by their types, its result, and strace's column between them. */
#include "decode.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "show.h"

#define RESULT_COLUMN 40
#define ERRORS_MAX 4095

/* Results that never reach the program: the kernel calls again or gives EINTR. No header has them.
 */
static const struct {
	uint32_t number;
	const char *name;
	const char *text;
} restarts[] = {
	{512, "ERESTARTSYS", "To be restarted if SA_RESTART is set"},
	{513, "ERESTARTNOINTR", "To be restarted"},
	{514, "ERESTARTNOHAND", "To be restarted if no handler"},
	{516, "ERESTART_RESTARTBLOCK", "Interrupted by signal"},
};

static void begin(struct wti_show *show, struct wti_buf *out, const struct wti_syscall *call,
		  const struct wti_decode_options *options)
{
	static const struct wti_decode_options plain;

	*show = (struct wti_show){
		.out = out,
		.call = call,
		.what = wti_described(call->arch, call->nr),
		.options = options ? options : &plain,
		.returned = !(call->flags & WT_SYSCALL_UNFINISHED),
	};
	show->string_max =
		show->options->string_max ? show->options->string_max : WTI_STRING_MAX_DEFAULT;
	show->failed = show->returned && call->result < 0 && call->result >= -ERRORS_MAX;
}

const char *wti_call_label(char out[WTI_CALL_LABEL_BYTES], uint32_t arch, uint32_t nr)
{
	const char *name = wti_call_name(arch, nr);

	if (!name)
		snprintf(out, WTI_CALL_LABEL_BYTES, "syscall_%#x", nr);
	return name ? name : out;
}

static unsigned arg_count(const struct wti_show *show)
{
	return show->what ? show->what->arg_count : WTI_CALL_ARGS;
}

static bool show_argument(struct wti_show *show, unsigned i)
{
	if (show->what)
		return wti_type_functions[show->what->args[i].type](show, i);
	return wti_type_raw(show, i);
}

bool wti_decode_argument(struct wti_buf *out, const struct wti_syscall *call, unsigned i,
			 const struct wti_decode_options *options)
{
	struct wti_show show;

	begin(&show, out, call, options);
	if (i >= arg_count(&show))
		return false;
	return show_argument(&show, i) && !show.cut;
}

/* Whether strace would have had more to show at the end of a call that never came to it. */
static bool is_cut(const struct wti_show *show)
{
	uint8_t result = show->what ? show->what->result : (uint8_t)WTI_RESULT_INT;

	return show->cut ||
	       (!show->returned && (result == WTI_RESULT_POLL || result == WTI_RESULT_SELECT));
}

void wti_decode_call(struct wti_buf *out, const struct wti_syscall *call,
		     const struct wti_decode_options *options)
{
	char label[WTI_CALL_LABEL_BYTES];
	struct wti_show show;
	bool any = false;

	begin(&show, out, call, options);
	wti_buf_printf(out, "%s(", wti_call_label(label, call->arch, call->nr));
	for (unsigned i = 0; i < arg_count(&show) && !show.cut; i++) {
		size_t before = out->bytes;

		if (any)
			wti_buf_text(out, ", ");
		if (show_argument(&show, i))
			any = true;
		else if (!wti_buf_status(out))
			out->bytes = before;
	}
	wti_buf_text(out, is_cut(&show) ? " <unfinished ...>)" : ")");
}

/* -1 ENOENT (No such file or directory) */
static void show_error(struct wti_show *show)
{
	uint32_t number = (uint32_t)wti_magnitude(show->call->result);
	const char *name = wti_errno_name(number);

	for (size_t i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++) {
		if (restarts[i].number == number) {
			WTI_SHOW(show, "? %s (%s)", restarts[i].name, restarts[i].text);
			return;
		}
	}
	if (name)
		WTI_SHOW(show, "-1 %s (%s)", name, strerror((int)number));
	else
		WTI_SHOW(show, "-1 (errno %u)", number);
}

void wti_decode_result(struct wti_buf *out, const struct wti_syscall *call,
		       const struct wti_decode_options *options)
{
	struct wti_show show;

	begin(&show, out, call, options);
	if (!show.returned)
		wti_buf_text(out, "?");
	else if (show.failed)
		show_error(&show);
	else if (show.what)
		wti_result_functions[show.what->result](&show);
	else
		wti_result_int(&show);
}

void wti_decode_siginfo(struct wti_buf *out, const uint8_t *info)
{
	static const struct wti_syscall none;
	struct wti_show show;

	begin(&show, out, &none, NULL);
	wti_say_siginfo(&show, info);
}

void wti_decode_pad(struct wti_buf *out, size_t line_begin)
{
	size_t width = out->bytes - line_begin;

	wti_buf_printf(out, "%*s= ", width < RESULT_COLUMN ? (int)(RESULT_COLUMN - width) : 1, "");
}

void wti_decode_line(struct wti_buf *out, size_t line_begin, const struct wti_syscall *call,
		     const struct wti_decode_options *options)
{
	wti_decode_call(out, call, options);
	wti_decode_pad(out, line_begin);
	wti_decode_result(out, call, options);
}
