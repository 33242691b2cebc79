/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of what is in a file: an agent emits the contents of a call that saves or loads beside the
 * arguments of the call itself.
 */
#ifndef WTI_INSPECT_SAVED_H
#define WTI_INSPECT_SAVED_H

/*
 * What the file calls a tensor of such a call; NULL: it is an argument, such as "obj" or
 * "obj[weight]", and the file has it under its own name.
 */
const char *wti_saved_name(const char *name);

#endif
