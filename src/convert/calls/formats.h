/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that other tracers wrote down. */
#ifndef WTI_CONVERT_CALLS_FORMATS_H
#define WTI_CONVERT_CALLS_FORMATS_H

#include "convert/import.h"

/* Text of strace, with -t, -tt, -ttt or -r, and -f, -T. */
extern const struct wti_import_format wti_import_strace;
/* renacer-json-v1. */
extern const struct wti_import_format wti_import_renacer;

#endif
