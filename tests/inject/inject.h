/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes memory and the disk fail on purpose. A program linked with inject.c and the options in
 * meson.build has its own calls (not those inside shared libraries) routed through here; works with
 * and without AddressSanitizer. Not for programs with threads.
 */
#ifndef WTI_TESTS_INJECT_H
#define WTI_TESTS_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The n-th allocation from now, from 1, fails; `and_after`: all after it as well. */
void inject_alloc(uint64_t nth, bool and_after);
/* The n-th write, fsync, rename, mkostemp or close from now fails with this errno; with
 * `and_after` all after it as well. A close closes nevertheless. */
void inject_system(uint64_t nth, int error, bool and_after);
/* Every write takes only a part of what it is given, and every third is interrupted. */
void inject_short_writes(void);
/* Ends all of it. True if something was made to fail since it was asked for. */
bool inject_stop(void);
/* Blocks that were allocated and not freed. */
size_t inject_live(void);

#endif
