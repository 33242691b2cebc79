# SPDX-License-Identifier: Apache-2.0
"""Runs a program under limits, and says what is wrong with how it ended and what it printed."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import sqlite3
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEMORY_KIB_MAX = 500 << 10  # resident, of a program without sanitizers
OUTPUT_BYTES_MAX = 512 << 20  # of each file that it writes
SPACE_BYTES_MAX = 4 << 30  # addresses; only so that a mistake does not take the machine with it
STATUSES = {0, 1, 2, 3, 4}
RECORD_STATUSES = STATUSES | {125}
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1:"
                    "hard_rss_limit_mb=3000:exitcode=99",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
}
REPORT = re.compile(rb"runtime error: |ERROR: \w*Sanitizer|hard rss limit exhausted")
UBSAN_PLACE = re.compile(rb"([\w./-]+\.[ch]:\d+):\d+: runtime error: ([^\n]*)")
FRAME = re.compile(rb"#\d+ 0x[0-9a-f]+ in (\w+) [^\n]*?/src/(?!libsanitizer)([\w./-]+:\d+)")
# A byte that is no UTF-8 becomes a surrogate.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]")
NUMBER = re.compile(r"-?\d[\d.e+]*")


@dataclass
class Program:
    path: str
    is_sanitized: bool
    cpu_seconds: int
    wall_seconds: int


@dataclass
class Ended:
    status: int  # exit status, or minus the signal
    memory_kib: int
    cpu_seconds: float
    timed_out: bool
    stdout: bytes
    stderr: bytes


def limit(program: Program) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (program.cpu_seconds, program.cpu_seconds + 2))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not program.is_sanitized:  # whose shadow takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (SPACE_BYTES_MAX, SPACE_BYTES_MAX))


def become(program: Program, words: list[str], folder: Path, env: dict[str, str], outputs: list[str]) -> None:
    """The child's part: never returns."""
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        for fd, path in enumerate(outputs, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        limit(program)
        os.execve(program.path, [program.path, *words], env)
    finally:
        os._exit(98)


def execute(program: Program, words: list[str], folder: Path, env: dict[str, str]) -> Ended:
    outputs = [str(folder / ".stdout"), str(folder / ".stderr")]
    pid = os.fork()
    if not pid:
        become(program, words, folder, env, outputs)
    fd = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    timed_out = not poll.poll(1000 * program.wall_seconds)
    if timed_out:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    os.close(fd)
    stdout, stderr = (Path(path).read_bytes() for path in outputs)
    return Ended(os.waitstatus_to_exitcode(status), usage.ru_maxrss, usage.ru_utime + usage.ru_stime, timed_out, stdout, stderr)


# ---- What may be wrong with it


def sanitizer_place(report: bytes) -> str:
    """Where it happened, in a form that is the same for the same defect."""
    if match := UBSAN_PLACE.search(report):
        return f"{match[1].decode().lstrip('./')} {NUMBER.sub('N', match[2].decode(errors='replace'))[:80]}"
    what = re.search(rb"ERROR: \w+: ([\w-]+)", report)
    frame = FRAME.search(report)
    return f"{what[1].decode() if what else '?'} {frame[1].decode() + ' ' + frame[2].decode() if frame else ''}"


def control_bytes(output: bytes) -> str:
    """The first control character but newline and tab, be it a byte, or C1 in UTF-8."""
    found = CONTROL.search(output.decode("utf-8", "surrogateescape"))
    return f"{ord(found[0]) & 0xFF:#04x}" if found else ""


def refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def check_json(data: bytes) -> None:
    json.loads(data.decode("utf-8"), parse_constant=refuse_constant)


def check_lines(data: bytes) -> None:
    for line in data.splitlines():
        check_json(line)


def check_xml(data: bytes) -> None:
    ElementTree.fromstring(data)


def check_text(data: bytes) -> None:
    if found := control_bytes(data):
        raise ValueError(f"control byte {found}")


def check_csv(data: bytes) -> None:
    """Its lines end with CR LF."""
    check_text(data.replace(b"\r\n", b"\n"))


def check_any(data: bytes) -> None:
    """Formats of which nothing is known here."""


CHECKS: dict[str, Callable[[bytes], None]] = {
    "json": check_json, "jsonl": check_lines, "xml": check_xml, "text": check_text, "csv": check_csv, "any": check_any}


def check_sqlite(path: Path) -> None:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        connection.close()
    if answer != "ok":
        raise ValueError(answer)


def check_file(path: Path, how: str) -> None:
    if how == "sqlite":
        check_sqlite(path)
    else:
        CHECKS[how](path.read_bytes())


def wrong_end(program: Program, ended: Ended, allowed: set[int]) -> str:
    if REPORT.search(ended.stderr):
        return f"sanitizer: {sanitizer_place(ended.stderr)}"
    if ended.timed_out or ended.status in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang" if ended.timed_out or ended.status == -signal.SIGXCPU else "hang or killed"
    if ended.status < 0:
        return f"signal {-ended.status}"
    if ended.status not in allowed:
        return f"exit status {ended.status}"
    if not program.is_sanitized and ended.memory_kib > MEMORY_KIB_MAX:
        return f"memory: more than {MEMORY_KIB_MAX >> 10} MB"
    return ""


def wrong_output(ended: Ended, how: str) -> str:
    stdout = ended.stdout.replace(b"\r\n", b"\n") if how == "csv" else ended.stdout
    for name, output in (("stdout", stdout), ("stderr", ended.stderr)):
        if found := control_bytes(output):
            return f"control byte {found} on {name}"
    if how in ("text", "csv"):
        return ""
    if not ended.stdout:
        return f"no {how} on stdout" if how == "json" else ""
    try:
        CHECKS[how](ended.stdout)
    except (ValueError, RecursionError, ElementTree.ParseError) as error:
        return f"not {how}: {NUMBER.sub('N', str(error))[:100]}"
    return ""


def wrong_files(folder: Path, files: dict[str, str]) -> str:
    """Of those that it should have written, each that is there has to be sound."""
    for name, how in files.items():
        path = folder / name
        if not path.is_file() or not path.stat().st_size:
            continue
        try:
            check_file(path, how)
        except (ValueError, RecursionError, ElementTree.ParseError, sqlite3.Error) as error:
            return f"not {how}: {name}: {NUMBER.sub('N', str(error))[:100]}"
    return ""
