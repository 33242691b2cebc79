/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for bash, zsh and fish. Verbs and options come from the rows. */
#include <string.h>

#include "help.h"

/* Runs are completed by name, asked from wheeltap itself. */
static bool takes_run(const struct wti_verb *verb)
{
	return strstr(verb->arguments, "RUN") != NULL;
}

static void verb_names(struct wti_buf *out)
{
	for (size_t i = 0; wti_verbs[i]; i++)
		wti_buf_printf(out, "%s%s", i ? " " : "", wti_verbs[i]->name);
}

static void choices(struct wti_buf *out, const char *text)
{
	for (; *text; text++)
		wti_buf_byte(out, *text == '|' ? ' ' : (uint8_t)*text);
}

static void bash_choices(struct wti_buf *out, const struct wti_verb *verb)
{
	for (const struct wti_option *o = verb->options; o && o->name; o++) {
		if (o->type != WTI_OPT_CHOICE)
			continue;
		wti_buf_printf(out, "\t%s:--%s) words=\"", verb->name, o->name);
		choices(out, o->choices);
		wti_buf_text(out, "\" ;;\n");
	}
}

static void bash_verb(struct wti_buf *out, const struct wti_verb *verb)
{
	bash_choices(out, verb);
	wti_buf_printf(out, "\t%s:*) words=\"--help", verb->name);
	for (const struct wti_option *o = verb->options; o && o->name; o++)
		wti_buf_printf(out, " --%s", o->name);
	wti_buf_text(out, "\"");
	if (takes_run(verb))
		wti_buf_text(out, "; runs=1");
	wti_buf_text(out, " ;;\n");
}

static void bash(struct wti_buf *out)
{
	wti_buf_text(out, "# bash completion for wheeltap\n"
			  "_wheeltap() {\n"
			  "\tlocal word=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\" runs=\"\"\n"
			  "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
			  "\t\tCOMPREPLY=($(compgen -W \"");
	verb_names(out);
	wti_buf_text(out, "\" -- \"$word\"))\n\t\treturn\n\tfi\n"
			  "\tcase \"${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]}\" in\n");
	for (size_t i = 0; wti_verbs[i]; i++)
		bash_verb(out, wti_verbs[i]);
	wti_buf_text(out, "\tesac\n"
			  "\t[ -n \"$runs\" ] && [ \"${word#-}\" = \"$word\" ] && "
			  "words=\"latest $(wheeltap ls --names 2>/dev/null)\"\n"
			  "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
			  "}\n"
			  "complete -o default -F _wheeltap wheeltap\n");
}

/* Text inside single quotes of zsh and fish. */
static void quoted(struct wti_buf *out, const char *text, bool zsh)
{
	for (; *text; text++) {
		if (*text == '\'')
			wti_buf_text(out, zsh ? "'\\''" : "\\'");
		else if (zsh && strchr("[]:", *text))
			wti_buf_printf(out, "\\%c", *text);
		else
			wti_buf_byte(out, (uint8_t)*text);
	}
}

static void zsh_option(struct wti_buf *out, const struct wti_option *o)
{
	wti_buf_printf(out, " \\\n\t\t\t'%s--%s", o->type == WTI_OPT_LIST ? "*" : "", o->name);
	wti_buf_printf(out, "%s[", o->argument ? "=" : "");
	quoted(out, o->help, true);
	wti_buf_byte(out, ']');
	if (o->type == WTI_OPT_CHOICE) {
		wti_buf_printf(out, ":%s:(", o->argument);
		choices(out, o->choices);
		wti_buf_byte(out, ')');
	} else if (o->argument) {
		wti_buf_printf(out, ":%s:_files", o->argument);
	}
	wti_buf_byte(out, '\'');
}

static void zsh(struct wti_buf *out)
{
	wti_buf_text(out, "#compdef wheeltap\n# zsh completion for wheeltap\n"
			  "_wheeltap_runs() {\n"
			  "\tlocal -a runs=(latest ${(f)\"$(wheeltap ls --names 2>/dev/null)\"})\n"
			  "\t_alternative 'runs:run:compadd -a runs' 'files:file:_files'\n}\n"
			  "_wheeltap() {\n\tlocal -a verbs=(\n");
	for (size_t i = 0; wti_verbs[i]; i++) {
		wti_buf_printf(out, "\t\t'%s:", wti_verbs[i]->name);
		quoted(out, wti_verbs[i]->summary, true);
		wti_buf_text(out, "'\n");
	}
	wti_buf_text(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n"
			  "\t\treturn\n\tfi\n\tlocal verb=$words[2]\n\tshift words\n"
			  "\t(( CURRENT-- ))\n\tcase $verb in\n");
	for (size_t i = 0; wti_verbs[i]; i++) {
		wti_buf_printf(out, "\t\t%s) _arguments '--help[show help]'", wti_verbs[i]->name);
		for (const struct wti_option *o = wti_verbs[i]->options; o && o->name; o++)
			zsh_option(out, o);
		if (takes_run(wti_verbs[i]))
			wti_buf_text(out, " \\\n\t\t\t'*:run:_wheeltap_runs'");
		wti_buf_text(out, " ;;\n");
	}
	wti_buf_text(out, "\tesac\n}\n_wheeltap \"$@\"\n");
}

static void fish_verb(struct wti_buf *out, const struct wti_verb *verb)
{
	for (const struct wti_option *o = verb->options; o && o->name; o++) {
		wti_buf_printf(out,
			       "complete -c wheeltap -n '__fish_seen_subcommand_from %s' -l %s",
			       verb->name, o->name);
		if (o->letter)
			wti_buf_printf(out, " -s %c", o->letter);
		if (o->argument)
			wti_buf_text(out, " -r");
		if (o->type == WTI_OPT_CHOICE) {
			wti_buf_text(out, " -f -a '");
			choices(out, o->choices);
			wti_buf_byte(out, '\'');
		}
		wti_buf_text(out, " -d '");
		quoted(out, o->help, false);
		wti_buf_text(out, "'\n");
	}
	if (takes_run(verb))
		wti_buf_printf(out,
			       "complete -c wheeltap -n '__fish_seen_subcommand_from %s' "
			       "-a 'latest (wheeltap ls --names 2>/dev/null)'\n",
			       verb->name);
}

static void fish(struct wti_buf *out)
{
	wti_buf_text(out, "# fish completion for wheeltap\n");
	for (size_t i = 0; wti_verbs[i]; i++) {
		wti_buf_printf(out, "complete -c wheeltap -f -n __fish_use_subcommand -a %s -d '",
			       wti_verbs[i]->name);
		quoted(out, wti_verbs[i]->summary, false);
		wti_buf_text(out, "'\n");
	}
	for (size_t i = 0; wti_verbs[i]; i++)
		fish_verb(out, wti_verbs[i]);
}

bool wti_help_completion(struct wti_buf *out, const char *shell)
{
	if (!strcmp(shell, "bash"))
		bash(out);
	else if (!strcmp(shell, "zsh"))
		zsh(out);
	else if (!strcmp(shell, "fish"))
		fish(out);
	else
		return false;
	return true;
}
