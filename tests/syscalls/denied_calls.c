/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes every system call there is, one after the other, and lets none of them happen: a filter
 * answers each that has a mark in its last argument. So all of them can be shown, whatever they do.
 *
 * usage: denied_calls ERROR small|ones|zeros
 *
 * ERROR is what each fails with; 0 lets them seem to succeed. The arguments are 17 to 22, all ones,
 * or 0, but for the mark.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK 0xabcdeul
#define NUMBERS_MAX 470

/* These the kernel uses itself, and kills whoever else does. */
static int reserved(long nr)
{
	return nr >= 335 && nr < 424;
}

static int deny(unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	unsigned long fill = argc > 2 && !strcmp(argv[2], "ones") ? ~0ul : 0;
	unsigned long step = argc > 2 && !strcmp(argv[2], "small");

	if (argc < 3 || deny((unsigned)atoi(argv[1])))
		return 77;
	for (long nr = 0; nr < NUMBERS_MAX; nr++) {
		if (!reserved(nr))
			syscall(nr, fill | 17 * step, fill | 18 * step, fill | 19 * step,
				fill | 20 * step, fill | 21 * step,
				fill << 32 | 22 * step << 32 | MARK);
	}
	return 0;
}
