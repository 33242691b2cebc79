# SPDX-License-Identifier: Apache-2.0
"""Runs by name, as the command line finds them: a folder, a file, a folder below the home of runs, the name of a run there (the
newest), or "latest"."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from typing import Any, BinaryIO

from ._reader import TraceError
from .table import printable

RUN_JSON_BYTES_MAX = 64 << 20
ELSEWHERE = ".elsewhere"  # below the home: a link to the run that was last recorded into a folder of its own


def home() -> str:
    """Where runs live."""
    return os.environ.get("WHEELTAP_HOME") or "./wheeltap-runs"


def failure(code: str, text: str) -> TraceError:
    error = TraceError(printable(text))
    error.code = code
    return error


def open_file(path: str) -> BinaryIO:
    """A regular file: a FIFO of that name would be waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a file", path)
    return os.fdopen(descriptor, "rb")


def info(path: str) -> dict[str, Any]:
    """What run.json says; empty where there is none of ours, as beside a single stream."""
    try:
        with open_file(os.path.join(path, "run.json")) as file:
            content: Any = json.loads(file.read(RUN_JSON_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return {}
    ours = (isinstance(content, dict) and isinstance(content.get("schema"), int)
            and isinstance(content.get("status"), str) and isinstance(content.get("command"), list))
    return dict(content) if ours else {}


def is_recording(path: str) -> bool:
    """Whether a recorder holds its lock on the folder; also true where the file system has no locks."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(folder)


def _is_elsewhere(content: dict[str, Any]) -> bool:
    """Recorded on another host, of which the lock says nothing here (src/runs/runjson.c)."""
    host = content.get("host")
    if not isinstance(host, dict) or not host.get("name") or host["name"] == os.uname().nodename:
        return False
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return bool(host.get("boot") != file.read().strip())
    except OSError:
        return True


def status(path: str, content: dict[str, Any]) -> str:
    """running, abandoned, finished, failed, killed, interrupted, or unknown; of another host also running where that cannot be seen."""
    said = str(content.get("status", "unknown"))
    return "abandoned" if said == "running" and not is_recording(path) and not _is_elsewhere(content) else said


def _age(path: str, content: dict[str, Any]) -> tuple[int, str]:
    start = content.get("start_ns")
    begun = start if isinstance(start, int) and start > 0 else os.stat(os.path.join(path, "run.json")).st_mtime_ns
    return begun, os.path.basename(path)


def _newest(name: str | None = None) -> str | None:
    """Of the runs below the home, or of those that are called so."""
    base = home()
    try:
        names = [name for name in os.listdir(base) if not name.startswith(".")]
    except FileNotFoundError:
        names = []
    except OSError as problem:
        raise failure("io", f"cannot open '{base}': {problem.strerror}") from None
    runs = []
    paths = [os.path.join(base, entry) for entry in names]
    if name is None:
        paths.append(os.path.realpath(os.path.join(base, ELSEWHERE)))
    for path in paths:
        content = info(path)
        if content and name in (None, content.get("name")):
            runs.append((_age(path, content), path))
    return max(runs)[1] if runs else None


def _is_no_run(path: str) -> bool:
    """A folder or file that has the name of a run, such as the program or its data."""
    return not os.path.lexists(os.path.join(path, "run.json")) if os.path.isdir(path) else not path.endswith(".wt")


def _no_such_run(word: str) -> Exception:
    what = "no such file or folder, and no run" if "/" in word else "no run of that name here or"
    return failure("missing", f"no run '{word}': {what} below '{home()}'; 'wheeltap ls' lists the runs")


def find(word: str) -> str:
    """The path of the run that a word means."""
    if word == "latest":
        latest = _newest()
        if latest is None:
            raise failure("missing", f"no runs below '{home()}'; record one with 'wheeltap record -- PROGRAM', or give the folder of a run")
        return latest
    try:
        os.stat(word)
        return (_newest(word) or word) if "/" not in word and _is_no_run(word) else word
    except FileNotFoundError:
        if word.startswith("/"):
            raise _no_such_run(word) from None
    except (OSError, ValueError) as problem:
        raise failure("io", f"cannot open '{word}': {getattr(problem, 'strerror', None) or problem}") from None
    below = os.path.join(home(), word)
    if info(below) if "/" in word else os.path.exists(below):
        return below
    named = _newest(word)
    if named is None:
        raise _no_such_run(word)
    return named
