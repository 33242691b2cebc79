#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tarball: the tree of `make install`, with its libraries linked in, to be unpacked anywhere.

usage: packaging/tarball.py [--arch aarch64] [--glibc 2.28] [--output dist] BUILD
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import interpreters  # noqa: E402
import licences  # noqa: E402
from portable import add_options, stage, strip, target_of  # noqa: E402
from wheel import add_documents, glibc_of, library_folder, version  # noqa: E402


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same tree gives the same contents, whoever packs it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = 1577836800
    return entry


def archive(tree: Path, folder: Path, name: str) -> Path:
    """`tree` under the name that it is unpacked as."""
    path = folder / f"{name}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as packed:
        packed.add(tree, name, filter=plain)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description="make the tarball")
    add_options(parser)
    options = parser.parse_args()
    target = target_of(options)
    tree = target.build / "tarball"
    words = stage(target, tree)
    package = library_folder(tree) / "wheeltap" / "python" / "wheeltap"
    interpreters.build_agents(target, package, words)
    strip(target, tree)
    add_documents(tree)
    licences.collect(target, version(), tree / "share" / "doc" / "wheeltap" / "licences")
    major, minor = glibc_of(tree)
    path = archive(tree, Path(options.output), f"wheeltap-{version()}-linux-{target.machine}-glibc{major}.{minor}")
    shutil.rmtree(tree)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
