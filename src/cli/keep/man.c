/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages as scdoc source. Knows scdoc's markup; the text comes from the rows. */
#include <string.h>

#include "help.h"

/* scdoc reads _ * \ and some others as markup: text that is not meant so is escaped. */
static void escape_n(struct wti_buf *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		bool is_first = !out->bytes || out->data[out->bytes - 1] == '\n';

		/* To roff, a line that begins with a quote is a request. */
		if (text[i] == '\'' && is_first)
			wti_buf_text(out, "**");
		/* A dash that begins a line would begin a list. */
		if (text[i] == '-' && is_first)
			wti_buf_byte(out, '\\');
		else if (strchr("\\*_#[]~<>`.'", text[i]) && text[i])
			wti_buf_byte(out, '\\');
		wti_buf_byte(out, (uint8_t)text[i]);
	}
}

static void escape(struct wti_buf *out, const char *text)
{
	escape_n(out, text, strlen(text));
}

static void add_options(struct wti_buf *out, const struct wti_verb *verb)
{
	wti_buf_text(out, "# OPTIONS\n\n");
	for (const struct wti_option *o = verb->options; o && o->name; o++) {
		if (o->letter)
			wti_buf_printf(out, "*-%c*, ", o->letter);
		wti_buf_printf(out, "*--%s*", o->name);
		if (o->argument) {
			wti_buf_byte(out, ' ');
			escape(out, wti_option_value(o));
		}
		wti_buf_text(out, "\n\t");
		escape(out, o->help);
		wti_buf_text(out, "\n\n");
	}
	wti_buf_text(out, "*-h*, *--help*\n\tshow a short help text\n\n");
}

static void add_examples(struct wti_buf *out, const char *lines)
{
	if (!lines)
		return;
	wti_buf_text(out, "# EXAMPLES\n\n");
	while (*lines) {
		size_t bytes = strcspn(lines, "\n");
		const char *tab = memchr(lines, '\t', bytes);
		size_t command = tab ? (size_t)(tab - lines) : bytes;

		escape_n(out, lines, command);
		wti_buf_text(out, "\n");
		if (tab) {
			wti_buf_text(out, "\t");
			escape_n(out, tab + 1, bytes - command - 1);
			wti_buf_text(out, "\n");
		}
		wti_buf_text(out, "\n");
		lines += bytes;
		lines += *lines == '\n';
	}
}

static void add_exit(struct wti_buf *out)
{
	wti_buf_text(
		out,
		"# EXIT STATUS\n\n"
		"*0*\n"
		"\tclean: the verb did its work and found nothing\n\n"
		"*1*\n"
		"\tthere are findings\n\n"
		"*2*\n"
		"\tthe command line is wrong\n\n"
		"*3*\n"
		"\tthe trace is missing or damaged (what could be read is shown), or nothing "
		"could be measured\n\n"
		"*4*\n"
		"\tthe environment does not allow it\n\n"
		"*125*\n"
		"\t*record* itself failed, for example because of a wrong option; otherwise its "
		"exit status is that of the program\n\n");
}

static void verb_page(struct wti_buf *out, const struct wti_verb *verb)
{
	wti_buf_printf(out, "wheeltap-%s(1)\n\n# NAME\n\nwheeltap-%s - ", verb->name, verb->name);
	escape(out, verb->summary);
	wti_buf_printf(out, "\n\n# SYNOPSIS\n\n*wheeltap %s* \\[OPTIONS\\]%s", verb->name,
		       *verb->arguments ? " " : "");
	escape(out, verb->arguments);
	wti_buf_text(out, "\n\n# DESCRIPTION\n\n");
	escape(out, verb->description);
	wti_buf_text(out, "\n\n");
	add_options(out, verb);
	add_examples(out, verb->examples);
	add_exit(out);
	wti_buf_text(out, "# SEE ALSO\n\n*wheeltap*(1)\n");
}

static void main_page(struct wti_buf *out)
{
	wti_buf_text(
		out,
		"wheeltap(1)\n\n"
		"# NAME\n\n"
		"wheeltap - record training runs and answer questions about them\n\n"
		"# SYNOPSIS\n\n"
		"*wheeltap* VERB \\[OPTIONS\\] \\[ARGUMENTS\\]\n\n"
		"# DESCRIPTION\n\n"
		"wheeltap records a training run, whatever the program is written in, into one "
		"compact trace and answers questions about it.\n\n"
		"A run is a folder. It is given by its path, by its name below the home of the "
		"runs, or as *latest*, the run that was started last, which is also the default. "
		"*latest* includes runs that *record -o* put elsewhere, if there is a home of "
		"runs. Most verbs also accept a single stream, a file that ends in \\.wt.\n\n"
		"# VERBS\n\n");
	for (size_t i = 0; wti_verbs[i]; i++) {
		wti_buf_printf(out, "*wheeltap-%s*(1)\n\t", wti_verbs[i]->name);
		escape(out, wti_verbs[i]->summary);
		wti_buf_text(out, "\n\n");
	}
	wti_buf_text(out, "# ENVIRONMENT\n\n"
			  "*WHEELTAP\\_HOME*\n"
			  "\twhere the runs are; without it \\./wheeltap-runs\n\n"
			  "*NO\\_COLOR*\n"
			  "\twhen set and not empty: no colours\n\n"
			  "*COLUMNS*\n"
			  "\tthe width to fill if standard output is not a terminal; without it "
			  "lines are not wrapped\n\n"
			  "*LC\\_ALL*, *LC\\_CTYPE*, *LANG*\n"
			  "\tif the first of these that is set does not name UTF-8, bars and "
			  "ellipses are ASCII; names from the trace are unchanged\n\n");
	add_exit(out);
}

void wti_help_man(struct wti_buf *out, const struct wti_verb *verb)
{
	if (verb)
		verb_page(out, verb);
	else
		main_page(out);
}
