/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What system calls are recorded with. Each is done once, as `record --syscalls` would do it: what
 * versions and settings say is not what a container permits. Settings only explain a refusal.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"
#include "probe.h"

/* ---- perf events ----------------------------------------------------------------------------- */

static int try_perf(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .exclude_kernel = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

void wti_probe_perf(struct wti_probed *ret)
{
	char level[32] = "?";
	int why = try_perf();
	const char *cure = wti_place_is_confined()
				   ? "docker run --cap-add PERFMON ..., or, before Docker 20.10, "
				     "--security-opt seccomp=unconfined"
				   : "sudo sysctl kernel.perf_event_paranoid=2";

	wti_probe_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	if (!why)
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "perf_event_paranoid is %s", level);
	else if (why == ENOSYS || why == ENOENT)
		wti_probed_say(ret, WTI_PROBE_MISSING, "use a kernel with perf events",
			       "no perf events");
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED, cure,
			       "%s; perf_event_paranoid is %s: BPF cannot follow which libraries "
			       "are loaded",
			       strerror(why), level);
}

/* ---- ptrace ---------------------------------------------------------------------------------- */

/* Whether a child can be traced; the error if not. */
static int try_ptrace(void)
{
	pid_t child = fork();
	int why = 0;

	if (!child) {
		for (;;)
			pause();
	}
	if (child < 0)
		return errno;
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
		why = errno;
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	return why;
}

static const char *cure_ptrace(int scope)
{
	if (scope >= 3)
		return "reboot: a ptrace_scope of 3 cannot be lowered while the system runs";
	if (wti_place_is_confined())
		return "docker run --cap-add SYS_PTRACE ...; elsewhere allow ptrace and "
		       "process_vm_readv in the filter";
	if (scope == 2)
		return "sudo sysctl kernel.yama.ptrace_scope=1";
	return "run as root, or allow ptrace in the sandbox";
}

void wti_probe_ptrace(struct wti_probed *ret)
{
	int why = try_ptrace(), scope = wti_place_ptrace_scope();

	if (why && scope >= 2)
		wti_probed_say(ret, WTI_PROBE_MISSING, cure_ptrace(scope),
			       "%s, ptrace_scope is %d: no system calls by ptrace", strerror(why),
			       scope);
	else if (why)
		wti_probed_say(ret, WTI_PROBE_MISSING, cure_ptrace(scope),
			       "%s%s: no system calls by ptrace", strerror(why),
			       wti_place_is_confined() ? ", by a container or a seccomp filter"
						       : "");
	else if (scope == 1)
		wti_probed_say(ret, WTI_PROBE_OK,
			       "only for record --attach by an ordinary user: sudo sysctl "
			       "kernel.yama.ptrace_scope=0",
			       "ptrace_scope is 1: children can be traced");
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "children can be traced");
}

/* ---- BPF ------------------------------------------------------------------------------------- */

/* Loads a program that does nothing, of the kind that the capture consists of. */
static int try_bpf(void)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)nothing;
	attr.insn_cnt = sizeof(nothing) / sizeof(nothing[0]);
	attr.license = (uint64_t)(uintptr_t) "GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool has_btf(void)
{
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

void wti_probe_bpf(struct wti_probed *ret)
{
	int why = try_bpf();
	const char *cure =
		wti_place_is_confined()
			? "docker run --user root --cap-add BPF --cap-add PERFMON ..., or, before "
			  "Docker 20.10, --cap-add SYS_ADMIN; ptrace does without"
			: "sudo setcap cap_bpf,cap_perfmon+ep $(command -v wheeltap), or run as "
			  "root; ptrace does without";

	if (!has_btf())
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "use a kernel with CONFIG_DEBUG_INFO_BTF; until then ptrace is used",
			       "no BTF");
	else if (why)
		wti_probed_say(ret, WTI_PROBE_LIMITED, cure,
			       "BTF is available, but BPF is not permitted (%s)", strerror(why));
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "BTF is available and permitted");
}

/* ---- The source ------------------------------------------------------------------------------ */

void wti_probe_syscalls(struct wti_probed *ret)
{
	if (has_btf() && !try_bpf())
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "record --syscalls: by BPF");
	else if (!try_ptrace())
		wti_probed_say(ret, WTI_PROBE_OK, NULL,
			       "record --syscalls: by ptrace, which costs more than BPF");
	else
		wti_probed_say(ret, WTI_PROBE_MISSING,
			       "permit ptrace or BPF, as below; everything else is recorded "
			       "without them",
			       "record --syscalls is refused: neither BPF nor ptrace is permitted");
}
