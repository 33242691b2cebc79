# SPDX-License-Identifier: Apache-2.0
"""What the binaries of a tree, of any architecture, need of the system that they are used on, as readelf prints it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from portable import is_elf

# Parts of glibc, and the unwinder of GCC, which every distribution has.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d+|ld-linux.*\.so\.\d+|libgcc_s\.so\.1")
# A shim is used by the torch that it was built for, which has these loaded.
OF_TORCH = re.compile(r"libtorch.*|libc10\.so[.\d]*|libstdc\+\+\.so\.6")


def binaries(tree: Path) -> "list[Path]":
    return [path for path in sorted(tree.rglob("*")) if is_elf(path)]


def needed(path: Path) -> "list[str]":
    said = subprocess.run(["readelf", "--dynamic", "--wide", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]$", said, re.MULTILINE)


def interpreter(path: Path) -> bool:
    """Does it need the system's loader of programs, or any library?"""
    said = subprocess.run(["readelf", "--program-headers", "--wide", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return bool(re.search(r"^\s+(INTERP|DYNAMIC)\s", said, re.MULTILINE))


def foreign(path: Path) -> "list[str]":
    """Libraries that another machine may not have."""
    is_shim = path.name.startswith("shim-torch-")
    return [name for name in needed(path) if not SYSTEM.fullmatch(name) and not (is_shim and OF_TORCH.fullmatch(name))]


def glibc(path: Path) -> "tuple[int, int]":
    """The oldest that has all symbols; (2, 0) where none has a version."""
    said = subprocess.run(["readelf", "--dyn-syms", "--wide", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = [(int(major), int(minor)) for major, minor in re.findall(r" UND \S+@GLIBC_(\d+)\.(\d+)", said)]
    return max(found, default=(2, 0))
