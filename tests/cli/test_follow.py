#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""view --follow on a run that goes on: every event once, in order, before the run is over.

The program stops half way until it has been seen that far, so that no event comes early by chance.

usage: test_follow.py WHEELTAP SLOW_MARKS
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, environment, wait_for  # noqa: E402

EARLY = 40  # of the 52 events that are emitted before the run goes on


def check_beginning(program: Path, folder: Path) -> None:
    """Followed from the moment on in which the recorder has claimed the folder: an empty run.json, and no stream yet."""
    run = Path(folder, "begins")
    subprocess.run([program, "sim", "-n", "200", "-o", run], check=True, capture_output=True, timeout=PATIENCE)
    streams = {path: path.read_bytes() for path in run.glob("*.wt")}
    described = (run / "run.json").read_text()
    assert '"finished"' in described, described
    running = described.replace('"finished"', '"running"')
    for path in streams:
        path.unlink()
    (run / "run.json").write_text("")
    recorder = os.open(run, os.O_RDONLY)
    fcntl.flock(recorder, fcntl.LOCK_EX)
    follower = subprocess.Popen([program, "view", "--follow", "--jsonl", "--all", run], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)  # of no importance, but that it comes first
    for text in ("", running):
        for path, data in streams.items():
            path.write_bytes(data)
        time.sleep(0.5)
        (run / "run.json.next").write_text(text)
        (run / "run.json.next").rename(run / "run.json")
    (run / "run.json.next").write_text(described)
    (run / "run.json.next").rename(run / "run.json")
    os.close(recorder)
    out, err = follower.communicate(timeout=PATIENCE)
    assert follower.returncode == 0 and not err, (follower.returncode, err)
    assert len(out.splitlines()) >= 200, out
    # Without a recorder it is damage, which is said.
    (run / "run.json").write_text("")
    done = subprocess.run([program, "view", "--follow", run], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 3 and "run.json" in done.stderr, done


def main() -> int:
    program, slow_marks = (Path(word).resolve() for word in sys.argv[1:3])
    with Scratch() as folder:
        check_beginning(program, folder)
        env = environment(WHEELTAP_HOME=str(folder))
        recorder = subprocess.Popen([program, "record", "-o", f"{folder}/run", "--", slow_marks], env=env,
                                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: (folder / "run" / "run.json").stat().st_size)  # empty at first
        follower = subprocess.Popen([program, "view", "--follow", "--jsonl", "--kind", "mark", "run"], env=env,
                                    stdout=subprocess.PIPE, text=True)
        assert follower.stdout is not None and recorder.stdin is not None
        hung = threading.Timer(PATIENCE, follower.kill)
        hung.start()
        events = []
        for line in follower.stdout:
            events.append(json.loads(line))
            if len(events) == EARLY:
                recorder.stdin.close()
        recorder.stdin.close()
        hung.cancel()
        assert follower.wait(timeout=PATIENCE) == 0 and recorder.wait(timeout=PATIENCE) == 0
        done = subprocess.run([program, "view", "--jsonl", "--kind", "mark", "run"], env=env, capture_output=True, text=True,
                              check=True, timeout=PATIENCE)
    later = [json.loads(line) for line in done.stdout.splitlines()]
    seen = [(e["fields"]["name"], e["fields"]["value"]) for e in events]
    assert sorted(seen) == sorted((name, i) for name in ("main", "other") for i in range(50)), seen
    assert [e["time_ns"] for e in events] == sorted(e["time_ns"] for e in events), "out of order"
    assert seen == [(e["fields"]["name"], e["fields"]["value"]) for e in later], "not the order of a later look"
    return 0


if __name__ == "__main__":
    sys.exit(main())
