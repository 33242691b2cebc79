/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program runs, as far as a cure depends on it: a flag of `docker run`, or a sysctl. */
#ifndef WTI_CLI_KEEP_PLACE_H
#define WTI_CLI_KEEP_PLACE_H

#include <stdbool.h>

/* In a container, by the marks that Docker, Podman and Kubernetes leave. */
bool wti_place_is_container(void);
/* In a container, or under a filter of system calls. */
bool wti_place_is_confined(void);
/* The kernel's limit for tracing by ptrace, 0 to 3; 0 where there is none. */
int wti_place_ptrace_scope(void);

#endif
