/* SPDX-License-Identifier: Apache-2.0 */
/* The figures are those of <asm/stat.h> and <linux/eventpoll.h> of each architecture. */
#include "layout.h"

static const struct wti_layout x86_64 = {
	.stat_bytes = 144,
	.stat_mode = 24,
	.stat_rdev = 40,
	.stat_size = 48,
	.epoll_bytes = 12, /* packed */
	.epoll_data = 4,
};

static const struct wti_layout aarch64 = {
	.stat_bytes = 128,
	.stat_mode = 16,
	.stat_rdev = 32,
	.stat_size = 48,
	.epoll_bytes = 16,
	.epoll_data = 8,
	.clone_tls_first = true,
};

const struct wti_layout *wti_layout(enum wti_arch arch)
{
	return arch == WTI_ARCH_X86_64 ? &x86_64 : &aarch64;
}
