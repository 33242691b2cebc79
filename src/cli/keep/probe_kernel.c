/* SPDX-License-Identifier: Apache-2.0 */
/* Features of kernel and processor, tried rather than guessed from versions. */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe.h"

void wti_probed_say(struct wti_probed *ret, enum wti_probe_state state, const char *cure,
		    const char *format, ...)
{
	va_list args;

	ret->state = state;
	ret->cure = cure;
	va_start(args, format);
	vsnprintf(ret->detail, sizeof(ret->detail), format, args);
	va_end(args);
}

bool wti_probe_line(const char *path, char *line, int bytes)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(line, bytes, file);

	if (file)
		fclose(file);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

static void look_kernel(struct wti_probed *ret)
{
	struct utsname name;

	if (uname(&name))
		wti_probed_say(ret, WTI_PROBE_LIMITED, NULL, "uname failed");
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%.60s %.60s %.30s", name.sysname,
			       name.release, name.machine);
}

static void look_memfd(struct wti_probed *ret)
{
	int fd = memfd_create("wheeltap-env", MFD_CLOEXEC);

	if (fd < 0)
		wti_probed_say(ret, WTI_PROBE_MISSING,
			       "use a kernel of 3.17 or later, or allow "
			       "memfd_create in the sandbox",
			       "memfd_create is not permitted");
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "rings can be shared");
	if (fd >= 0)
		close(fd);
}

static void look_membarrier(struct wti_probed *ret)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "the order of a live view is exact");
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "allow membarrier in the sandbox, or use a kernel of 4.16 or later",
			       "the order of a live view lags behind");
}

static void look_wipeonfork(struct wti_probed *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED && !madvise(memory, page, MADV_WIPEONFORK))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "forked children start with empty state");
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED, "use a kernel of 4.14 or later",
			       "children created by raw clone are not distinguished");
	if (memory != MAP_FAILED)
		munmap(memory, page);
}

static bool cpu_has(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *at = strncmp(line, "flags", 5) ? NULL : strstr(line, flag);

		found = at && at[-1] == ' ' && strchr(" \n", at[strlen(flag)]);
		if (!strncmp(line, "flags", 5))
			break;
	}
	if (file)
		fclose(file);
	return found;
}

static void look_tsc(struct wti_probed *ret)
{
	char source[64] = "?";
	bool invariant = cpu_has("constant_tsc") && cpu_has("nonstop_tsc");

	wti_probe_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		       sizeof(source));
	if (invariant)
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "invariant; the kernel's clock is %s",
			       source);
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "events cost about 30 ns more; on a virtual "
			       "machine let the host pass the invariant TSC on",
			       "not invariant: clock_gettime is used (%s)", source);
}

static void look_perf(struct wti_probed *ret)
{
	char level[32];

	if (!wti_probe_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)))
		wti_probed_say(ret, WTI_PROBE_MISSING, "use a kernel with perf events",
			       "no perf events");
	else if (strtol(level, NULL, 10) > 2 && geteuid())
		wti_probed_say(ret, WTI_PROBE_LIMITED, "sudo sysctl kernel.perf_event_paranoid=2",
			       "perf_event_paranoid is %s: no hardware counters", level);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "perf_event_paranoid is %s", level);
}

static void look_ptrace(struct wti_probed *ret)
{
	char scope[32];

	if (!wti_probe_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)))
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "not restricted");
	else if (strtol(scope, NULL, 10) >= 3)
		wti_probed_say(ret, WTI_PROBE_MISSING,
			       "needs a reboot with yama's ptrace_scope below 3",
			       "ptrace_scope is %s: no system calls by ptrace", scope);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL,
			       "ptrace_scope is %s: children can be traced", scope);
}

/* CapEff of /proc/self/status: bit 39 is CAP_BPF, 21 CAP_SYS_ADMIN, 38 CAP_PERFMON. */
static bool may_use_bpf(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "CapEff:", 7))
			caps = strtoull(line + 7, NULL, 16);
	}
	if (file)
		fclose(file);
	return (caps >> 21 & 1) || ((caps >> 39 & 1) && (caps >> 38 & 1));
}

static void look_bpf(struct wti_probed *ret)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "use a kernel with CONFIG_DEBUG_INFO_BTF; until then ptrace is used",
			       "no BTF: system calls by ptrace");
	else if (!may_use_bpf())
		wti_probed_say(
			ret, WTI_PROBE_LIMITED,
			"sudo setcap cap_bpf,cap_perfmon+ep $(command -v wheeltap), or run as root",
			"BTF is available, but not permitted: system calls by ptrace");
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "BTF is available and permitted");
}

static void look_cgroup(struct wti_probed *ret)
{
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK))
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "boot with systemd.unified_cgroup_hierarchy=1",
			       "no cgroup v2: a run cannot be frozen as a whole");
	else if (access("/sys/fs/cgroup/cgroup.procs", W_OK))
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "run below a delegated cgroup: systemd-run "
			       "--user --scope -p Delegate=yes",
			       "cgroup v2, not delegated to us");
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "cgroup v2, its freezer can be used");
}

const struct wti_probe wti_probes_kernel[] = {
	{"kernel", "kernel", false, look_kernel},
	{"kernel", "memfd", true, look_memfd},
	{"kernel", "membarrier", false, look_membarrier},
	{"kernel", "wipe on fork", false, look_wipeonfork},
	{"kernel", "time stamps", false, look_tsc},
	{"kernel", "perf events", false, look_perf},
	{"kernel", "ptrace", false, look_ptrace},
	{"kernel", "BPF", false, look_bpf},
	{"kernel", "cgroup freezer", false, look_cgroup},
	{0},
};
