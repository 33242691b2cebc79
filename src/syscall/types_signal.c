/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: sets, handlers, what came with one. */
#include "show.h"

#include <signal.h>

#define SIGNAL_COUNT 64u
#define KERNEL_SIGSET_BYTES 8u

/* [INT TERM]; with most of them in it, those that are not: ~[KILL]. */
void wti_say_sigset(struct wti_show *show, uint64_t set)
{
	char label[WTI_SIGNAL_LABEL_BYTES];
	const char *between = "";

	if ((unsigned)__builtin_popcountll(set) >= SIGNAL_COUNT * 2 / 3) {
		WTI_SHOW(show, "~");
		set = ~set;
	}
	WTI_SHOW(show, "[");
	for (unsigned signal = 1; signal <= SIGNAL_COUNT; signal++) {
		if (!(set >> (signal - 1) & 1))
			continue;
		/* Every name begins with SIG. */
		WTI_SHOW(show, "%s%s", between, wti_signal_label(label, signal) + 3);
		between = " ";
	}
	WTI_SHOW(show, "]");
}

static bool show_set(struct wti_show *show, unsigned i, uint8_t when)
{
	uint64_t bytes = wti_arg64(show, show->what->args[i].other);
	const uint8_t *at;

	/* The kernel takes no other size. */
	if (bytes != KERNEL_SIGSET_BYTES) {
		if (when == WTI_AT_ENTRY || wti_filled(show, i))
			wti_say_address(show, wti_arg64(show, i));
		return true;
	}
	at = wti_pointed(show, i, KERNEL_SIGSET_BYTES, when);
	if (at)
		wti_say_sigset(show, wti_get64(at));
	return true;
}

bool wti_type_sigset(struct wti_show *show, unsigned i)
{
	return show_set(show, i, WTI_AT_ENTRY);
}

bool wti_type_sigset_out(struct wti_show *show, unsigned i)
{
	return show_set(show, i, WTI_AT_EXIT);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void show_handler(struct wti_show *show, uint64_t handler)
{
	if (handler == (uintptr_t)SIG_DFL)
		WTI_SHOW(show, "SIG_DFL");
	else if (handler == (uintptr_t)SIG_IGN)
		WTI_SHOW(show, "SIG_IGN");
	else if (handler == (uintptr_t)SIG_ERR)
		WTI_SHOW(show, "SIG_ERR");
	else
		wti_say_address(show, handler);
}

/* The kernel's structure: handler, flags, restorer, mask. */
static bool show_action(struct wti_show *show, unsigned i, uint8_t when)
{
	const uint8_t *at = wti_pointed(show, i, 32, when);
	uint64_t flags;

	if (!at)
		return true;
	flags = wti_get64(at + 8);
	WTI_SHOW(show, "{sa_handler=");
	show_handler(show, wti_get64(at));
	WTI_SHOW(show, ", sa_mask=");
	wti_say_sigset(show, wti_get64(at + 24));
	WTI_SHOW(show, ", sa_flags=");
	wti_say_flags(show, &wti_flags_sigaction, flags);
	if (flags & 0x04000000) { /* SA_RESTORER, which the C library keeps to itself */
		WTI_SHOW(show, ", sa_restorer=");
		wti_say_address(show, wti_get64(at + 16));
	}
	WTI_SHOW(show, "}");
	return true;
}

bool wti_type_sigaction(struct wti_show *show, unsigned i)
{
	return show_action(show, i, WTI_AT_ENTRY);
}

bool wti_type_sigaction_out(struct wti_show *show, unsigned i)
{
	return show_action(show, i, WTI_AT_EXIT);
}

static bool show_stack(struct wti_show *show, unsigned i, uint8_t when)
{
	const uint8_t *at = wti_pointed(show, i, 24, when);

	if (!at)
		return true;
	WTI_SHOW(show, "{ss_sp=");
	wti_say_address(show, wti_get64(at));
	WTI_SHOW(show, ", ss_flags=");
	wti_say_flags(show, &wti_flags_sigaltstack, wti_get32(at + 8));
	WTI_SHOW(show, ", ss_size=%llu}", (unsigned long long)wti_get64(at + 16));
	return true;
}

bool wti_type_sigaltstack(struct wti_show *show, unsigned i)
{
	return show_stack(show, i, WTI_AT_ENTRY);
}

bool wti_type_sigaltstack_out(struct wti_show *show, unsigned i)
{
	return show_stack(show, i, WTI_AT_EXIT);
}

/* The mask stands in the frame on the stack, which no argument points to. */
bool wti_type_sigreturn(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "{mask=...}");
	return true;
}

/* ---- What came with a signal ----------------------------------------------------------------- */

static const struct {
	int signal;
	const struct wti_flags *codes;
} own_codes[] = {
	{SIGCHLD, &wti_flags_siginfo_child}, {SIGSEGV, &wti_flags_siginfo_segv},
	{SIGBUS, &wti_flags_siginfo_bus},    {SIGFPE, &wti_flags_siginfo_fpe},
	{SIGILL, &wti_flags_siginfo_ill},    {SIGTRAP, &wti_flags_siginfo_trap},
	{SIGPOLL, &wti_flags_siginfo_poll},  {SIGSYS, &wti_flags_siginfo_sys},
};

