/* SPDX-License-Identifier: Apache-2.0 */
/* Help, manual pages and shell completion, all made from the rows of the verbs. */
#ifndef WTI_CLI_KEEP_HELP_H
#define WTI_CLI_KEEP_HELP_H

#include "base/buf.h"
#include "cli/verb.h"

/* On standard output; an exit code. */
int wti_help_all(void);
int wti_help_verb(const struct wti_verb *verb);
/* There is no such verb: what may have been meant. `asked` is the verb that reports it. */
int wti_unknown_verb(const char *asked, const char *word, bool json);

/* scdoc source of wheeltap-VERB(1), or of wheeltap(1) when `verb` is NULL. */
void wti_help_man(struct wti_buf *out, const struct wti_verb *verb);

/* bash, zsh or fish; false if `shell` is none of them. */
bool wti_help_completion(struct wti_buf *out, const char *shell);

/* What `wheeltap help` puts before each group of verbs: "" for a group that it does not know. */
const char *wti_help_group_title(const char *group);
extern const char *const wti_help_groups[]; /* ends with NULL */

#endif
