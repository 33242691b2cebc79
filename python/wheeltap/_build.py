# SPDX-License-Identifier: Apache-2.0
"""Builds the extension for the interpreter that runs this file; `wheeltap python add PYTHON` does that.

usage: PYTHON -I _build.py HOME

HOME/source has the sources, the headers and an archive of all that does not depend on the interpreter. The result
goes beside the package, or, where that may not be written, into the user's own data folder. Says where.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile

FLAGS = ["-shared", "-fPIC", "-O2", "-g", "-std=gnu17", "-D_GNU_SOURCE", "-fvisibility=hidden", "-fno-plt",
         "-fno-math-errno", "-w", "-pthread", "-Wl,-z,nodelete"]


def user_folder() -> str:
    """Where extensions go that could not be put beside the package."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "wheeltap", "python")


def refusal() -> str:
    """Why there can be no agent for this interpreter; empty if there can."""
    if platform.python_implementation() != "CPython":
        return f"{platform.python_implementation()} is not supported; the agent is for CPython 3.9 to 3.13"
    if not (3, 9) <= sys.version_info[:2] <= (3, 13):
        return f"CPython {platform.python_version()} is not supported; the agent is for 3.9 to 3.13"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "free-threaded interpreters are not supported"
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    if not os.path.exists(header):
        return f"'{header}' is missing; install the interpreter's development files (Debian: python3-dev)"
    return ""


def compiler() -> "list[str]":
    configured = (sysconfig.get_config_var("CC") or "").split()
    for words in (os.environ.get("CC", "").split(), ["cc"], ["gcc"], ["clang"], configured):
        if words and shutil.which(words[0]):
            return words
    return []


def build(source: str, target: str) -> "subprocess.CompletedProcess[str]":
    include = sysconfig.get_paths()["include"]
    files = sorted(os.path.join(source, name) for name in os.listdir(source) if name.endswith(".c"))
    command = [*compiler(), *FLAGS, f"-I{source}", "-isystem", include, "-isystem", os.path.join(include, "internal"),
               *files, os.path.join(source, "libwheeltap-python-agent.a"), "-o", target]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def destination(home: str) -> str:
    package = os.path.join(home, "wheeltap")
    if os.access(package, os.W_OK):
        return package
    os.makedirs(user_folder(), exist_ok=True)
    return user_folder()


def main() -> int:
    home = os.path.abspath(sys.argv[1])
    why = refusal() or ("" if compiler() else "no C compiler was found; install gcc or set CC")
    if why:
        print(f"wheeltap: cannot add '{sys.executable}': {why}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="wheeltap-build-") as folder:
        built = os.path.join(folder, "extension.so")
        done = build(os.path.join(home, "source"), built)
        if done.returncode:
            print(f"wheeltap: cannot build the agent for '{sys.executable}':\n{done.stdout[-4000:]}", file=sys.stderr)
            return 1
        target = os.path.join(destination(home), "_wheeltap" + sysconfig.get_config_var("EXT_SUFFIX"))
        shutil.copyfile(built, target + ".new")
        os.replace(target + ".new", target)
    print(f"added CPython {platform.python_version()} ({sys.executable}): {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
