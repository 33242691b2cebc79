# SPDX-License-Identifier: Apache-2.0
"""Lets the interpreter that runs this file import wheeltap when nobody records; `wheeltap python link PYTHON` does that.

usage: PYTHON -I _link.py HOME

Writes one file, wheeltap.pth, into its site-packages (the environment's, or the user's where that may not be written). It
names the folder that has the package. Deleting the file undoes it. Says where.
"""

import os
import site
import sys
import sysconfig


def is_in_environment() -> bool:
    return sys.prefix != sys.base_prefix


def candidates() -> "list[str]":
    """Folders whose .pth files this interpreter reads, as it prefers them."""
    purelib = sysconfig.get_paths()["purelib"]
    found = [purelib, *site.getsitepackages()]
    # Debian: what is installed by hand belongs into /usr/local.
    local = [folder for folder in found if folder.startswith("/usr/local/")]
    user = [] if is_in_environment() or not site.ENABLE_USER_SITE and not sys.flags.isolated else [site.getusersitepackages()]
    return list(dict.fromkeys(local + [purelib] + user))


def write(folder: str, home: str) -> str:
    """The path of the file; empty if it could not be written."""
    path = os.path.join(folder, "wheeltap.pth")
    try:
        os.makedirs(folder, exist_ok=True)
        new = f"{path}.{os.getpid()}"
        with open(new, "x", encoding="utf-8") as file:
            file.write(home + "\n")
        os.replace(new, path)
    except OSError:
        return ""
    return path


def main() -> int:
    home = os.path.abspath(sys.argv[1])
    for folder in candidates():
        path = write(folder, home)
        if path:
            print(f"linked {sys.executable}: {path}")
            return 0
    print(f"wheeltap: cannot link '{sys.executable}': none of {', '.join(candidates())} can be written", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
