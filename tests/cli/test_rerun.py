#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`rerun` of a program that really runs: compared while it runs, ended at the first difference, judged by a metric.

usage: test_rerun.py WHEELTAP DIFFERS
"""

from __future__ import annotations

import json
import os
import signal
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


def unmeasured() -> None:
    wheeltap("record", "-q", "-o", "nothing", "--", "/bin/true")
    done = wheeltap("rerun", "nothing", "--yes", "/bin/true")
    tap.check("where nothing was measured no grade is printed", done.returncode == 3 and "NOT MEASURED" in done.stdout and "grade" not in done.stdout, done)


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


def metric_missing() -> None:
    """One rerun that omits it does not undo what the others have shown."""
    command = script(f"echo >>made; test $(wc -l <made) -ne 3 || exec {DIFFERS} 3 3\nexec {DIFFERS} 3 0 some\n")
    Path("some").write_text("".join(f"{value}\n" for value in range(1, 12)))
    wheeltap("record", "-q", "-o", "some-run", "--", *command.split())
    done, said = rerun("some-run", command, "--times", "6", "--metric", "loss")
    tap.equal("five of six are enough", (done.returncode, said["recorded"]), (0, 1), done)
    values = [row["metric"] for row in said["tables"]["tries"]]
    tap.equal("the value that is missing stays empty", values, [2, None, 3, 4, 5, 6], said)
    tap.check("a note says which", any("rerun 2 is left out" in note for note in said["notes"]), said)
    Path("made").write_text("\n")
    done, said = rerun("some-run", command, "--times", "5", "--metric", "loss")
    tap.equal("four are not", (done.returncode, said["status"], len(said["tables"]["tries"]), "low" in said), (3, "different", 5, False), done)
    tap.check("a note says so", any("'loss' was not judged: 4 reruns have it" in note for note in said["notes"]), said)


def script(text: str) -> str:
    Path("again.sh").write_text(text)
    return "sh again.sh"


def waited(name: str, pid: "int | None" = None) -> bool:
    """Until there is such a file, or until the process has ended."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        if not Path(f"/proc/{pid}").exists() if pid else Path(name).exists() and Path(name).read_text().strip():
            return True
        time.sleep(0.05)
    return False


def killed() -> None:
    """Nobody waits for the program any more: it is not left running."""
    command = script("test -e go || exit 0; echo $$ >pid; exec sleep 600\n")
    wheeltap("record", "-q", "-o", "killed", "--", *command.split())
    Path("go").touch()
    judge = subprocess.Popen([WHEELTAP, "rerun", "killed", "--yes", command], env=environment())
    tap.equal("the program runs", waited("pid"), True)
    judge.kill()
    judge.wait(timeout=PATIENCE)
    tap.equal("rerun is killed, and the program ends", waited("", int(Path("pid").read_text())), True)


def group() -> None:
    """A shell that waits for its child passes no signal on to it."""
    command = script("test -e wanted || exit 0; sleep 600 & echo $! >child; wait; exit 0\n")
    wheeltap("record", "-q", "-o", "group", "--", *command.split())
    Path("wanted").touch()
    judge = subprocess.Popen([WHEELTAP, "rerun", "group", "--times", "2", "--yes", command], env=environment(), stderr=subprocess.DEVNULL)
    tap.equal("the child runs", waited("child"), True)
    child = int(Path("child").read_text())
    judge.terminate()
    judge.wait(timeout=PATIENCE)
    ended = waited("", child)
    tap.equal("rerun is ended, and the child ends", ended, True)
    if not ended:
        os.kill(child, signal.SIGKILL)


def parent() -> None:
    """What was set before the exec does not count: the system undoes it for a program with capabilities."""
    Path("parent.sh").write_text(f"{WHEELTAP} record -q --parent $$ -o parent -- sh -c 'echo $$ >alone; exec sleep 600' & wait\n")
    shell = subprocess.Popen(["sh", "parent.sh"], env=environment())
    tap.equal("the program runs", waited("alone"), True)
    shell.kill()
    shell.wait(timeout=PATIENCE)
    tap.equal("the process that started record is killed, and the program ends", waited("", int(Path("alone").read_text())), True)
    done = wheeltap("record", "--parent", "1", "--", "true")
    tap.check("another process than its own is refused", done.returncode == 125 and "'--parent' takes the process" in done.stderr, done)


