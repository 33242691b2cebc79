/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions of a renacer.toml, for wti_gate_read(). */
#ifndef WTI_CONVERT_RENACER_GATE_H
#define WTI_CONVERT_RENACER_GATE_H

#include "inspect/gate/gate.h"

extern const struct wti_gate_dialect wti_renacer_gate;

#endif
