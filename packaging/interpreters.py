#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Interpreters of this machine that an agent can be built for, one of each version. As a program: prints them."""

from __future__ import annotations

import glob
import os
import platform
import shutil
import subprocess
from pathlib import Path

from portable import Target, run

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
ASK = ("import os, sys, sysconfig; print('%d.%d' % sys.version_info[:2], os.path.exists(sysconfig.get_paths()['include'] + '/Python.h'), "
       "sysconfig.get_config_var('EXT_SUFFIX'), bool(sysconfig.get_config_var('Py_GIL_DISABLED')))")
# pyconfig.h is the only header that an interpreter's configure writes. Built for x86-64 it serves another architecture if it is right about
# the types of that one: what else differs between the two (docs/installing.md) concerns the interpreter, not those who include it.
PROOF = """#include <Python.h>
#include <pthread.h>
#include <stddef.h>
#define SAME(what, value) _Static_assert((what) == (value), #what " is not what pyconfig.h says")
SAME(sizeof(short), SIZEOF_SHORT); SAME(sizeof(int), SIZEOF_INT); SAME(sizeof(long), SIZEOF_LONG); SAME(sizeof(long long), SIZEOF_LONG_LONG);
SAME(sizeof(float), SIZEOF_FLOAT); SAME(sizeof(double), SIZEOF_DOUBLE); SAME(sizeof(long double), SIZEOF_LONG_DOUBLE);
SAME(sizeof(void *), SIZEOF_VOID_P); SAME(sizeof(uintptr_t), SIZEOF_UINTPTR_T); SAME(sizeof(size_t), SIZEOF_SIZE_T);
SAME(sizeof(wchar_t), SIZEOF_WCHAR_T); SAME(sizeof(_Bool), SIZEOF__BOOL); SAME(sizeof(time_t), SIZEOF_TIME_T);
SAME(sizeof(off_t), SIZEOF_OFF_T); SAME(sizeof(pid_t), SIZEOF_PID_T); SAME(sizeof(fpos_t), SIZEOF_FPOS_T);
SAME(sizeof(pthread_t), SIZEOF_PTHREAD_T); SAME(sizeof(pthread_key_t), SIZEOF_PTHREAD_KEY_T);
#ifdef ALIGNOF_LONG
SAME(_Alignof(long), ALIGNOF_LONG); SAME(_Alignof(size_t), ALIGNOF_SIZE_T);
#endif
#ifdef ALIGNOF_MAX_ALIGN_T
SAME(_Alignof(max_align_t), ALIGNOF_MAX_ALIGN_T);
#endif
SAME(__BYTE_ORDER__, __ORDER_LITTLE_ENDIAN__);
#ifdef WORDS_BIGENDIAN
#error "pyconfig.h is that of a big-endian machine"
#endif
"""


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


def prove_headers(python: str, words: "list[str]") -> None:
    """Ends if the interpreter's pyconfig.h is wrong about the types that this compiler has."""
    said = subprocess.run([python, "-I", "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"], check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run([*words, "-std=gnu17", "-D_GNU_SOURCE", "-w", "-isystem", said.stdout.strip(), "-x", "c", "-c", "-", "-o", os.devnull], check=True,
                   input=PROOF, text=True)


def build_agents(target: Target, package: Path, words: "list[str]") -> "list[str]":
    """Into the package, with that compiler; the versions that there is an agent for."""
    made = find()
    for version, (python, suffix) in made.items():
        agent = package / f"_wheeltap{suffix.replace(platform.machine(), target.machine)}"
        if not agent.exists():
            print(f"building the agent for CPython {version} ...", flush=True)
            prove_headers(python, words)
            run(python, "-I", package / "_build.py", "--agent", package / "source", agent, env={**os.environ, "CC": " ".join(words)})
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