static void show_code(struct wti_show *show, int32_t signal, int32_t code)
{
	const char *name = wti_flag_name(&wti_flags_siginfo_code, (uint64_t)(int64_t)code);

	for (size_t k = 0; code > 0 && !name && k < sizeof(own_codes) / sizeof(own_codes[0]); k++) {
		if (own_codes[k].signal == signal)
			name = wti_flag_name(own_codes[k].codes, (uint64_t)code);
	}
	if (name)
		WTI_SHOW(show, "%s", name);
	else
		WTI_SHOW(show, "%#x /* SI_??? */", code);
}

static void show_child(struct wti_show *show, const uint8_t *at, int32_t code)
{
	WTI_SHOW(show, ", si_pid=%d, si_uid=%u, si_status=", (int32_t)wti_get32(at + 16),
		 wti_get32(at + 20));
	if (code == CLD_EXITED)
		WTI_SHOW(show, "%d", (int32_t)wti_get32(at + 24));
	else
		wti_say_signal(show, wti_get32(at + 24));
	WTI_SHOW(show, ", si_utime=%lld, si_stime=%lld}", (long long)wti_get64(at + 32),
		 (long long)wti_get64(at + 40));
}

/* The call that a filter, or the program's own dispatcher, has answered with the signal. */
static void show_answered(struct wti_show *show, const uint8_t *at)
{
	static const struct {
		uint32_t audit;
		enum wti_arch arch;
	} archs[] = {{0xc000003e, WTI_ARCH_X86_64},
		     {0x40000003, WTI_ARCH_I386},
		     {0xc00000b7, WTI_ARCH_AARCH64}};
	uint32_t nr = wti_get32(at + 24), audit = wti_get32(at + 28);
	const char *name = NULL;

	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		if (archs[i].audit == audit)
			name = wti_call_name(archs[i].arch, nr);
	WTI_SHOW(show, ", si_call_addr=");
	wti_say_address(show, wti_get64(at + 16));
	if (name)
		WTI_SHOW(show, ", si_syscall=__NR_%s", name);
	else
		WTI_SHOW(show, ", si_syscall=%#x /* __NR_??? */", nr);
	WTI_SHOW(show, ", si_arch=");
	wti_say_enum(show, &wti_flags_siginfo_arch, audit);
}

/* The first 48 bytes of the kernel's siginfo_t: all that is used of it. */
void wti_say_siginfo(struct wti_show *show, const uint8_t *at)
{
	int32_t signal = (int32_t)wti_get32(at), code = (int32_t)wti_get32(at + 8);
	int32_t number = (int32_t)wti_get32(at + 4);

	if (!signal) {
		WTI_SHOW(show, "{}");
		return;
	}
	WTI_SHOW(show, "{si_signo=");
	wti_say_signal(show, (uint32_t)signal);
	WTI_SHOW(show, ", si_code=");
	show_code(show, signal, code);
	if (number)
		WTI_SHOW(show, ", si_errno=%d", number);
	if (signal == SIGCHLD && code > 0) {
		show_child(show, at, code);
		return;
	}
	if (code == SI_USER || code == SI_TKILL || code == SI_QUEUE)
		WTI_SHOW(show, ", si_pid=%d, si_uid=%u", (int32_t)wti_get32(at + 16),
			 wti_get32(at + 20));
	if (code == SI_QUEUE && wti_get64(at + 24))
		WTI_SHOW(show, ", si_int=%d, si_ptr=%#llx", (int32_t)wti_get32(at + 24),
			 (unsigned long long)wti_get64(at + 24));
	if (code == SI_TIMER)
		WTI_SHOW(show, ", si_timerid=%#x, si_overrun=%d, si_int=%d, si_ptr=%#llx",
			 wti_get32(at + 16), (int32_t)wti_get32(at + 20),
			 (int32_t)wti_get32(at + 24), (unsigned long long)wti_get64(at + 24));
	if (code > 0 &&
	    (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL)) {
		WTI_SHOW(show, ", si_addr=");
		wti_say_address(show, wti_get64(at + 16));
	}
	if (code > 0 && signal == SIGSYS)
		show_answered(show, at);
	WTI_SHOW(show, "}");
}

bool wti_type_siginfo(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 128, WTI_AT_ENTRY);

	if (at)
		wti_say_siginfo(show, at);
	return true;
}

bool wti_type_siginfo_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 128, WTI_AT_EXIT);

	if (at)
		wti_say_siginfo(show, at);
	return true;
}

/* {sigev_value={sival_int=0, sival_ptr=NULL}, sigev_signo=SIGALRM, sigev_notify=SIGEV_SIGNAL} */
bool wti_type_sigevent(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 64, WTI_AT_ENTRY);
	uint32_t notify;

	if (!at)
		return true;
	notify = wti_get32(at + 12);
	WTI_SHOW(show, "{");
	if (wti_get64(at)) {
		WTI_SHOW(show, "sigev_value={sival_int=%d, sival_ptr=", (int32_t)wti_get32(at));
		wti_say_address(show, wti_get64(at));
		WTI_SHOW(show, "}, ");
	}
	WTI_SHOW(show, "sigev_signo=");
	if (notify == SIGEV_NONE)
		WTI_SHOW(show, "%u", wti_get32(at + 8));
	else
		wti_say_signal(show, wti_get32(at + 8));
	WTI_SHOW(show, ", sigev_notify=");
	wti_say_enum(show, &wti_flags_sigevent, notify);
	if (notify == SIGEV_THREAD_ID)
		WTI_SHOW(show, ", sigev_notify_thread_id=%d", (int32_t)wti_get32(at + 16));
	WTI_SHOW(show, "}");
	return true;
}
