#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`record --runs` and `record --noise`: sets of runs, what fails in them, what is refused, and noise that a seed repeats.

usage: sets.py WHEELTAP CALLS ARRAYS [CASE]...
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Tap  # noqa: E402


class World:
    def __init__(self, wheeltap: str, calls: str, arrays: str, folder: str) -> None:
        self.wheeltap, self.calls, self.arrays, self.folder = wheeltap, calls, arrays, Path(folder)
        self.env = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "WHEELTAP_AGENT")}
        self.env["WHEELTAP_HOME"] = str(self.folder / "home")

    def run(self, *words: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        with open(stdin or os.devnull) as given:
            return subprocess.run([self.wheeltap, *words], env=self.env, cwd=self.folder, stdin=given, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE)

    def set(self, name: str) -> dict:
        return json.loads((self.folder / name / "set.json").read_text())

    def console(self, run: str) -> str:
        path = self.folder / run / "console.log"
        return path.read_text() if path.exists() else ""


def test_set(w: World) -> None:
    """Each run has its folder and its output; the first one's is ours; all read the same input."""
    (w.folder / "in").write_text("given\n")
    done = w.run("record", "--runs", "3", "--noise", "rr", "--seed", "5", "-o", "s", "--", "sh", "-c", "cat; echo said", stdin=str(w.folder / "in"))
    assert (done.returncode, done.stdout) == (0, "given\nsaid\n"), done
    assert "3 of 3 runs in s" in done.stderr, done.stderr
    assert [w.console(f"s/0{i}") for i in (1, 2, 3)] == ["given\nsaid\n"] * 3
    described = w.set("s")
    assert (described["noise"], described["seed"], described["status"], described["runs_wanted"]) == ("rr", "5", "finished", 3)
    assert [(run["folder"], run["status"], run["exit_code"]) for run in described["runs"]] == [(f"0{i}", "finished", 0) for i in (1, 2, 3)]
    assert len({run["seed"] for run in described["runs"]}) == 3
    own = json.loads((w.folder / "s/02/run.json").read_text())["config"]
    assert (own["noise"], own["noise_seed"]) == ("rr", described["runs"][1]["seed"]), own


def test_seed(w: World) -> None:
    """The same seed gives the same numbers; each run has its own; --noise-run repeats one of them alone."""
    program = [w.calls, "threads", "2"]
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert w.run("record", "--runs", "3", "--noise", "rr:30", "--seed", seed, "-o", name, "--", *program).returncode == 0
    bare = subprocess.run(program, env=w.env, stdout=subprocess.PIPE, text=True).stdout
    texts = {(name, i): w.console(f"{name}/0{i}") for name in "abc" for i in (1, 2, 3)}
    assert all(texts["a", i] == texts["b", i] for i in (1, 2, 3))
    assert len({*texts.values(), bare}) == 7
    assert w.run("record", "--noise", "rr:30", "--seed", "1", "--noise-run", "3", "-q", "--", *program).stdout == texts["a", 3]
    assert w.run("record", "--noise", "rr:30", "--noise-libm", "off", "-q", "--", *program).stdout == bare
    assert w.run("record", "--runs", "2", "-q", "--", *program).stdout == bare


def test_arrays(w: World) -> None:
    bare = subprocess.run([w.arrays], env=w.env, stdout=subprocess.PIPE, text=True).stdout.split()
    assert bare[0] == "0"

    def recorded(*options: str) -> list[str]:
        return w.run("record", "-q", *options, "--", w.arrays).stdout.split()

    assert recorded() == bare
    noisy = recorded("--noise", "rr:20")
    assert noisy[0] == "1" and recorded("--noise", "rr:20") == noisy
    assert [value == was for value, was in zip(noisy[1:], bare[1:], strict=True)] == [True, False, False] * 2, (noisy, bare)
    assert recorded("--noise", "rr:20", "--seed", "9") != noisy
    assert recorded("--noise", "rr:20", "--noise-only", "client.other") == bare
    assert recorded("--noise", "rr:20", "--noise-only", "client.num*") == noisy


def test_failing(w: World) -> None:
    """One run fails: it is noted, the others go on, and the status is its own."""
    script = 'test "$(ls -d s/0* | wc -l)" = 2 && exit 7; exit 0'
    done = w.run("record", "--runs", "4", "--jobs", "1", "-o", "s", "--", "sh", "-c", script)
    assert done.returncode == 7, done
    assert "run 02 failed with status 7" in done.stderr and "4 of 4 runs" in done.stderr, done.stderr
    assert [run["exit_code"] for run in w.set("s")["runs"]] == [0, 7, 0, 0]
    assert w.set("s")["status"] == "failed"
    gone = w.run("record", "--runs", "3", "-o", "t", "--", "/nonexistent")
    assert gone.returncode == 127 and gone.stderr.count("no such program") == 1, gone
    assert not (w.folder / "t").exists()


def test_interrupted(w: World) -> None:
    """Those that have ended are kept; the one that runs is ended; no more are started."""
    with subprocess.Popen([w.wheeltap, "record", "--runs", "9", "--jobs", "1", "-o", "s", "--", "sh", "-c",
                           'test -e s/02 && touch started && exec sleep 1000; exit 0'], env=w.env, cwd=w.folder, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)) as process:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not (w.folder / "started").exists():
            time.sleep(.05)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0, said
    described = w.set("s")
    assert described["status"] == "interrupted" and len(described["runs"]) == 2, described
    assert described["runs"][0]["exit_code"] == 0 and described["runs"][1]["exit_code"] != 0, described


