/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a thread with a stack of a known size. The default is the limit of the main stack, which
 * may be a gigabyte or more than there is.
 */
#ifndef WTI_BASE_THREAD_H
#define WTI_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* 0, or the errno of pthread_create(). */
static inline int wti_thread_start(pthread_t *ret_thread, size_t stack_bytes, void *(*body)(void *),
				   void *self)
{
	pthread_attr_t attributes;
	int r = pthread_attr_init(&attributes);

	if (r)
		return r;
	r = pthread_attr_setstacksize(&attributes, stack_bytes);
	if (!r)
		r = pthread_create(ret_thread, &attributes, body, self);
	pthread_attr_destroy(&attributes);
	return r;
}

#endif
