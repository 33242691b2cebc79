#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""System calls as text are strace's, line for line.

usage: test_decode.py FEED CALLS DENIED SYSCALLS.TXT WHEELTAP

FEED shows a program's calls with our decoder, CALLS makes real ones, DENIED makes all that there are without any effect.
Each is run under strace and under FEED, and CALLS is recorded by WHEELTAP. What differs from run to run is replaced: process numbers, addresses, ports, times.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, skip  # noqa: E402

# Shown with raw values, as docs/syscalls.md says, where strace has more to say.
RAW = {"rt_sigreturn", "restart_syscall", "syslog", "ptrace", "reboot", "quotactl", "quotactl_fd", "kexec_load", "keyctl", "ioprio_set",
       "ioprio_get", "fanotify_init", "fanotify_mark", "landlock_add_rule", "memfd_secret", "swapon", "add_key", "request_key", "recvmmsg"}
# These differ only for arguments that nobody gives: flags above 2^32, flags of other versions of System V calls, packet sockets.
ODD = {"small": {"socket", "io_uring_register"}, "ones": {"mount", "shmget", "shmctl", "semctl", "msgctl", "mbind"}, "zeros": set()}
CLASSES = ["file", "desc", "network", "process", "memory", "signal", "ipc", "creds", "clock"]
LETTERS = dict(zip(CLASSES, "FDNPMSICK"))
CALLS_MIN = 80
BACKENDS = ["bpf", "ptrace"]

failures: list[str] = []


def start(*command: str, cwd: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
                          env={"PATH": "/usr/bin:/bin", "TZ": "UTC"})


def run(*command: str, cwd: str) -> None:
    done = start(*command, cwd=cwd)
    if done.returncode == 77 or "Operation not permitted" in done.stdout:
        skip(f"{command[0]} may not trace here: {done.stdout.strip()}")
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")


def lines_of(path: Path) -> list[str]:
    """Calls only, from the program's own first one on: what the loader does is the same, but not of interest."""
    return [line for line in path.read_text(errors="surrogateescape").splitlines() if not line.startswith(("+++", "---"))]


