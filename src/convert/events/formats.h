/* SPDX-License-Identifier: Apache-2.0 */
/* Formats whose files are Chrome events. */
#ifndef WTI_CONVERT_EVENTS_FORMATS_H
#define WTI_CONVERT_EVENTS_FORMATS_H

#include "convert/import.h"

/* What PyTorch's profiler writes. */
extern const struct wti_import_format wti_import_kineto;
/* What anybody writes for chrome://tracing. */
extern const struct wti_import_format wti_import_chrome;

#endif
