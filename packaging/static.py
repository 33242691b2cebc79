#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tarball of the static program, for systems whose libc is another one, such as Alpine with musl.

usage: packaging/static.py [--output dist] BUILD

The program brings Debian's glibc along and loads nothing. Beside it is the client library for C programs, as an archive that musl-gcc
compiled: it becomes part of programs that use musl. There are no agents for Python, OpenCL, CUDA or ROCm.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import elf  # noqa: E402
import licences  # noqa: E402
from portable import ROOT, Target, run, stage, strip  # noqa: E402
from tarball import archive  # noqa: E402
from wheel import add_documents, version  # noqa: E402

CLIENT = "libwheeltap-client.a"
# musl has neither the kernel's headers nor xxHash's, which is headers alone for the client.
HEADERS = [f"-idirafter/usr/include{folder}" for folder in ("", f"/{platform.machine()}-linux-gnu")]


def replace_client(target: Target, tree: Path) -> None:
    """The archive of the same sources for musl, in the place of that for glibc."""
    build = target.build.parent / f"{target.build.name}-musl"
    if not (build / "build.ninja").exists():
        run("meson", "setup", build, ROOT, "-Dstatic=true", "-Dbpf=disabled", f"-Dc_args={' '.join(HEADERS)}", env={**os.environ, "CC": "musl-gcc"},
            stdout=subprocess.DEVNULL)
    archive_path = f"src/agents/client/{CLIENT}"
    run("ninja", "-C", build, "--quiet", archive_path)
    shutil.copyfile(build / archive_path, tree / "lib" / CLIENT)


def main() -> int:
    parser = argparse.ArgumentParser(description="make the tarball of the static program")
    parser.add_argument("--output", default="dist")
    parser.add_argument("build")
    options = parser.parse_args()
    target = Target(platform.machine(), "", Path(options.build).resolve(), is_static=True)
    tree = target.build / "tarball"
    stage(target, tree)
    replace_client(target, tree)
    strip(target, tree)
    needs = [path.name for path in elf.binaries(tree) if elf.interpreter(path)]
    if needs:
        sys.exit(f"packaging: not static: {' '.join(needs)}")
    add_documents(tree)
    licences.collect(target, version(), tree / "share" / "doc" / "wheeltap" / "licences")
    path = archive(tree, Path(options.output), f"wheeltap-{version()}-linux-{target.machine}-static")
    shutil.rmtree(tree)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
