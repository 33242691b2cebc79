#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Faults at random moments, many times over: the short form is a test, the long one is `make soak`.

usage: campaign.py BUILD kill_program|kill_recorder|stop_recorder|fill_disk TIMES [SEED]
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

os.environ["WHEELTAP_BUILD"] = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import programs  # noqa: E402

LINES = 200
EVENTS = LINES * 1001 + 3  # and its process, and the begin and the end of its thread
MILLISECONDS = 300
STATUS = 41
OUT = b"".join(b"line %d of the output\n" % i for i in range(LINES))
ERR = b"".join(b"error line %d\n" % i for i in range(0, LINES, 10))


def kill_program(scratch: Path, chance: random.Random) -> str:
    """The program is killed with -9: the trace holds every event that its shared counters say was published."""
    counters, run, threads = scratch / "counters", scratch / "run", chance.choice([1, 1, 2, 3])
    recorder = harness.start(run, programs.PUBLISHER, str(counters), str(threads))
    pid = harness.wait_for(lambda: harness.program_of(recorder.pid, "record_publish"))
    size = threads * 64
    harness.wait_for(lambda: counters.stat().st_size == size and
                     all(struct.unpack_from("<Q", counters.read_bytes(), 64 * i)[0] for i in range(threads)))
    time.sleep(chance.uniform(0, 0.15))
    harness.kill(pid)
    _, said = recorder.communicate(timeout=harness.PATIENCE)
    assert recorder.returncode == 128 + signal.SIGKILL, f"status {recorder.returncode}: {said!r}"
    published = sum(struct.unpack_from("<Q", counters.read_bytes(), 64 * i)[0] for i in range(threads))
    found = [t for t in programs.tracks(run) if int(t["marks"])]
    by_tid = sorted(struct.unpack_from("<Q", counters.read_bytes(), 64 * i)[0] for i in range(threads))
    # A mark may be out whose emit had not returned yet; so each thread's marks are its count or one more.
    marks = sorted(int(t["marks"]) for t in found)
    assert len(marks) == threads and all(t["broken"] == "False" for t in found), f"{found}"
    for have, want in zip(marks, by_tid):
        assert want <= have <= want + 1, f"published {by_tid}, in the trace {marks}"
    status = harness.described(run)["status"]
    assert status == "killed", status
    return f"{published} published, all there"


def environment(scratch: Path) -> dict[str, str]:
    return {**os.environ, "TALKER_DONE": str(scratch / "done")}


def check_talk(scratch: Path, out: bytes, err: bytes) -> None:
    done = scratch / "done"
    harness.wait_for(done.exists)
    assert harness.wait_for(lambda: done.read_text()) == f"{STATUS}\n"
    assert out == OUT, f"standard output differs: {len(out)} bytes of {len(OUT)}"
    assert err.startswith(ERR), f"standard error differs: {err[:200]!r}"


def wait_for_talker(recorder: subprocess.Popen[bytes], scratch: Path) -> int:
    """Its process once it runs; 0 if it was over before anybody looked, as on a busy machine."""
    pid = harness.wait_for(lambda: harness.program_of(recorder.pid, "record_talker") or (scratch / "done").exists() and -1)
    return max(pid, 0)


def kill_recorder(scratch: Path, chance: random.Random) -> str:
    """The recorder is killed: the program goes on to its end, its output and status as ever."""
    run = scratch / "run"
    recorder = harness.start(run, programs.TALKER, str(LINES), str(STATUS), str(MILLISECONDS),
                             env=environment(scratch))
    wait_for_talker(recorder, scratch)
    time.sleep(chance.uniform(0, MILLISECONDS / 1000))
    harness.kill(recorder.pid)
    out, err = recorder.communicate(timeout=harness.PATIENCE)  # ends with the relay, that is with the program
    check_talk(scratch, out, err)
    listed = subprocess.run([harness.WHEELTAP, "info", str(run), "--json"], stdout=subprocess.PIPE, timeout=harness.PATIENCE)
    if recorder.returncode == STATUS:
        return "was done before it could be killed"
    # Killed after its last word and before its end, it leaves the run as it should be.
    # Killed while it wrote, it leaves a block that is cut, which is reported; all before it is there.
    said = json.loads(listed.stdout)
    is_cut = any("cut in the middle of the block" in note for note in said["notes"])
    assert listed.returncode == (3 if is_cut else 0) and said["status"] in ("abandoned", "failed"), (listed.returncode, listed.stdout)
    return "the program finished"


def stop_recorder(scratch: Path, chance: random.Random) -> str:
    """The recorder is stopped, and only goes on when the program has long ended."""
    run = scratch / "run"
    recorder = harness.start(run, programs.TALKER, str(LINES), str(STATUS), str(MILLISECONDS),
                             env=environment(scratch))
    pid = wait_for_talker(recorder, scratch)
    time.sleep(chance.uniform(0, MILLISECONDS / 1000))
    harness.kill(recorder.pid, signal.SIGSTOP)
    if pid:
        harness.wait_for(lambda: not harness.alive(pid))  # while nobody reads its events
    assert (scratch / "done").read_text() == f"{STATUS}\n"
    harness.kill(recorder.pid, signal.SIGCONT)
    out, err = recorder.communicate(timeout=harness.PATIENCE)
    assert recorder.returncode == STATUS, f"status {recorder.returncode}"
    check_talk(scratch, out, err)
    programs.tracks(run)
    return "the program finished, the recorder after it"


def fill_disk(scratch: Path, chance: random.Random) -> str:
    """The disk of the run is filled up: the program ends as ever, and the trace is whole up to there."""
    disk = scratch / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(disk)], stderr=subprocess.DEVNULL)
    if mounted.returncode:
        harness.skip("a small file system needs root (mount)")
    try:
        return fill_mounted(scratch, disk, chance)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def fill_mounted(scratch: Path, disk: Path, chance: random.Random) -> str:
    run = disk / "run"
    recorder = harness.start(run, programs.TALKER, str(LINES), str(STATUS), str(MILLISECONDS),
                             env=environment(scratch))
    wait_for_talker(recorder, scratch)
    time.sleep(chance.uniform(0, MILLISECONDS / 1000))
    try:
        with open(disk / "filler", "wb", buffering=0) as filler:
            while filler.write(b"x" * 65536):
                pass
    except OSError:
        pass
    out, err = recorder.communicate(timeout=harness.PATIENCE)
    assert recorder.returncode == STATUS, f"status {recorder.returncode}"
    check_talk(scratch, out, err)
    run_json = harness.described(run)
    assert run_json["status"] == "failed", run_json["status"]
    there = sum(int(t["events"]) for t in programs.tracks(run, "cut") if t["file"] != "0000.wt" and t["track"] != "0")
    assert there + run_json["lost"] == EVENTS, f"{there} events and {run_json['lost']} lost are not {EVENTS}"
    return "ended early and said so" if run_json["trouble"] else "was done before the disk was full"


def main() -> None:
    what = {f.__name__: f for f in (kill_program, kill_recorder, stop_recorder, fill_disk)}[sys.argv[2]]
    times = int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f"{sys.argv[2]}: {times} times, seed {seed}", flush=True)
    for i in range(times):
        with harness.Scratch() as scratch:
            said = what(scratch, chance)
        if times <= 20 or i % 10 == 9:
            print(f"{i + 1}: {said}", flush=True)
    print(f"{sys.argv[2]}: {times} of {times} as they should be")


if __name__ == "__main__":
    main()
