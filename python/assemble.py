# SPDX-License-Identifier: Apache-2.0
"""Puts all that the extension is made of into one folder, as `wheeltap python add` expects it.

usage: assemble.py STAMP FOLDER PATH=FILE... (PATH=DIR/*.h: all of them)    or, after installing:    assemble.py --install FOLDER TARGET
"""

import glob
import hashlib
import os
import shutil
import sys


def write_identity(folder: str) -> None:
    """Of all that is in the folder: an agent is used only beside the sources that it was built from (wheeltap/_places.py)."""
    found = hashlib.sha256()
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            found.update(os.path.relpath(os.path.join(path, name), folder).encode() + b"\0")
            with open(os.path.join(path, name), "rb") as file:
                found.update(file.read())
    with open(os.path.join(folder, "identity"), "w", encoding="ascii") as out:
        out.write(found.hexdigest()[:16] + "\n")


def assemble(stamp: str, folder: str, parts: "list[str]") -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for part in parts:
        path, _, pattern = part.partition("=")
        os.makedirs(os.path.join(folder, path), exist_ok=True)
        for file in sorted(glob.glob(pattern)) if "*" in pattern else [pattern]:
            shutil.copyfile(file, os.path.join(folder, path, os.path.basename(file)))
    write_identity(folder)
    with open(stamp, "w", encoding="utf-8"):
        pass


def install(folder: str, target: str) -> None:
    target = os.environ.get("DESTDIR", "") + target
    shutil.copytree(folder, target, dirs_exist_ok=True)


if __name__ == "__main__":
    if sys.argv[1] == "--install":
        install(*sys.argv[2:4])
    else:
        assemble(sys.argv[1], sys.argv[2], sys.argv[3:])
