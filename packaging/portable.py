# SPDX-License-Identifier: Apache-2.0
"""The relocatable tree that wheel and tarball are made of.

Libraries are linked in; what is left is glibc. The plain build needs the glibc of this machine's linker. For an older one, zig
(from PyPI, or $ZIG) links against stubs of that version: the compiler stays Debian's, so that both builds have the same code.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "/wheeltap"

# Whatever compiles or asks goes to the compiler; what is left is a link. libgcc has what the compiler took for
# granted, libgcc_s the unwinder: that of this machine needs this machine's glibc, any other has what its own needs.
WRAPPER = """#!/bin/sh
for word; do
	case $word in
	-c | -E | -S | -x | --version | -v | -V | -print-* | --print-* | -dump* | -Wl,--version) exec {compiler} "$@" ;;
	esac
done
exec {zig} cc -target {machine}-linux-gnu.{glibc} "$@" "$(cc -print-libgcc-file-name)" -Wl,--as-needed -Wl,--allow-shlib-undefined "$(cc -print-file-name=libgcc_s.so.1)"
"""


def run(*command: "str | Path", **more: object) -> None:
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, **more)  # type: ignore[call-overload]


def find_zig(build: Path) -> Path:
    """$ZIG, or the one of PyPI, which is fetched once."""
    if os.environ.get("ZIG"):
        return Path(os.environ["ZIG"]).resolve()
    home = build.parent / f"{build.name}-zig"
    found = list(home.glob("lib/python*/site-packages/ziglang/zig"))
    if not found:
        venv.create(home, with_pip=True, clear=True)
        done = subprocess.run([home / "bin" / "pip", "install", "-q", "ziglang"], stdin=subprocess.DEVNULL)
        found = list(home.glob("lib/python*/site-packages/ziglang/zig"))
        if done.returncode or not found:
            sys.exit("packaging: an older glibc needs zig, and PyPI cannot be reached: set ZIG=/path/to/zig, or leave GLIBC out")
    return found[0].resolve()


def compiler(build: Path, glibc: str) -> "list[str]":
    """The words that compile and link; a script of our own where zig links."""
    plain = ["ccache", "cc"] if shutil.which("ccache") else ["cc"]
    if not glibc:
        return plain
    wrapper = build.parent / f"{build.name}-cc"
    wrapper.write_text(WRAPPER.format(compiler=" ".join(plain), zig=find_zig(build), machine=platform.machine(), glibc=glibc))
    wrapper.chmod(0o755)
    return [str(wrapper)]


def set_up(build: Path, glibc: str) -> "list[str]":
    """Configures the build folder; the words of the compiler."""
    words = compiler(build, glibc)
    if not (build / "build.ninja").exists():
        run("meson", "setup", build, ROOT, f"--prefix={PREFIX}", "-Dportable=true", "-Dpkgconfig.relocatable=true",
            env={**os.environ, "CC": " ".join(words)}, stdout=subprocess.DEVNULL)
    return words


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def strip(tree: Path) -> None:
    """Without debug information, which is most of the size; archives keep the symbols that linking needs."""
    for path in sorted(tree.rglob("*")):
        if is_elf(path):
            run("strip", "--strip-unneeded", path)
        elif path.suffix == ".a":
            run("strip", "--strip-debug", path)


def stage(build: Path, glibc: str, tree: Path) -> "list[str]":
    """Builds and installs into `tree`, which then is what is below the prefix. The words of the compiler."""
    words = set_up(build, glibc)
    run("ninja", "-C", build, "--quiet", "product")
    shutil.rmtree(tree, ignore_errors=True)
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", tree.resolve())
    for entry in (tree / PREFIX.lstrip("/")).iterdir():
        entry.rename(tree / entry.name)
    (tree / PREFIX.lstrip("/")).rmdir()
    return words
