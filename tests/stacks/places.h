/* SPDX-License-Identifier: Apache-2.0 */
/* What the program and its library share. */
#ifndef WTI_TESTS_PLACES_H
#define WTI_TESTS_PLACES_H

/* A call that is the last thing would be a jump, and its frame gone. */
#define barrier() __asm__ volatile("" ::: "memory")

void in_library(void);

#endif
