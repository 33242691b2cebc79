# SPDX-License-Identifier: Apache-2.0
"""Licences of what is linked in: those of the Debian packages that the archives come from, found in the commands that link."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from portable import ROOT


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


def collect(build: Path, target: Path) -> "list[str]":
    """Copies our own licence and theirs; the names of the packages."""
    target.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", target / "LICENSE")
    found = packages(build)
    for name in found:
        shutil.copyfile(f"/usr/share/doc/{name}/copyright", target / f"{name}.copyright")
    return found
