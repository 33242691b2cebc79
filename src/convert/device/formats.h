/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of tools for devices that are no Chrome events. */
#ifndef WTI_CONVERT_DEVICE_FORMATS_H
#define WTI_CONVERT_DEVICE_FORMATS_H

#include "convert/import.h"

/* TraceSmith's SBT 0.1. */
extern const struct wti_import_format wti_import_sbt;
/* Perfetto's packets. */
extern const struct wti_import_format wti_import_perfetto;
/* Nsight Systems, as its tool exports it to SQLite. */
extern const struct wti_import_format wti_import_nsys;

#endif
