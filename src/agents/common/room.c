/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program's limits leave for us. Of memory that is limited an agent takes a 64th at most,
 * and where that is too little, nothing; of few descriptors none; and no file larger than allowed,
 * because the kernel answers that with a signal that kills. Whoever stays out says so on the
 * control page.
 */
#include "agent.h"

#include <errno.h>
#include <sys/resource.h>

enum {
	HALF_SHARE = 128,          /* for names; as much again for all that is shared */
	NAMES_MIN_BYTES = 1 << 20, /* less is not worth it */
	FIXED_BYTES = 512 << 10,   /* tables, slots, the process itself */
};

static uint64_t limit_of(int what)
{
	struct rlimit limit;

	return getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
									       : limit.rlim_cur;
}

static uint64_t half_share(void)
{
	uint64_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);
	uint64_t less = space < data ? space : data;

	return less == UINT64_MAX ? less : less / HALF_SHARE;
}

static bool stay_out(uint32_t why)
{
	if (wti_agent.control) /* otherwise it is the page itself that there is no room for */
		atomic_fetch_or(&wti_agent.control->stayed_out, why);
	return false;
}

bool wti_room_join(void)
{
	if (limit_of(RLIMIT_NOFILE) < WTI_FILES_MIN)
		return stay_out(WTI_STAYED_OUT_FILES);
	if (half_share() < NAMES_MIN_BYTES)
		return stay_out(WTI_STAYED_OUT_MEMORY);
	return true;
}

size_t wti_room_names(size_t wanted)
{
	uint64_t share = half_share();

	return wanted < share ? wanted : (size_t)share;
}

bool wti_room_file(uint64_t bytes)
{
	if (bytes <= limit_of(RLIMIT_FSIZE))
		return true;
	errno = EFBIG;
	return stay_out(WTI_STAYED_OUT_FILE_SIZE);
}

bool wti_room_take(struct wti_agent_process *process, uint64_t bytes)
{
	uint64_t share = half_share();

	if (atomic_fetch_add(&process->mapped_bytes, bytes) + bytes + FIXED_BYTES <= share)
		return true;
	atomic_fetch_sub(&process->mapped_bytes, bytes);
	return stay_out(WTI_STAYED_OUT_MEMORY);
}

void wti_room_give(struct wti_agent_process *process, uint64_t bytes)
{
	atomic_fetch_sub(&process->mapped_bytes, bytes);
}
