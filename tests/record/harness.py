# SPDX-License-Identifier: Apache-2.0
"""What the tests of `wheeltap record` share: starting it, reading what it left behind, finding its processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from patience import PATIENCE  # noqa: E402

BUILD = Path(os.environ.get("WHEELTAP_BUILD", "build")).resolve()
WHEELTAP = str(BUILD / "wheeltap")
PROGRAMS = BUILD / "tests" / "record"
PUBLISHER = str(PROGRAMS / "record_publisher")
FAMILY = str(PROGRAMS / "record_family")
TALKER = str(PROGRAMS / "record_talker")
CLIENT = str(BUILD / "src" / "agents" / "client" / "libwheeltap-client.so")
CASES = str(BUILD / "tests" / "programs" / "cases")
CHECK = str(PROGRAMS / "check_sequences")


class Scratch:
    """A folder for one test, removed at its end."""

    def __enter__(self) -> Path:
        self.path = Path(tempfile.mkdtemp(prefix="wheeltap-test-"))
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def record(run: Path, *words: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("timeout", PATIENCE)
    if "input" not in more:
        more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([WHEELTAP, "record", "-o", str(run), *options, "--", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def default_signals() -> None:
    """Whoever runs the tests in the background, or under nohup, has these ignored; a shell could not trap them then."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(run: Path, *words: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.Popen[bytes]:
    more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("preexec_fn", default_signals)
    return subprocess.Popen([WHEELTAP, "record", "-o", str(run), *options, "--", *words], **more)


def described(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())


def wait_for(what: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """What `what` gives once it gives something true."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            answer = what()
        except (OSError, ValueError):
            answer = None
        if answer:
            return answer
        time.sleep(0.002)
    raise AssertionError("waited in vain")


def tracks(run: Path, *how: str) -> list[dict[str, str]]:
    """One entry a track, after the proof that no sequence number is missing ("cut": but at the end)."""
    done = subprocess.run([CHECK, str(run), *how], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"check_sequences: {done.stdout}"
    found = []
    for line in done.stdout.splitlines():
        words = line.split()
        found.append({"file": words[0], **dict(zip(words[1::2], words[2::2])), "broken": str(words[-1] == "broken")})
    return found


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children_of(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if parent_of(int(entry)) == pid:
                    found.append(int(entry))
            except (OSError, IndexError):
                pass
    return found


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def program_of(recorder: int, name: str) -> int:
    """The program's process: a grandchild of the recorder."""
    for child in children_of(recorder):
        for grandchild in children_of(child):
            if name_of(grandchild).startswith(name[:15]):
                return grandchild
    return 0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def cpu_seconds(pid: int) -> float:
    """Of all its threads, in user mode and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)


class Case(unittest.TestCase):
    """A test with a folder of its own, and a place for a run in it."""

    def setUp(self) -> None:
        self.scratch = Scratch()
        self.folder = self.scratch.__enter__()
        self.run_folder = self.folder / "run"

    def tearDown(self) -> None:
        self.scratch.__exit__()

    def described(self) -> dict[str, object]:
        return described(self.run_folder)
