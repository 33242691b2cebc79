# SPDX-License-Identifier: Apache-2.0
"""Where the program is that belongs to this package: within it, as pip installs it; above it, in a build or below a prefix."""

from __future__ import annotations

import os

PARENTS = 7  # from PREFIX/lib/x86_64-linux-gnu/wheeltap/python/wheeltap up to PREFIX


def program() -> str | None:
    """None: this package was copied without it."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(PARENTS):
        for path in (os.path.join(folder, "bin", "wheeltap"), os.path.join(folder, "wheeltap")):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
        folder = os.path.dirname(folder)
    return None
