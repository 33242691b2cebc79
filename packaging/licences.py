# SPDX-License-Identifier: Apache-2.0
"""Licences of what is linked in: those of the Debian packages that the archives come from, found in the commands that link.

elfutils is under the LGPL: who gets these binaries may link them with another one. REBUILDING says how; our own sources are all that it takes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from portable import ROOT

REBUILDING = """\
The binaries of wheeltap {version} contain these libraries, as archives of the named Debian packages. Their licences are beside this file.

{packages}

elfutils (libdw, libelf) is under the LGPL-3+ or GPL-2+. To use these binaries with another version of it, or with one that you changed:

1. Get the sources of wheeltap {version}, which are under the Apache License 2.0. `wheeltap version --verbose` prints the version.
2. Install your elfutils with its archives (libdw.a, libelf.a) and pkg-config files below a prefix, /opt/elfutils for example.
3. PKG_CONFIG_PATH=/opt/elfutils/lib/pkgconfig make wheel        (or make tarball; with GLIBC=... if yours has it)

packaging/portable.py is the script that built what you have. The same works for each of the other libraries. Without archives,
`make install PREFIX=...` links with the shared libraries of the system, which can be replaced at any time.
"""


def version_of(name: str) -> str:
    """With the source package, where it has another name."""
    return subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version} (source ${source:Package} ${source:Version})\\n", name], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]


def archives(build: Path) -> "list[str]":
    said = subprocess.run(["ninja", "-C", build, "-t", "commands", "product"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted({str(Path(path).resolve()) for path in re.findall(r"(?<=\s)(/usr/lib/\S+\.a)(?=\s)", said)})


def packages(build: Path) -> "list[str]":
    """Their names, without the architecture."""
    names = set()
    for path in archives(build):
        said = subprocess.run(["dpkg-query", "-S", f"*{path.removeprefix('/usr')}"], check=True, stdout=subprocess.PIPE, text=True).stdout
        names.add(said.split(":")[0])
    return sorted(names)


def collect(build: Path, version: str, target: Path) -> "list[str]":
    """Copies our own licence and theirs, and how to link with others; the names of the packages."""
    target.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", target / "LICENSE")
    found = packages(build)
    for name in found:
        shutil.copyfile(f"/usr/share/doc/{name}/copyright", target / f"{name}.copyright")
    (target / "REBUILDING").write_text(REBUILDING.format(version=version, packages="\n".join(map(version_of, found))))
    return found
