/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks of the layer. They stand together because a child of fork() finds those locked that
 * another thread of its parent held, and that thread is not there to open them.
 */
#include "own.h"

#include <time.h>

static pthread_mutex_t locks[WTI_CL_LOCKS] = {[0 ... WTI_CL_LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

void wti_cl_lock(unsigned which)
{
	pthread_mutex_lock(&locks[which]);
}

void wti_cl_unlock(unsigned which)
{
	pthread_mutex_unlock(&locks[which]);
}

bool wti_cl_mutex_soon(pthread_mutex_t *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	return pthread_mutex_timedlock(mutex, &until) == 0;
}

bool wti_cl_lock_soon(unsigned which)
{
	return wti_cl_mutex_soon(&locks[which]);
}

void wti_cl_locks_reset(void)
{
	for (unsigned i = 0; i < WTI_CL_LOCKS; i++)
		locks[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
