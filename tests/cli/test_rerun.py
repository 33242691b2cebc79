#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`rerun` of a program that really runs: compared while it runs, ended at the first difference, judged by a metric.

usage: test_rerun.py WHEELTAP DIFFERS
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE, Tap, environment  # noqa: E402

WHEELTAP, DIFFERS = (os.path.abspath(word) for word in sys.argv[1:3])
tap = Tap()


def wheeltap(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([WHEELTAP, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment(), timeout=PATIENCE)


def rerun(run: str, command: str, *words: str) -> "tuple[subprocess.CompletedProcess[str], dict[str, Any]]":
    done = wheeltap("rerun", run, "--json", *words, "--yes", command)
    return done, json.loads(done.stdout)


def ended(recorder: "subprocess.Popen[bytes]", run: str) -> bool:
    """The program, once all of its steps are in the trace: then it only waits."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        seen = subprocess.run([WHEELTAP, "view", run, "--step", "39", "--jsonl", "--kind", "tensor"], capture_output=True, text=True)
        if seen.stdout.strip():
            recorder.terminate()
            recorder.wait(timeout=PATIENCE)
            return True
        time.sleep(0.1)
    recorder.kill()
    return False


def while_it_runs() -> None:
    """Its rerun would go on for ten minutes if nobody ended it."""
    command = f"{DIFFERS} 40 20"
    recorder = subprocess.Popen([WHEELTAP, "record", "-q", "-o", "run", "--", *command.split()], env=environment())
    tap.equal("the recorded run is ended", ended(recorder, "run"), True)
    done, said = rerun("run", command, "--stop", "--no-narrow")
    tap.equal("it differs", (done.returncode, said["status"]), (1, "different"), done)
    tap.equal("from the step on in which it does", said["tables"]["first"][0]["step"], 20, said)
    tap.check("that was printed while it ran", "the program is ended (--stop)" in done.stderr, done)
    tap.check("and when", said["tables"]["tries"][0]["seen_ns"] > 0, said)
    tap.check("a note says why it ended", any("ended when a difference was seen" in note for note in said["notes"]), said)


def the_same() -> None:
    """Long enough for several looks."""
    command = f"{DIFFERS} 300 300"
    wheeltap("record", "-q", "-o", "same", "--", *command.split())
    done, said = rerun("same", command, "--stop")
    tap.equal("nothing differs, and nothing is ended", (done.returncode, said["status"], said["grade"]), (0, "identical", "R1"), done)
    tap.equal("nothing is printed on the way", done.stderr, "")


def metric() -> None:
    command = f"{DIFFERS} 3 0 values"
    for name, first, grade, code in (("like", 1.5, "R4", 0), ("unlike", 100.0, "R0", 1)):
        Path("values").write_text("".join(f"{value}\n" for value in (first, 1, 2, 3, 4, 5)))
        wheeltap("record", "-q", "-o", name, "--", *command.split())
        done, said = rerun(name, command, "--times", "5", "--metric", "loss")
        tap.equal(f"a value {name} those of the reruns", (done.returncode, said["grade"], said["recorded"]), (code, grade, first), done)
        # By scipy: mean 3, t.ppf(0.975, 4) * sqrt(2.5 * (1 + 1 / 5))
        tap.equal("the interval", (round(said["low"], 6), round(said["high"], 6)), (-1.808944, 7.808944), said)
        tap.equal("the value of each", [row["metric"] for row in said["tables"]["tries"]], [1, 2, 3, 4, 5], said)
    Path("values").write_text("1\n" * 9)
    for words, wanted in ((("--times", "4", "--metric", "loss"), "at least 5 reruns"), (("--times", "5", "--metric", "los"), "no metric 'los'"),
                          (("--times", "5", "--metric", "loss", "--stop"), "give one of them")):
        done = wheeltap("rerun", "like", *words, "--yes", command)
        tap.check(f"refused: {' '.join(words)}", done.returncode in (2, 3) and wanted in done.stderr, done)
    tap.equal("and nothing was run", Path("values").read_text(), "1\n" * 9)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in (while_it_runs, the_same, metric):
            tap.case(case.__name__, case)
        os.chdir("/")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
