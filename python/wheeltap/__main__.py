# SPDX-License-Identifier: Apache-2.0
"""`python -m wheeltap` and the command that pip installs: become the program itself.

Its name stays the one of the command, so that it finds the interpreter beside it (`wheeltap try`).
"""

from __future__ import annotations

import os
import sys

from ._program import program


def main() -> int:
    path = program()
    if path is None:
        print("wheeltap: the program is missing from this package; install it again: pip install --force-reinstall wheeltap",
              file=sys.stderr)
        return 4
    name = sys.argv[0] if os.path.basename(sys.argv[0]) == "wheeltap" else os.path.join(os.path.dirname(sys.executable), "wheeltap")
    os.execv(path, [name, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
