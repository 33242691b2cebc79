/* SPDX-License-Identifier: Apache-2.0 */
/* Where the members of structures stand that differ between architectures. */
#ifndef WTI_SYSCALL_LAYOUT_H
#define WTI_SYSCALL_LAYOUT_H

#include "table.h"

#define WTI_STAT_BYTES_MAX 144
#define WTI_EPOLL_BYTES_MAX 16

struct wti_layout {
	uint16_t stat_bytes;
	uint8_t stat_mode; /* 32 bits */
	uint8_t stat_rdev; /* 64 bits */
	uint8_t stat_size; /* 64 bits */
	uint8_t epoll_bytes;
	uint8_t epoll_data;
	bool clone_tls_first; /* of clone's arguments: tls before child_tidptr */
};

/* Never NULL: architectures without a table are laid out as aarch64, the kernel's generic one. */
const struct wti_layout *wti_layout(enum wti_arch arch);

#endif
