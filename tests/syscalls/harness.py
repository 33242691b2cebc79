# SPDX-License-Identifier: Apache-2.0
"""What the tests of `record --syscalls` share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from patience import PATIENCE  # noqa: E402

BUILD = Path(os.environ.get("WHEELTAP_BUILD", "build")).resolve()
WHEELTAP = str(BUILD / "wheeltap")
ACTS = str(BUILD / "tests" / "syscalls" / "acts")
STRACE = shutil.which("strace")


class Scratch:
    """A folder for one test, removed at its end."""

    def __enter__(self) -> Path:
        self.path = Path(tempfile.mkdtemp(prefix="wheeltap-test-"))
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def record(run: Path, *words: str, backend: str, expression: str = "", options: tuple[str, ...] = (),
           **more: Any) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("timeout", PATIENCE)
    more.setdefault("stdin", subprocess.DEVNULL)
    which = f"--syscalls={expression}" if expression else "--syscalls"
    return subprocess.run([WHEELTAP, "record", "-q", which, "--backend", backend, "-o", str(run), *options, "--", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def start(run: Path, *words: str, backend: str, expression: str = "", **more: Any) -> subprocess.Popen[bytes]:
    more.setdefault("stdin", subprocess.DEVNULL)
    which = f"--syscalls={expression}" if expression else "--syscalls"
    return subprocess.Popen([WHEELTAP, "record", "-q", which, "--backend", backend, "-o", str(run), "--", *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def described(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())


def stat(run: Path, *options: str) -> dict[str, Any]:
    done = subprocess.run([WHEELTAP, "stat", "--syscalls", "--json", *options, str(run)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    return json.loads(done.stdout)


def rows(run: Path, *options: str) -> list[dict[str, Any]]:
    return stat(run, *options)["tables"]["syscalls"]


def counts(run: Path) -> dict[str, tuple[int, int]]:
    """Calls and errors by name."""
    return {row["syscall"]: (row["calls"], row["errors"]) for row in rows(run)}


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    done = subprocess.run([WHEELTAP, "view", "--json", "--kind", kind, str(run)],
                          stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    return json.loads(done.stdout)["events"]


def permitted() -> list[str]:
    """The backends that work here; says what does not."""
    works = []
    for backend in ("bpf", "ptrace"):
        with Scratch() as scratch:
            done = record(scratch / "run", "/bin/true", backend=backend)
            if done.returncode == 0 and counts(scratch / "run").get("execve"):
                works.append(backend)
            else:
                print(f"# {backend} does not work here: {done.stderr.decode(errors='replace').strip()}", file=sys.stderr)
    return works


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)
