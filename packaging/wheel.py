#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel: the program, its agents for all supported interpreters, the Python package, packs, documents, licences.

usage: packaging/wheel.py [--arch aarch64] [--glibc 2.28] [--output dist] [--shim PYTHON]... BUILD

The program lies within the package (wheeltap/bin), with its libraries and data beside it, so that nothing in it depends on where pip
puts it. The name of the wheel says which glibc it needs, which is measured, not believed. --shim builds the library that
observes torch below Python for the torch of that interpreter.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import elf  # noqa: E402
import interpreters  # noqa: E402
import licences  # noqa: E402
from portable import ROOT, Target, add_options, run, stage, strip, target_of  # noqa: E402

SUMMARY = "A recorder and inspector for machine-learning training runs"
CLASSIFIERS = ("Environment :: Console", "Intended Audience :: Developers", "Intended Audience :: Science/Research",
               "Operating System :: POSIX :: Linux", "Programming Language :: C", "Programming Language :: Python :: 3",
               *(f"Programming Language :: Python :: {version}" for version in interpreters.VERSIONS),
               "Programming Language :: Python :: Implementation :: CPython",
               "Topic :: Scientific/Engineering :: Artificial Intelligence", "Topic :: Software Development :: Debuggers", "Typing :: Typed")


def version() -> str:
    found = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())
    assert found
    return found.group(1)


def library_folder(tree: Path) -> Path:
    """lib, or on Debian lib/x86_64-linux-gnu; the program knows."""
    return next(path.parents[2] for path in tree.glob("lib/**/wheeltap/python/wheeltap"))


def arrange(tree: Path, package: Path) -> None:
    """The prefix becomes the package: modules at its top, the rest as it is below any prefix."""
    home = library_folder(tree) / "wheeltap" / "python"
    (home / "wheeltap").rename(package)
    home.rmdir()
    for entry in tree.iterdir():
        entry.rename(package / entry.name)
    add_documents(package)


def add_documents(prefix: Path) -> None:
    documents = prefix / "share" / "doc" / "wheeltap"
    documents.mkdir(parents=True)
    for path in sorted((ROOT / "docs").glob("*.md")) + [ROOT / "README.md", ROOT / "NEWS.md"]:
        shutil.copyfile(path, documents / path.name)


def replace_links(folder: Path) -> None:
    """A wheel has no links: a library keeps the name that programs load, and what the linker looks for is a script."""
    for link in sorted(path for path in folder.iterdir() if path.is_symlink()):
        real = link.resolve()
        link.unlink()
        if link.name.endswith(".so"):
            link.write_text(f"INPUT({link.name}.1)\n")
        else:
            shutil.copy2(real, link)
    for path in folder.glob("*.so.1.*"):
        path.unlink()


def add_shims(package: Path, pythons: "list[str]") -> None:
    for python in pythons:
        said = subprocess.run([python, package / "_shim.py"], check=True, stdout=subprocess.PIPE, text=True).stdout
        found = re.search(r'"file": "([^"]+)"', said)
        if not found:
            sys.exit(f"packaging: no shim for the torch of {python}: {said.strip()}")
        print(f"building {found.group(1)} ...", flush=True)
        run(python, "-I", package / "_build.py", "--shim", package / "source", package / "source" / "python" / "shim", package / found.group(1))


def glibc_of(package: Path) -> "tuple[int, int]":
    """The oldest glibc that all binaries are satisfied with; ends if one needs more than glibc."""
    needs = [(path, elf.foreign(path)) for path in elf.binaries(package)]
    if any(names for _, names in needs):
        sys.exit("\n".join(f"packaging: {path.name} needs {' '.join(names)}" for path, names in needs if names))
    return max(elf.glibc(path) for path, _ in needs)


def tag_of(target: Target, glibc: "tuple[int, int]") -> str:
    return f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{target.machine}"


def metadata(linked: "list[str]") -> str:
    head = ["Metadata-Version: 2.1", "Name: wheeltap", f"Version: {version()}", f"Summary: {SUMMARY}", "License: Apache-2.0",
            "Requires-Python: >=3.9", "Description-Content-Type: text/markdown", "License-File: LICENSE", "License-File: REBUILDING",
            *(f"License-File: {name}.copyright" for name in linked), *(f"Classifier: {name}" for name in CLASSIFIERS)]
    return "\n".join(head) + "\n\n" + (ROOT / "README.md").read_text(encoding="utf-8")


def describe(root: Path, tag: str, linked: "list[str]") -> Path:
    info = root / f"wheeltap-{version()}.dist-info"
    (info / "METADATA").write_text(metadata(linked), encoding="utf-8")
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: wheeltap\nRoot-Is-Purelib: false\nTag: {tag}\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nwheeltap = wheeltap.__main__:main\n")
    return info


def share(root: Path, package: Path) -> None:
    """Manual pages and completions go where shells and man look for them in any environment."""
    target = root / f"wheeltap-{version()}.data" / "data" / "share"
    target.mkdir(parents=True)
    for name in ("man", "bash-completion", "zsh", "fish"):
        if (package / "share" / name).exists():
            (package / "share" / name).rename(target / name)


def hashed(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def pack(root: Path, info: Path, path: Path) -> None:
    """Files in order, with one time for all: the same tree gives the same wheel."""
    record = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(entry for entry in root.rglob("*") if entry.is_file()):
            name, data = str(file.relative_to(root)), file.read_bytes()
            record.append(f"{name},{hashed(data)},{len(data)}")
            add(archive, name, data, 0o755 if os.access(file, os.X_OK) else 0o644)
        name = str((info / "RECORD").relative_to(root))
        add(archive, name, ("\n".join([*record, f"{name},,"]) + "\n").encode(), 0o644)


def add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def main() -> int:
    parser = argparse.ArgumentParser(description="make the wheel")
    add_options(parser)
    parser.add_argument("--shim", action="append", default=[], metavar="PYTHON")
    options = parser.parse_args()
    target = target_of(options)
    if options.shim and target.is_foreign:
        sys.exit("packaging: a shim is built on the machine that has its torch: leave TORCH out, or leave ARCH out")
    build = target.build
    root = build / "wheel"
    shutil.rmtree(root, ignore_errors=True)
    words = stage(target, build / "tree")
    root.mkdir()
    package = root / "wheeltap"
    libraries = package / library_folder(build / "tree").relative_to(build / "tree")
    arrange(build / "tree", package)
    replace_links(libraries)
    interpreters.build_agents(target, package, words)
    add_shims(package, options.shim)
    strip(target, package)
    interpreters.compile_package(package)
    share(root, package)
    linked = licences.collect(target, version(), root / f"wheeltap-{version()}.dist-info" / "licenses")
    tag = tag_of(target, glibc_of(package))
    path = Path(options.output) / f"wheeltap-{version()}-{tag}.whl"
    pack(root, describe(root, tag, linked), path)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB; linked in: {' '.join(linked)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
