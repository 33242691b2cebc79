# SPDX-License-Identifier: Apache-2.0
"""The relocatable tree that wheel and tarball are made of.

Libraries are linked in; what is left is glibc. The plain build needs the glibc of this machine's linker. For an older one, zig
(from PyPI, or $ZIG) links against stubs of that version: the compiler stays Debian's, so that both builds have the same code.
For another architecture it is Debian's cross compiler, with Debian's libraries for it (packaging/sysroot).
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
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
exec {zig} cc -target {machine}-linux-gnu.{glibc} "$@" "$({plain} -print-libgcc-file-name)" -Wl,--as-needed -Wl,--allow-shlib-undefined "$({plain} -print-file-name=libgcc_s.so.1)"
"""
CONSTANTS = """[constants]
root = '{root}'
"""
COMPILER = """[binaries]
c = {words}
"""


@dataclass(frozen=True)
class Target:
    """What is built for; `machine` as uname prints it, `glibc` empty for that of the linker."""

    machine: str
    glibc: str
    build: Path
    is_static: bool = False

    @property
    def is_foreign(self) -> bool:
        return self.machine != platform.machine()

    @property
    def root(self) -> Path:
        """Where the libraries are: this system, or what packaging/sysroot makes."""
        return self.build.parent / f"{self.build.name}-root" if self.is_foreign else Path("/")

    def tool(self, name: str) -> str:
        """A program of binutils, or the compiler."""
        if not self.is_foreign:
            return name
        return f"{self.machine}-linux-gnu-{'gcc' if name == 'cc' else name}"

    def plain(self) -> "list[str]":
        """The compiler without its cache."""
        return [self.tool("cc"), *([f"--sysroot={self.root}"] if self.is_foreign else [])]


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


def compiler(target: Target) -> "list[str]":
    """The words that compile and link; a script of our own where zig links."""
    cached = [*(["ccache"] if shutil.which("ccache") else []), *target.plain()]
    if not target.glibc:
        return cached
    wrapper = target.build.parent / f"{target.build.name}-cc"
    wrapper.write_text(WRAPPER.format(compiler=shlex.join(cached), plain=shlex.join(target.plain()), zig=find_zig(target.build),
                                      machine=target.machine, glibc=target.glibc))
    wrapper.chmod(0o755)
    return [str(wrapper)]


def prepare_root(target: Target) -> None:
    """Debian's libraries for another architecture, fetched once; ends where they cannot be."""
    if target.machine != "aarch64":
        sys.exit(f"packaging: wheeltap is not built for '{target.machine}' on {platform.machine()}; use ARCH=aarch64, or leave ARCH out")
    if subprocess.run([ROOT / "packaging" / "sysroot", target.root], stdin=subprocess.DEVNULL).returncode:
        sys.exit("packaging: without them there is no build for aarch64")


def cross_files(target: Target, words: "list[str]") -> "list[str]":
    """What Meson has to know of another architecture."""
    constants, binaries = (target.build.parent / f"{target.build.name}-{name}.ini" for name in ("root", "compiler"))
    constants.write_text(CONSTANTS.format(root=target.root))
    binaries.write_text(COMPILER.format(words=words))
    paths = (constants, ROOT / "packaging" / "aarch64.ini", binaries)
    return [*(f"--cross-file={path}" for path in paths), "-Dbpf=disabled"]


def set_up(target: Target) -> "list[str]":
    """Configures the build folder; the words of the compiler."""
    if target.is_foreign:
        prepare_root(target)
    words = compiler(target)
    if not (target.build / "build.ninja").exists():
        options = [f"--prefix={PREFIX}", "-Dportable=true", "-Dpkgconfig.relocatable=true"]
        options += ["-Dstatic=true", "--libdir=lib"] if target.is_static else []
        options += cross_files(target, words) if target.is_foreign else []
        env = os.environ if target.is_foreign else {**os.environ, "CC": " ".join(words)}
        run("meson", "setup", target.build, ROOT, *options, env=env, stdout=subprocess.DEVNULL)
    return words


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def strip(target: Target, tree: Path) -> None:
    """Without debug information, which is most of the size; archives keep the symbols that linking needs."""
    for path in sorted(tree.rglob("*")):
        if is_elf(path):
            run(target.tool("strip"), "--strip-unneeded", path)
        elif path.suffix == ".a":
            run(target.tool("strip"), "--strip-debug", path)


def stage(target: Target, tree: Path) -> "list[str]":
    """Builds and installs into `tree`, which then is what is below the prefix. The words of the compiler."""
    words = set_up(target)
    run("ninja", "-C", target.build, "--quiet", "product")
    shutil.rmtree(tree, ignore_errors=True)
    run("meson", "install", "-C", target.build, "--no-rebuild", "--quiet", "--destdir", tree.resolve())
    for entry in (tree / PREFIX.lstrip("/")).iterdir():
        entry.rename(tree / entry.name)
    (tree / PREFIX.lstrip("/")).rmdir()
    return words


def add_options(parser: argparse.ArgumentParser) -> None:
    """What wheel and tarball have in common."""
    parser.add_argument("--arch", default=platform.machine(), help="aarch64: with Debian's cross compiler; default: that of this machine")
    parser.add_argument("--glibc", default="", help="link against this version of glibc, with zig; default: that of this machine")
    parser.add_argument("--output", default="dist")
    parser.add_argument("build")


def target_of(options: argparse.Namespace) -> Target:
    return Target(options.arch, options.glibc, Path(options.build).resolve())
