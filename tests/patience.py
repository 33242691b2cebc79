# SPDX-License-Identifier: Apache-2.0
"""How long a test waits before it calls something hung.

No test measures how fast the machine is, so this is the only limit of time in them, and it is far beyond what anything needs: a busy
machine is ten times slower. WHEELTAP_TEST_PATIENCE multiplies it where even that is too short; tools/test multiplies the limits of
whole programs, in meson.build, by the same.
"""

from __future__ import annotations

import os

PATIENCE_S = 300.0
PATIENCE = PATIENCE_S * float(os.environ.get("WHEELTAP_TEST_PATIENCE") or 1)
