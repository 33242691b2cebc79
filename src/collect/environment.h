/* SPDX-License-Identifier: Apache-2.0 */
/* What a run was made in: machine, executable, folder, commit, and a few named variables. */
#ifndef WTI_COLLECT_ENVIRONMENT_H
#define WTI_COLLECT_ENVIRONMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

#include "base/build_id.h"
#include "git.h"

struct wti_environment {
	char directory[PATH_MAX];
	char host[65];
	char kernel[200];
	char cpu[128];
	char os[128];       /* "Debian GNU/Linux 12 (bookworm)"; empty: not known */
	char libc[64];      /* that the recorder has: "glibc 2.36" */
	uint32_t cpu_count; /* that this process may use */
	uint64_t memory_bytes;
	char executable[PATH_MAX];
	char build_id[WTI_BUILD_ID_TEXT_BYTES];
	bool has_agent; /* the executable names an agent */
	struct wti_git git;
};

void wti_environment_look(struct wti_environment *environment, const char *executable,
			  char *const *variables);

/* True if a variable of this name is kept; docs/private.md has the list. */
bool wti_environment_allows(const char *name, size_t bytes);
/* Text into JSON with what looks secret masked. */
void wti_json_masked(struct wti_json *json, const char *text);
/* A command line as an array; the word after a key like --password is masked whole. */
void wti_json_command(struct wti_json *json, char *const *argv);
/* The same in one line of plain text, cut to `bytes`. */
void wti_mask_command(char *const *argv, char *out, size_t bytes);
/* The variables that are allowed, as an object. */
void wti_json_variables(struct wti_json *json, char *const *variables);

#endif
