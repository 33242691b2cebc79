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

#include "place.h"
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
			       wti_place_is_confined()
				       ? "allow memfd_create: docker run --security-opt "
					 "seccomp=unconfined ..."
				       : "use a kernel of 3.17 or later",
			       "memfd_create is not permitted: nothing can be recorded");
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
	{"kernel", "system calls", false, wti_probe_syscalls},
	{"kernel", "perf events", false, wti_probe_perf},
	{"kernel", "ptrace", false, wti_probe_ptrace},
	{"kernel", "BPF", false, wti_probe_bpf},
	{"kernel", "cgroup freezer", false, look_cgroup},
	{0},
};
