/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that look like secrets, masked before they reach a file.
 *
 * Knows how keys, passwords and tokens are written down; knows nothing of where the text comes
 * from. Needs nothing else of wheeltap, so that agents compile it in as well. It errs on the side
 * of masking: a masked innocent word costs a reader little, a kept secret costs a lot.
 */
#ifndef WTI_BASE_SECRET_H
#define WTI_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Masks in place what looks secret in a line or several, and returns the new length, which is never
 * larger. A masked value becomes at most eight asterisks; the key before it stays readable. Takes
 * any bytes; looks at a line as a whole, so do not cut one in the middle before.
 */
size_t wti_secret_mask(char *text, size_t bytes);

/*
 * True if what stands under this name is secret whatever it looks like: "--password", "API_KEY",
 * "hf_token". For command lines, where the value is the next argument, and for environments.
 */
bool wti_secret_is_key(const char *name, size_t bytes);

/* Masks a whole value, as wti_secret_mask() would. Returns its new length. */
size_t wti_secret_mask_all(char *text, size_t bytes);

#endif
