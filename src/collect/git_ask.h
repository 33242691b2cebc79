/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks git something, for which it runs nothing that a repository's configuration names: callers
 * ask only for what needs no filter, hook, monitor, helper or network, and these are shut off
 * besides.
 */
#ifndef WTI_COLLECT_GIT_ASK_H
#define WTI_COLLECT_GIT_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct wti_git_asker {
	char **environment;
	uint64_t until_ns; /* CLOCK_MONOTONIC: no answer is waited for any longer */
};

/* `environment` is borrowed. False: out of memory. */
bool wti_git_asker_init(struct wti_git_asker *asker, char *const *environment, uint64_t until_ns);
void wti_git_asker_release(struct wti_git_asker *asker);
bool wti_git_late(const struct wti_git_asker *asker);
/*
 * True if git ended well in time; what it printed is appended to `out`, also otherwise. `words` are
 * those after `git`, and end with NULL. All that was started has ended when this returns.
 */
bool wti_git_ask(const struct wti_git_asker *asker, const char *const *words, struct wti_buf *out);

/* The same in two parts, with something else to do in between. */
struct wti_git_asking {
	pid_t pid;
	int from;
};

/* False: git could not be started, and there is nothing to end. */
bool wti_git_ask_begin(const struct wti_git_asker *asker, const char *const *words,
		       struct wti_git_asking *ret_asking);
bool wti_git_ask_end(const struct wti_git_asker *asker, const struct wti_git_asking *asking,
		     struct wti_buf *out);

#endif
