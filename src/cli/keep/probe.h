/* SPDX-License-Identifier: Apache-2.0 */
/* What `env` looks at: one probe a feature, each with a word about what to do where it is missing.
 */
#ifndef WTI_CLI_KEEP_PROBE_H
#define WTI_CLI_KEEP_PROBE_H

#include <stdbool.h>

enum wti_probe_state { WTI_PROBE_OK, WTI_PROBE_LIMITED, WTI_PROBE_MISSING };

struct wti_probed {
	enum wti_probe_state state;
	char detail[256];
	const char *cure; /* one line; NULL: nothing to do */
};

struct wti_probe {
	const char *group; /* kernel, clock, permission, interpreter, library */
	const char *name;
	bool required; /* nothing can be recorded without it */
	void (*look)(struct wti_probed *ret);
};

/* Each ends with a name of NULL. */
extern const struct wti_probe wti_probes_kernel[];
extern const struct wti_probe wti_probes_permission[];
extern const struct wti_probe wti_probes_library[];

/* Calls back for each program in the PATH that is called as an interpreter: its real name. */
typedef void wti_interpreter_fn(void *cookie, const char *name, const struct wti_probed *probed);
void wti_probe_interpreters(wti_interpreter_fn *found, void *cookie);

/* Calls back for each interpreter that has an agent of its own: built by `record` or added. */
void wti_probe_agents(wti_interpreter_fn *found, void *cookie);

/* Whether OpenCL programs can be recorded: the loader (NULL: there is none), a driver, our layer.
 */
void wti_probe_opencl(struct wti_probed *ret, const char *loader);

/* What system calls are recorded with: each is tried, and what refuses it is named. */
void wti_probe_perf(struct wti_probed *ret);
void wti_probe_ptrace(struct wti_probed *ret);
void wti_probe_bpf(struct wti_probed *ret);
/* Which of them `record --syscalls` uses. */
void wti_probe_syscalls(struct wti_probed *ret);

/* For probes: state and detail at once. */
void wti_probed_say(struct wti_probed *ret, enum wti_probe_state state, const char *cure,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The first line of a small file such as a sysctl; false if it cannot be read. */
bool wti_probe_line(const char *path, char *line, int bytes);

#endif
