#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""wheeltap in the places where people train: containers, read-only roots, small /dev/shm, full disks, jobs without a terminal.

usage: test_places.py BUILD [--table] [PLACE...]

A place is made of a mount namespace, limits, and `confine` (no capabilities, a seccomp filter). In each of them the verbs are run as an
ordinary user, and their status and words compared with what is expected there. --table prints what each verb printed, as
docs/installing.md has it. In no place does the recorded program fail.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

CONFINE = str(harness.BUILD / "tests" / "places" / "confine")
PROGRAM = [harness.PYTHON, "-c", "import json; print(json.dumps([1, 2]))"]
PRINTS = "[1, 2]"
USER = 54321  # where root runs the tests, they are run as this one
SCOPE = "mount -t tmpfs scope /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo {0} >/proc/sys/kernel/yama/ptrace_scope"

RECORDED = r"finished: \d+ events from 1 process .*nothing lost"
BY_PTRACE = r"system calls by ptrace \(the kernel does not permit BPF here"


class Place(NamedTuple):
    about: str
    confine: str = ""  # words of `confine`
    mounts: str = ""  # commands of the shell, in a namespace of its own
    run: str = ""  # where the run goes; default: the folder of the test
    files: int = 0  # the limit of open files
    alone: bool = False  # no terminal, no session, nothing on standard input
    record: str = RECORDED
    syscalls: str = BY_PTRACE
    inside: bool = False  # the program asks whether it is being recorded
    doctor: str = "Nothing could be judged"
    env: tuple[str, ...] = ()


PLACES = {
    "docker": Place("Docker's default seccomp profile, no capabilities", "docker",
                    env=(r"system calls +ok +record --syscalls: by ptrace", r"BPF +limited .*not permitted", r"--cap-add BPF --cap-add PERFMON",
                         r"perf events +limited", r"ptrace +ok")),
    "no ptrace": Place("the same on kernels before 4.8, which refuses ptrace", "docker no-ptrace",
                       syscalls=r"not started: not permitted to trace .* seccomp filter refuses ptrace; start the container with '--cap-add SYS_PTRACE'",
                       env=(r"system calls +missing +record --syscalls is refused", r"ptrace +missing", r"docker run --cap-add SYS_PTRACE")),
    "ptrace_scope 1": Place("yama allows to trace children", "docker", SCOPE.format(1),
                            env=(r"ptrace +ok +ptrace_scope is 1", r"sudo sysctl kernel.yama.ptrace_scope=0")),
    "ptrace_scope 2": Place("only root may trace (the file of yama is a stand-in, the filter refuses)", "no-ptrace", SCOPE.format(2),
                            syscalls=r"ptrace_scope is 2; run as root, or write 0 into it", env=(r"ptrace +missing .*ptrace_scope is 2",)),
    "ptrace_scope 3": Place("nobody may trace (likewise)", "no-ptrace", SCOPE.format(3), syscalls=r"ptrace_scope is 3",
                            env=(r"ptrace +missing .*ptrace_scope is 3", r"reboot")),
    "no memfd": Place("a filter without memfd_create: nothing can be shared", "docker no-memfd",
                      record=r"no events of the program, because memfd_create is not permitted here: 'wheeltap env' shows",
                      env=(r"memfd +missing .*not permitted", r"--security-opt seccomp=unconfined")),
    "read-only root": Place("nothing can be written; no -o", "docker", "mount -o remount,ro,bind /", run="-",
                            record=r"cannot make the folder 'wheeltap-runs': Read-only file system; record into another folder with -o, or set WHEELTAP_HOME",
                            syscalls=r"cannot make the folder 'wheeltap-runs'", doctor="",
                            env=(r"runs +missing +cannot write to '.': Read-only file system", r"WHEELTAP_HOME")),
    "read-only, one folder": Place("only the folder of the run can be written, not even /tmp", "docker",
                                   "mount -t tmpfs -o mode=777 one /mnt && mount -o remount,ro,bind /", run="/mnt/run"),
    "no /dev/shm": Place("no /dev/shm", "docker", "mount -t tmpfs -o mode=555 none /dev/shm", env=(r"shared memory +limited +no /dev/shm",)),
    "64 MB of /dev/shm": Place("Docker's default", "docker", "mount -t tmpfs -o mode=1777,size=64m small /dev/shm",
                               env=(r"shared memory +limited +[0-9.]+ MB free",)),
    "ulimit -n 256": Place("256 open files", "docker", files=256, env=(r"open files +limited +256 open files", r"ulimit (-n 4096|nofile=4096)")),
    "no locks": Place("no locks, as on NFS without a lock daemon", "docker no-locks", inside=True),
    "no terminal": Place("a session of its own, standard input closed, as under srun", "docker", alone=True),
    "disk nearly full": Place("60 kB left for the run", "docker", "mount -t tmpfs -o mode=777,size=60k small /mnt", run="/mnt/run",
                              syscalls=r"trace ends|lost \(|nothing lost", env=()),
    "disk full": Place("nothing left", "docker", "mount -t tmpfs -o mode=777,size=4k small /mnt && head -c 4096 /dev/zero >/mnt/fill", run="/mnt/run",
                       record=r"the program runs unrecorded: not enough room in '/mnt/run': 0 B free; make room",
                       syscalls=r"the program runs unrecorded: not enough room", doctor=""),
}


