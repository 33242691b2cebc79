/* SPDX-License-Identifier: Apache-2.0 */
/* System V semaphores and POSIX queues. */
#include "show.h"

#include <fcntl.h>

/* [{sem_num=0, sem_op=-1, sem_flg=SEM_UNDO}] */
bool wti_type_sembufs(struct wti_show *show, unsigned i)
{
	uint32_t count = wti_arg32(show, show->what->args[i].other);
	struct wti_array array;
	const uint8_t *at;

	wti_array_begin(show, wti_arg64(show, i), count, WTI_AT_ENTRY, 6, &array);
	while ((at = wti_array_next(show, &array))) {
		WTI_SHOW(show, "{sem_num=%u, sem_op=%d, sem_flg=", wti_get16(at),
			 (int16_t)wti_get16(at + 2));
		wti_say_flags(show, &wti_flags_sem_op, wti_get16(at + 4));
		WTI_SHOW(show, "}");
	}
	return true;
}

/* Only where a queue may be made; it stands behind flags and mode. */
bool wti_type_mq_attr(struct wti_show *show, unsigned i)
{
	const uint8_t *at;

	if (!(wti_arg32(show, i - 2) & O_CREAT))
		return false;
	at = wti_pointed(show, i, 64, WTI_AT_ENTRY);
	if (!at)
		return true;
	WTI_SHOW(show, "{mq_flags=");
	wti_say_flags(show, &wti_flags_open_mode, wti_get64(at));
	WTI_SHOW(show, ", mq_maxmsg=%lld, mq_msgsize=%lld, mq_curmsgs=%lld}",
		 (long long)wti_get64(at + 8), (long long)wti_get64(at + 16),
		 (long long)wti_get64(at + 24));
	return true;
}
