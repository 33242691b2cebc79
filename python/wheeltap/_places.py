# SPDX-License-Identifier: Apache-2.0
"""Where extensions lie that `wheeltap python add` has built: apart for each interpreter, and for each state of the sources.

Two interpreters of one version have extensions of one name, and may still be built differently; an extension that was built
from other sources does not fit the package. So both are part of the path, and what is beside the package is never overwritten.
Used when a program starts, so nothing is imported that an interpreter has not loaded anyway; runs on any Python 3.
"""

import os
import sys


def source_folder(home: str) -> str:
    """What extensions are built from."""
    return os.path.join(home, "wheeltap", "source")


def identity(home: str) -> str:
    """Of the sources in `home`; assemble.py has written it."""
    try:
        with open(os.path.join(source_folder(home), "identity"), encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, ValueError):
        return ""


def user_folder() -> str:
    """For extensions that cannot be put beside the package."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "wheeltap", "python")


def own_folder(base: str, home: str) -> str:
    """Of this interpreter and all environments that were made from it, below `base`."""
    prefix = os.path.realpath(sys.base_exec_prefix).lstrip(os.sep)
    return os.path.join(base, "added", identity(home), sys.implementation.cache_tag or "none", prefix)


def own_folders(package: str) -> "list[str]":
    """Those that exist, best first."""
    home = os.path.dirname(package)
    return [folder for folder in (own_folder(base, home) for base in (package, user_folder())) if os.path.isdir(folder)]
