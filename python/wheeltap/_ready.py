# SPDX-License-Identifier: Apache-2.0
"""Whether there is an agent for the interpreter that runs this file; `wheeltap record` asks before the program starts.

usage: PYTHON -E -S _ready.py HOME
       PYTHON _ready.py HOME --shim

Prints one line: "ready", "missing VERSION" if it can be built, or "refused REASON" if there can be none. The second form
also looks for the shim of the interpreter's torch: "shimless VERSION". Understood by Python 2 as well, and imports next to
nothing, as every recording of a Python program waits for it.
"""

import sys


def shim_missing(folders):
    # type: (list) -> str
    """The version of torch, if it is installed and its shim is not there; torch itself is not imported for that."""
    import os
    import re
    from importlib.util import find_spec

    import _shim

    spec = find_spec("torch")
    if spec is None or not spec.origin:
        return ""
    with open(os.path.join(os.path.dirname(spec.origin), "version.py")) as file:
        told = dict(re.findall(r"^(__version__|git_version)\b[^=\n]*= *'([^'\n]+)'", file.read(1 << 16), re.MULTILINE))
    name = _shim.file_name_of(told.get("__version__", ""), str(told.get("git_version")))
    is_there = any(os.path.exists(os.path.join(folder, name)) for folder in folders)
    return "" if is_there else told.get("__version__", "")


def answer(home, with_shim):
    # type: (str, bool) -> str
    import os

    kind = getattr(getattr(sys, "implementation", None), "name", "cpython").replace("cpython", "CPython")
    version = "%d.%d.%d" % sys.version_info[:3]
    if kind != "CPython" or not (3, 9) <= sys.version_info[:2] <= (3, 14):
        return "refused %s %s is not supported: CPython 3.9 to 3.14 are" % (kind, version)
    if "t" in getattr(sys, "abiflags", ""):
        return ("refused free-threaded CPython %s is not supported, as the agent relies on the global interpreter lock; use the "
                "standard build of %d.%d" % (version, sys.version_info[0], sys.version_info[1]))
    if hasattr(sys, "getobjects"):
        return "refused interpreters that were built with Py_TRACE_REFS are not supported"
    from importlib.machinery import EXTENSION_SUFFIXES

    import _places

    package = os.path.join(home, "wheeltap")
    folders = [*_places.own_folders(package), package]
    names = [os.path.join(folder, "_wheeltap" + EXTENSION_SUFFIXES[0]) for folder in folders]
    if not any(map(os.path.exists, names)):
        return "missing %s %s" % (kind, version)
    torch = shim_missing(folders) if with_shim else ""
    return "shimless torch %s" % torch if torch else "ready"


if __name__ == "__main__":
    sys.stdout.write(answer(sys.argv[1], "--shim" in sys.argv[2:]) + "\n")