def test_until(w: World) -> None:
    done = w.run("record", "--runs", "40", "--until-bits", "1.2", "--json", "-o", "s", "--", "true")
    assert done.returncode == 0, done
    assert len(json.loads(done.stderr)["runs"]) == 5  # 1/4 log2(11.14 / 0.484) = 1.13
    done = w.run("record", "--runs", "40", "--until-bits", "1.2", "-o", "t", "--", "true")
    assert "known to 1.2 bits after 5 runs: no more were started" in done.stderr and "5 of 40 runs in t;" in done.stderr, done


def test_found(w: World) -> None:
    """ls, info, latest, clean know a set; whoever wants a run is told to give one of its runs."""
    assert w.run("record", "--runs", "2", "--noise", "rr:24", "-n", "mine", "--", "true").returncode == 0
    listed = w.run("ls").stdout.splitlines()
    assert listed[0].split()[:3] == ["run", "runs", "status"] and listed[1].split()[1:3] == ["2", "finished"], listed
    for word in ("mine", "latest"):
        shown = w.run("info", word)
        assert shown.returncode == 0 and "rr:24" in shown.stdout and "02   finished" in shown.stdout, shown
        for verb in ("doctor", "view", "stat"):
            told = w.run(verb, word)
            assert told.returncode == 2 and "is a set of 2 runs: give one of them" in told.stderr and "/01'" in told.stderr, told
    name = next((w.folder / "home").iterdir()).name
    assert w.run("view", f"{name}/02").returncode == 0
    again = w.run("record", "--runs", "2", "-o", f"home/{name}", "--", "true")
    assert again.returncode == 125 and "not empty" in again.stderr, again
    assert w.run("record", "--runs", "3", "-o", f"home/{name}", "--force", "--", "true").returncode == 0
    (w.folder / "home" / name / "02" / "notes.txt").write_text("mine")
    assert "notes.txt" in w.run("record", "--runs", "2", "-o", f"home/{name}", "--force", "--", "true").stderr
    (w.folder / "home" / name / "02" / "notes.txt").unlink()
    assert w.run("clean", "--yes", name).returncode == 0
    assert not (w.folder / "home" / name).exists()


def test_damaged(w: World) -> None:
    """A set.json that is none is no set, and nothing worse."""
    for text in ("", "{", "[]", '{"set": 2, "status": "finished"}', '{"set": 1}', '{"set": 1, "status": 3}', '{"set": 1, "status": "x", "runs": 7}',
                 '{"set":1,"status":"finished","command":7,"runs":[7,{},{"folder":9,"seed":[],"exit_code":"x"}],"runs_wanted":-3,"seed":"x"}'):
        (w.folder / "s").mkdir(exist_ok=True)
        (w.folder / "s/set.json").write_text(text)
        for verb in ("info", "doctor"):
            done = w.run(verb, "s")
            assert done.returncode in (0, 2, 3, 4), (text, done)


def test_refused(w: World) -> None:
    cases = {
        "--runs 1 --noise rr": "give --runs 2 or more",
        "--runs 1000 --noise rr": "at most 999",
        "--runs 2 --noise rr:53": "1 to 52 bits",
        "--runs 2 --noise rr:0": "1 to 52 bits",
        "--noise ieee": "give rr, pb, mca",
        "--noise sr": "such as --noise sr:8",
        "--seed 4": "give --noise rr, too",
        "--jobs 2": "give --runs, too",
        "--until-bits 1": "give --runs, too",
        "--runs 2 --until-bits zero": "such as 0.5",
        "--elements none": "or all",
        "--noise rr --elements none": "or all",
        "--runs 2 --report x.csv": "'--report' is of one run",
        "--noise rr --noise-run 0": "counts from 1",
    }
    for options, expected in cases.items():
        done = w.run("record", *options.split(), "--", "true")
        assert done.returncode == 125 and expected in done.stderr and done.stderr.count("\n") == 1, (options, done)
    attached = w.run("record", "--attach", "1", "--runs", "3")
    assert attached.returncode == 125 and "leave '--runs' away" in attached.stderr, attached
    assert not (w.folder / "home").exists()


def main() -> int:
    wheeltap, calls, arrays = (str(Path(word).absolute()) for word in sys.argv[1:4])
    tap = Tap()
    for name, test in list(globals().items()):
        if name.startswith("test_") and (len(sys.argv) == 4 or name[5:] in sys.argv[4:]):
            with tempfile.TemporaryDirectory() as folder:
                tap.case(name[5:], test, World(wheeltap, calls, arrays, folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