class Normal:
    """Replaces what differs, the same by the same: the first address by A1, and so on."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, str]] = {}

    def name(self, kind: str, text: str) -> str:
        known = self.known.setdefault(kind, {})
        return known.setdefault(text, f"{kind}{len(known)}")

    def line(self, text: str) -> str:
        call = text.split("(", 1)[0]
        # Padding to the column of results depends on lengths of what is replaced.
        head, equals, result = text.rpartition(" = ")
        text = head.rstrip() + equals + result
        text = re.sub(r"0x(?!f{9})[0-9a-f]{9,}", lambda match: self.name("A", match[0]), text)
        text = re.sub(r"/\* \d+ vars \*/", "/* vars */", text)  # a recording adds some
        if call == "kill" and "SIGKILL" in text:
            text = re.sub(r"= .*", "= ?", text)  # of one's own end only BPF sees that it succeeded
        text = re.sub(r"htons\(\d{5}\)", lambda match: self.name("PORT", match[0]), text)
        if call in {"clone", "clone3", "process_vm_readv", "process_vm_writev", "getsockopt", "wait4", "waitid", "getpid", "gettid", "getppid", "set_tid_address", "kcmp",
                    "kill", "rt_sigtimedwait", "pidfd_open"}:
            text = re.sub(r"(?<![\w=.])\d+(?=[,)\s]|$)|(?<=pid=)\d+", lambda match: self.name("N", match[0]), text)
        if call in {"shmget", "semget", "getpgrp", "getpgid", "getsid"}:
            text = re.sub(r"= \d+$", "= ID", text)
        if call in {"shmat", "shmctl", "semop", "semctl"}:
            text = re.sub(r"\(\d+", "(ID", text)
        if call in {"time", "times", "gettimeofday", "clock_gettime", "getrusage", "wait4", "getcpu", "sysinfo", "timerfd_settime",
                    "waitid", "select", "pselect6", "ppoll"}:
            text = re.sub(r"\d+-\d+-\d+T[\d:.]+\+0000", "DATE", text)
            text = re.sub(r" /\* \d+\.\d+ s \*/", "", text)  # said of ticks that are not 0
            text = re.sub(r"(?<=[=\[ ])\d{1,19}(?=[,}\] )]|$)", "T", text)
        return re.sub(r"\\x[0-9a-f]{2}", r"\\xNN", text) if call == "getrandom" else text


def compare(what: str, theirs: list[str], ours: list[str], passed_over: set[str], columns: bool = True) -> int:
    """How many different calls were the same. Of lines that were put together the columns say nothing."""
    mine, his = Normal(), Normal()
    seen: set[str] = set()
    if len(theirs) != len(ours):
        failures.append(f"{what}: strace has {len(theirs)} lines, we have {len(ours)}")
    for a, b in zip(theirs, ours):
        name = a.split("(", 1)[0]
        if name in passed_over or name.startswith("syscall_"):
            continue
        left, right = his.line(a), mine.line(b)
        if left != right:
            failures.append(f"{what}:\n  strace   {a}\n  wheeltap {b}\n  ({left} / {right})")
            continue
        if columns and len(a.split(" = ")[0].rstrip()) == len(b.split(" = ")[0].rstrip()) and a.find(" = ") != b.find(" = "):
            failures.append(f"{what}: results in different columns:\n  {a}\n  {b}")
        seen.add(name)
    return len(seen)


def real_calls(feed: str, calls: str, folder: str) -> None:
    for name, command in (("strace", ["strace", "-o", f"{folder}/strace"]), ("ours", [feed, f"{folder}/ours"])):
        work = Path(folder) / "work"
        work.mkdir()
        run(*command, calls, cwd=str(work))
        left = [path.name for path in work.iterdir()]
        shutil.rmtree(work)
        if left:
            failures.append(f"decode_calls under {name} left {left}")
    count = compare("calls", lines_of(Path(folder) / "strace"), lines_of(Path(folder) / "ours"), set())
    print(f"calls: {count} system calls made for real and shown alike")
    if count < CALLS_MIN:
        failures.append(f"only {count} different calls were made")


def denied_calls(feed: str, denied: str, folder: str) -> None:
    for error, fill in (("38", "small"), ("38", "ones"), ("0", "zeros")):
        run("strace", "-o", f"{folder}/strace", denied, error, fill, cwd=folder)
        run(feed, f"{folder}/ours", denied, error, fill, cwd=folder)
        count = compare(f"denied {fill}", lines_of(Path(folder) / "strace"), lines_of(Path(folder) / "ours"), RAW | ODD[fill])
        print(f"denied {fill}: {count} system calls shown alike")
        if count < 250:
            failures.append(f"denied {fill}: only {count} calls")


def by_thread(path: Path) -> list[list[str]]:
    """Lines of `strace -f -o` by thread, in the order in which threads appear; calls that were cut in two put together."""
    threads: dict[str, list[str]] = {}
    open_call: dict[str, str] = {}
    for line in path.read_text(errors="surrogateescape").splitlines():
        pid, _, text = line.partition(" ")
        text = text.lstrip()
        lines = threads.setdefault(pid, [])
        if text.startswith(("---", "+++")):
            if pid in open_call:
                lines.append(open_call.pop(pid) + " <unfinished ...>")
            continue
        text = re.sub(r" <\d+\.\d{6}>$", "", text)
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if text.endswith(" <unfinished ...>"):
            open_call[pid] = text.removesuffix(" <unfinished ...>")
        elif resumed:
            lines.append(open_call.pop(pid) + resumed[1])
        else:
            lines.append(text)
    return list(threads.values())


def recorded(wheeltap: str, calls: str, folder: str) -> None:
    """The same through a recording: the capture keeps what the decoder needs."""
    work = Path(folder) / "work"
    work.mkdir()
    run("strace", "-f", "-o", f"{folder}/strace", calls, cwd=str(work))
    theirs = by_thread(Path(folder) / "strace")
    for backend in BACKENDS:
        path = f"{folder}/{backend}"
        done = start(wheeltap, "record", "--syscalls", "--backend", backend, "--strings", "keep", "-o", path, "--", calls, cwd=str(work))
        if done.returncode == 125 and backend == "bpf":
            print(f"recorded by bpf: skipped: {done.stdout.strip()}")
            continue
        run(wheeltap, "export", "--to", "strace", "-o", f"{path}.strace", path, cwd=folder)
        ours = by_thread(Path(f"{path}.strace"))
        if len(theirs) != len(ours):
            failures.append(f"{backend}: strace has {len(theirs)} threads, we have {len(ours)}")
        count = max(compare(f"recorded by {backend}", a, b, set(), False) for a, b in zip(theirs, ours))
        print(f"recorded by {backend}: {count} system calls shown alike")
    shutil.rmtree(work)


def names_within(text: str, folder: str) -> str:
    """Descriptors with names only of files in `folder`: others have numbers of inodes, or names that the kernel resolved."""
    text = re.sub(r"(?<=>)\(deleted\)", "", text)
    return re.sub(r"(?<=[\dD])<[^<>]*>", lambda match: match[0] if match[0].startswith(f"<{folder}") and "#" not in match[0] else "", text)


def descriptors(wheeltap: str, calls: str, folder: str) -> None:
    """What descriptors refer to, as strace -y reads it from the kernel, and we from the calls alone."""
    work = Path(folder).resolve() / "work"
    work.mkdir()
    path = f"{folder}/named"
    run("strace", "-f", "-y", "-o", f"{folder}/strace", calls, cwd=str(work))
    run(wheeltap, "record", "--syscalls", "--backend", "ptrace", "--strings", "keep", "-o", path, "--", calls, cwd=str(work))
    run(wheeltap, "export", "--to", "strace", "-y", "-o", f"{path}.strace", path, cwd=folder)
    theirs, ours = ([names_within(line, str(work)) for line in by_thread(Path(name))[0]] for name in (f"{folder}/strace", f"{path}.strace"))
    # A file without a name has one for strace, made up by the kernel.
    unnamed = next(i for i, line in enumerate(theirs) if "O_TMPFILE" in line)
    del theirs[unnamed:unnamed + 2], ours[unnamed:unnamed + 2]
    named = sum(f"<{work}" in line for line in ours)
    compare("descriptors", theirs, ours, {"kcmp"}, False)
    print(f"descriptors: {named} calls with names of files")
    if named < 80:
        failures.append(f"only {named} calls have descriptors with names")
    shutil.rmtree(work)


def classes(denied: str, folder: str, table: str) -> None:
    """Each call is in the classes in which strace has it."""
    described = dict(re.findall(r"^(\w+) +([A-Z]+|-)(?: |$)", Path(table).read_text(), re.MULTILINE))
    for name in CLASSES:
        run("strace", "-qq", "-e", f"trace=%{name}", "-o", f"{folder}/strace", denied, "38", "zeros", cwd=folder)
        theirs = {line.split("(", 1)[0] for line in lines_of(Path(folder) / "strace")}
        theirs = {call for call in theirs if not call.startswith("syscall_")}
        ours = {call for call, letters in described.items() if LETTERS[name] in letters}
        if theirs != ours:
            failures.append(f"class %{name}: strace has {sorted(theirs - ours)}, only we have {sorted(ours - theirs)}")
    print(f"classes: {len(CLASSES)} alike")


def main() -> int:
    if not shutil.which("strace"):
        skip("there is no strace; run tools/setup")
    feed, calls, denied, table, wheeltap = (str(Path(path).resolve()) for path in sys.argv[1:6])
    with Scratch() as place:
        folder = str(place)
        real_calls(feed, calls, folder)
        denied_calls(feed, denied, folder)
        recorded(wheeltap, calls, folder)
        descriptors(wheeltap, calls, folder)
        classes(denied, folder, table)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
