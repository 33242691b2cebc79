# SPDX-License-Identifier: Apache-2.0
"""Licences of what is linked in: those of the Debian packages that the archives come from, found in the commands that link.

elfutils is under the LGPL: who gets these binaries may link them with another one. REBUILDING says how; our own sources are all that it takes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from portable import ROOT, Target

REBUILDING = """\
The binaries of wheeltap {version} contain these libraries, as archives of the named Debian packages. Their licences are beside this file.

{packages}

elfutils (libdw, libelf) is under the LGPL-3+ or GPL-2+. To use these binaries with another version of it, or with one that you changed:

1. Get the sources of wheeltap {version}, which are under the Apache License 2.0. `wheeltap version --verbose` prints the version.
2. Install your elfutils with its archives (libdw.a, libelf.a) and pkg-config files below a prefix, /opt/elfutils for example.
3. PKG_CONFIG_PATH=/opt/elfutils/lib/pkgconfig make wheel        (or make tarball; with GLIBC=... if yours has it)

{libc}packaging/portable.py is the script that built what you have. The same works for each of the other libraries. Without archives,
`make install PREFIX=...` links with the shared libraries of the system, which can be replaced at any time.
"""


LIBC = """\
glibc, which the static program contains, is under the LGPL-2.1+. With another version of it: make it the one that the compiler links with, then
make static

"""


def ask(target: Target, *words: str) -> str:
    """dpkg-query, about the packages that the build links with."""
    return subprocess.run(["dpkg-query", f"--admindir={target.root / 'var/lib/dpkg'}", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def version_of(target: Target, name: str) -> str:
    """With the source package, where it has another name."""
    return ask(target, "-W", "-f", "${Package} ${Version} (source ${source:Package} ${source:Version})\\n", name).splitlines()[0]


def archives(target: Target) -> "list[str]":
    """As they are called below the root."""
    said = subprocess.run(["ninja", "-C", target.build, "-t", "commands", "product"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.findall(rf"(?<=\s)({re.escape(str(target.root / 'usr/lib'))}/\S+\.a)(?=\s)", said)
    return sorted({f"/{Path(path).resolve().relative_to(target.root)}" for path in found})


def packages(target: Target) -> "list[str]":
    """Their names, without the architecture."""
    own = {"libc6-dev"} if target.is_static else set()  # the compiler's, which no command names
    return sorted(own | {ask(target, "-S", f"*{path.removeprefix('/usr')}").split(":")[0] for path in archives(target)})


def collect(target: Target, version: str, folder: Path) -> "list[str]":
    """Copies our own licence and theirs, and how to link with others; the names of the packages."""
    folder.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    found = packages(target)
    for name in found:
        shutil.copyfile(target.root / "usr/share/doc" / name / "copyright", folder / f"{name}.copyright")
    listed = "\n".join(version_of(target, name) for name in found)
    (folder / "REBUILDING").write_text(REBUILDING.format(version=version, packages=listed, libc=LIBC if target.is_static else ""))
    return found