def opening() -> str:
    """Commands of the shell: what is tested can be reached by everybody, at the same path, also where root cloned into its own home."""
    sources = Path(__file__).resolve().parents[2]
    wanted = [sources] + [harness.BUILD.resolve()] * (sources not in harness.BUILD.resolve().parents)
    closed = next((folder for path in wanted for folder in [*reversed(path.parents), path] if not folder.stat().st_mode & 0o001), None)
    if os.geteuid() or not closed:
        return "true"
    moved = [(f"/mnt/{number}", shlex.quote(str(path))) for number, path in enumerate(wanted) if closed in [path, *path.parents]]
    return " && ".join(["mount -t tmpfs held /mnt", *(f"mkdir {held} && mount --bind {path} {held}" for held, path in moved),
                        f"mount -t tmpfs -o mode=755 opened {shlex.quote(str(closed))}",
                        *(f"mkdir -p {path} && mount --move {held} {path}" for held, path in moved), "umount /mnt"])


class Outcome(NamedTuple):
    status: int
    printed: str
    said: str


class Visit:
    """One place, in a folder that the user may write."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.folder = folder
        folder.chmod(0o777)

    def start(self) -> None:
        if self.place.files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.place.files, self.place.files))
        if self.place.alone:
            os.setsid()
            os.close(0)

    def do(self, script: str) -> Outcome:
        """The script of the shell, in the place; mounts end with it."""
        user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.geteuid() == 0 else []
        inner = shlex.join([*user, CONFINE, *self.place.confine.split(), "--", "sh", "-c", script])
        words = ["unshare", "-m" if os.geteuid() == 0 else "-Urm", "--propagation", "private", "sh", "-c",
                 f"{opening()} && {self.place.mounts or 'true'} && cd {shlex.quote(str(self.folder))} && exec {inner}"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=harness.PATIENCE,
                              preexec_fn=self.start, env=harness.environment(HOME=str(self.folder)))
        return Outcome(done.returncode, done.stdout, done.stderr)


def record_words(place: Place, folder: Path, name: str, *options: str) -> str:
    where = [] if place.run == "-" else ["-o", place.run or str(folder / name)]
    return shlex.join([harness.WHEELTAP, "record", *options, *where, "--", *PROGRAM])


class Checker:
    def __init__(self, tap: harness.Tap, name: str, table: bool) -> None:
        self.tap = tap
        self.name = name
        self.place = PLACES[name]
        self.table = table
        self.cells: list[str] = []

    def expect(self, verb: str, outcome: Outcome, pattern: str, text: str) -> None:
        lines = [line for line in text.splitlines() if re.search(pattern, line)]
        self.cells.append(f"{lines[0].removeprefix('wheeltap: ')}" if lines else "")
        self.tap.check(f"{self.name}: {verb}", re.search(pattern, text), f"expected {pattern}", *outcome)

    def recorded(self, verb: str, outcome: Outcome, pattern: str) -> None:
        """The program has run and printed what it prints, or was not started, with a reason."""
        ran = outcome.status == 0 and PRINTS in outcome.printed
        refused = outcome.status == 125 and outcome.said.startswith("wheeltap: ") and not outcome.printed
        self.tap.check(f"{self.name}: the program runs as ever under {verb}", ran or refused, *outcome)
        self.expect(verb, outcome, pattern, outcome.said)

    def env(self, outcome: Outcome) -> None:
        self.tap.check(f"{self.name}: env ends", outcome.status in (0, 4) and "what to do" in outcome.printed, *outcome)
        for pattern in self.place.env:
            self.tap.check(f"{self.name}: env has {pattern}", re.search(pattern, outcome.printed), *outcome)
        rows = [" ".join(line.split()[1:]) for line in outcome.printed.splitlines() if any(re.search(p, line) for p in self.place.env)]
        self.cells.append("; ".join(rows)[:240])

    def run(self, folder: Path) -> None:
        visit, place = Visit(self.place, folder), self.place
        run = place.run or str(folder / "run")
        looks = f"; {harness.WHEELTAP} doctor {run}; {harness.WHEELTAP} report {run} -o {Path(run).parent}/page.html && grep -c '</html>' {Path(run).parent}/page.html"
        outcome = visit.do(record_words(place, folder, "run") + (looks if place.doctor else ""))
        self.recorded("record", outcome, place.record)
        if place.doctor:
            self.expect("doctor", outcome, place.doctor, outcome.printed)
            self.tap.check(f"{self.name}: report", outcome.printed.endswith("\n1\n"), *outcome)
        self.recorded("record --syscalls", visit.do(record_words(place, folder, "calls", "--syscalls")), place.syscalls)
        if place.inside:
            asking = visit.do(f"{harness.WHEELTAP} record -o asked -- {harness.WHEELTAP} info asked; {harness.WHEELTAP} info asked")
            self.tap.equal(f"{self.name}: running is not taken for abandoned", re.findall(r"(?m)^status +(\w+)", asking.printed),
                           ["running", "finished"], *asking)
        self.env(visit.do(f"{harness.WHEELTAP} env"))
        if self.table:
            print(f"| {self.name} | " + " | ".join(cell.replace("|", "\\|").replace(str(folder), "DIR") for cell in self.cells) + " |", flush=True)


def main() -> int:
    table = "--table" in sys.argv
    names = [word for word in sys.argv[1:] if word != "--table"] or list(PLACES)
    probe = subprocess.run(["unshare", "-m" if os.geteuid() == 0 else "-Urm", "true"], capture_output=True, text=True)
    if probe.returncode:
        harness.skip_all(f"no mount namespaces here: {probe.stderr.strip()}")
    tap = harness.Tap()
    for name in names:
        with harness.Scratch() as folder:
            Checker(tap, name, table).run(folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