def stopped() -> None:
    """As at a terminal, whose shell waits for rerun alone."""
    command = script("test -e halt || exit 0; kill -TSTP $$\n")
    wheeltap("record", "-q", "-o", "stopped", "--", *command.split())
    Path("halt").touch()
    judge = subprocess.Popen([WHEELTAP, "rerun", "stopped", "--yes", command], env=environment(), stderr=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
    limit, status = time.monotonic() + PATIENCE / 10, 0
    while not status and time.monotonic() < limit:
        status = os.waitpid(judge.pid, os.WNOHANG | os.WUNTRACED)[1]
        time.sleep(0.05)
    tap.check("the program stops, and so does rerun", os.WIFSTOPPED(status), status)
    os.kill(judge.pid, signal.SIGCONT)
    tap.equal("both go on", judge.wait(timeout=PATIENCE), 3)


def children(pid: int) -> "list[tuple[str, int]]":
    """State and number of each."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state, parent_pid = (process / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(parent_pid) == pid:
            found.append((state, int(process.name)))
    return found


def continued() -> None:
    """A stop of the whole group is over when rerun is continued: it does not stop again because record has stopped, too."""
    command = script("test -e hold || exit 0; echo $$ >held; until test -e release; do sleep 0.05; done\n")
    wheeltap("record", "-q", "-o", "continued", "--", *command.split())
    Path("hold").touch()
    judge = subprocess.Popen([WHEELTAP, "rerun", "continued", "--yes", command], env=environment(), stderr=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
    tap.equal("the program runs", waited("held"), True)
    os.killpg(judge.pid, signal.SIGTSTP)
    tap.check("rerun stops", os.WIFSTOPPED(os.waitpid(judge.pid, os.WUNTRACED)[1]))
    limit = time.monotonic() + PATIENCE
    while [state for state, _ in children(judge.pid)] != ["T"] and time.monotonic() < limit:
        time.sleep(0.05)
    Path("release").touch()
    os.kill(judge.pid, signal.SIGCONT)
    status = os.waitpid(judge.pid, os.WUNTRACED)[1]
    tap.check("it goes on to its end", os.WIFEXITED(status), status)
    if os.WIFSTOPPED(status):
        os.kill(judge.pid, signal.SIGCONT)
        judge.wait(timeout=PATIENCE)


def interrupted() -> None:
    command = script("test -e stop && kill -INT $$\nexit 0\n")
    wheeltap("record", "-q", "-o", "int", "--", *command.split())
    Path("stop").touch()
    done, said = rerun("int", command, "--times", "3", "--emit", "repro.py")
    tap.equal("it is not run again", len(said["tables"]["tries"]), 1, said)
    tap.equal("and counted once", said["times"], 1, said)
    tap.check("a note says why", any("was interrupted" in note for note in said["notes"]), said)
    tap.check("and that no program was written", any("nothing was written to 'repro.py'" in note for note in said["notes"]), said)
    done = wheeltap("record", "-q", "-o", "always", "--", *command.split())
    tap.equal("one that always ends so is", len(rerun("always", command, "--times", "2")[1]["tables"]["tries"]), 2)


def narrowing_interrupted() -> None:
    Path("lines").write_text("1\n" * 9)
    command = script(f"echo >>count; test $(wc -l <count) -ge 3 && kill -INT $$\n{DIFFERS} 3 0 lines\n")
    wheeltap("record", "-q", "-o", "narrowed", "--", *command.split())
    done, said = rerun("narrowed", command, "--narrow")
    tap.equal("what the rerun has shown is printed", (done.returncode, said["status"]), (1, "different"), done)
    tap.check("a note says why it was not narrowed", any("not narrowed" in note for note in said["notes"]), said)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in (unmeasured, while_it_runs, the_same, metric, metric_missing, killed, group, parent, stopped, continued, interrupted, narrowing_interrupted):
            tap.case(case.__name__, case)
        os.chdir("/")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
