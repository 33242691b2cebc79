# SPDX-License-Identifier: Apache-2.0
"""Whether there is an agent for the interpreter that runs this file; `wheeltap record` asks before the program starts.

usage: PYTHON -E -S _ready.py HOME

Prints one line: "ready", "missing VERSION" if it can be built, or "refused REASON" if there can be none. Understood by
Python 2 as well, and imports next to nothing, as every recording of a Python program waits for it.
"""

import sys


def answer(home):
    # type: (str) -> str
    import os

    kind = getattr(getattr(sys, "implementation", None), "name", "cpython").replace("cpython", "CPython")
    version = "%d.%d.%d" % sys.version_info[:3]
    if kind != "CPython" or not (3, 9) <= sys.version_info[:2] <= (3, 13):
        return "refused %s %s is not supported: CPython 3.9 to 3.13 are" % (kind, version)
    if hasattr(sys, "getobjects"):
        return "refused interpreters that were built with Py_TRACE_REFS are not supported"
    from importlib.machinery import EXTENSION_SUFFIXES

    import _places

    package = os.path.join(home, "wheeltap")
    names = [os.path.join(folder, "_wheeltap" + EXTENSION_SUFFIXES[0]) for folder in [*_places.own_folders(package), package]]
    return "ready" if any(map(os.path.exists, names)) else "missing %s %s" % (kind, version)


if __name__ == "__main__":
    sys.stdout.write(answer(sys.argv[1]) + "\n")
