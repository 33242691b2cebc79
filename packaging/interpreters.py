#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Interpreters of this machine that an agent can be built for, one of each version. As a program: prints them."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from pathlib import Path

from portable import run

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
ASK = ("import os, sys, sysconfig; print('%d.%d' % sys.version_info[:2], os.path.exists(sysconfig.get_paths()['include'] + '/Python.h'), "
       "sysconfig.get_config_var('EXT_SUFFIX'), bool(sysconfig.get_config_var('Py_GIL_DISABLED')))")


def candidates(version: str) -> "list[str]":
    homes = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = [f"/usr/bin/python{version}", *sorted(glob.glob(f"{homes}/versions/{version}.*/bin/python")), shutil.which(f"python{version}") or ""]
    return [path for path in found if os.access(path, os.X_OK)]


def suffix_of(python: str, version: str) -> str:
    """The end of the name of its extensions; empty if none can be built for it."""
    try:
        said = subprocess.run([python, "-I", "-c", ASK], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=60).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said[2] if len(said) == 4 and said[0] == version and said[1] == "True" and said[3] == "False" else ""


def find() -> "dict[str, tuple[str, str]]":
    """By version: an interpreter, and the end of the name of its extensions."""
    found = {}
    for version in VERSIONS:
        for python in candidates(version):
            suffix = suffix_of(python, version)
            if suffix:
                found[version] = (python, suffix)
                break
    return found


def build_agents(package: Path, words: "list[str]") -> "list[str]":
    """Into the package, with that compiler; the versions that there is an agent for."""
    made = find()
    for version, (python, suffix) in made.items():
        target = package / f"_wheeltap{suffix}"
        if not target.exists():
            print(f"building the agent for CPython {version} ...", flush=True)
            run(python, "-I", package / "_build.py", "--agent", package / "source", target, env={**os.environ, "CC": " ".join(words)})
    for version in VERSIONS:
        if version not in made:
            print(f"CPython {version} is not here with its headers: no agent for it is packed")
    return list(made)


def compile_package(package: Path) -> None:
    """For each of them, once and for all: a program that is recorded by an interpreter of another environment leaves no files here."""
    for python, _ in find().values():
        run(python, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-d", "wheeltap", "-x", "/source/|/share/", package)


if __name__ == "__main__":
    print(*(python for python, _ in find().values()))
