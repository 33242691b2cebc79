/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is called after its command line, and how a name becomes part of a file's name. */
#ifndef WTI_COLLECT_NAME_H
#define WTI_COLLECT_NAME_H

#include <stddef.h>

#define WTI_NAME_BYTES 128

/* As much of it as there is room for, in whole characters. */
void wti_name_copy(const char *name, char ret_name[WTI_NAME_BYTES]);
/* The script or module that an interpreter or a launcher of ranks is to run; else the program. */
void wti_name_of(char *const *argv, char ret_name[WTI_NAME_BYTES]);
/* Letters of all scripts stay; what separates words or paths, controls and a leading dot do not. */
void wti_name_plain(const char *name, char ret_plain[WTI_NAME_BYTES]);

#endif
