#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Assertions of gate: each type with a run in which it holds, one in which it does not, and one that cannot tell.

usage: test_gate.py WHEELTAP SUBJECT
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Bench, need_system_calls  # noqa: E402

WHEELTAP, SUBJECT = (str(Path(word).resolve()) for word in sys.argv[1:3])


class Recorder:
    """Runs of the subject, each recorded once for all tests."""

    def __init__(self, folder: Path) -> None:
        self.bench = Bench(WHEELTAP, folder, ("--syscalls",))
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / "data.bin").write_bytes(bytes(4096))
        self.runs: dict[tuple[str, ...], str] = {}
        self.alike: list[str] = []

    def fresh(self, *acts: str, options: tuple[str, ...] | None = None) -> str:
        return str(self.bench.record(SUBJECT, *acts, cwd=self.work, options=options))

    def same(self) -> list[str]:
        """Six runs of the same."""
        while len(self.alike) < 6:
            self.alike.append(self.fresh())
        return self.alike

    def run(self, *acts: str) -> str:
        if acts not in self.runs:
            self.runs[acts] = self.fresh(*acts)
        return self.runs[acts]


# Not below /tmp, where everything is called $TMP/...: what lies beside the working directory is $CWD/../...
FOLDER = tempfile.TemporaryDirectory(prefix="wheeltap-gate-", dir=Path.cwd())
RECORDER: Recorder


class Gate(unittest.TestCase):
    def write(self, text: str) -> str:
        path = Path(FOLDER.name) / "gate.toml"
        path.write_text(text)
        return str(path)

    def gate(self, text: str, *runs: str) -> tuple[int, list[dict[str, Any]]]:
        code, result = RECORDER.bench.json("gate", "-c", self.write(text), *runs)
        self.assertNotEqual(result["status"], "error", result)
        return code, result["tables"]["assertions"]

    def outcome(self, body: str, *acts: str, kind: str = "gate") -> tuple[int, str, str]:
        """Of one assertion about one run: exit code, outcome, what it says."""
        code, rows = self.gate(f"[[{kind}]]\nname = \"it\"\n{body}", RECORDER.run(*acts))
        self.assertEqual(len(rows), 1)
        return code, rows[0]["outcome"], rows[0]["actual"] + rows[0]["why"]

    def check(self, body: str, acts: tuple[str, ...], code: int, words: str = "", kind: str = "gate") -> None:
        outcomes = {0: "held", 1: "violated", 3: "not_measured"}
        got = self.outcome(body, *acts, kind=kind)
        self.assertEqual(got[:2], (code, outcomes[code]), got)
        self.assertIn(words, got[2])

    # ---- Numbers

    def test_duration(self) -> None:
        self.check('type = "duration"\nmax = "1h"', (), 0)
        self.check('type = "duration"\nmax = "2ms"', (), 1)
        self.check('type = "duration"\nmin = 3600', (), 1)
        self.check('type = "duration"\nof = "step"\nmax = "60s"', (), 0)
        self.check('type = "duration"\nof = "step"\nmax = "0.5ms"', (), 1, "a step")
        self.check('type = "duration"\nspan = "nothing"\nmax = "1s"', (), 3, "no span")
        self.check('type = "duration"\nspan = "preadv"\nmax = "60s"', (), 0)
        self.check('type = "duration"\nspan = "*nanosleep"\nmax = "0.5ms"', (), 1)

    def test_count(self) -> None:
        opens = 'type = "count"\ncall = "openat"\nper = "step"\nmax = 0'
        self.check(opens, (), 0)
        self.check(opens, ("open-often",), 1, "1 in a step")
        self.check('type = "count"\ncall = "%file"\nerrors = true\nper = "step"\nmax = 0', (), 0)
        self.check('type = "count"\ncall = "%file"\nerrors = true\nper = "step"\nmax = 0', ("fail-often",), 1)
        self.check('type = "count"\ncall = "preadv"\nmin = 20\nmax = 20', ("open-often",), 0)
        self.check('type = "count"\ncall = "preadv"\nmin = 21', (), 1, "20")
        self.check('type = "count"\ncall = "fsync"\nstage = "save"\nmin = 1', (), 0)
        self.check('type = "count"\ncall = "fsync"\nstage = "train"\nmin = 1', (), 1, "0")
        self.check('type = "count"\ncall = "fsync"\nstage = "eval"\nmax = 1', (), 3, "no stage")
        self.check('type = "count"\ncall = "mknod"\nmax = 1', (), 3, "no call of 'mknod'")
        self.check('type = "count"\ncall = "mknod"\nmax = 1\nmay_be_absent = true', (), 0)
        self.check('type = "count"\ncall = "mknod"\nmin = 1\nmay_be_absent = true', (), 1)

    def test_count_of_files(self) -> None:
        opens = 'type = "count"\nfile = "$CWD/data.bin"\ncall = "openat"\n'
        self.check(opens + "max = 1", (), 0)
        self.check(opens + "max = 1", ("open-often",), 1, "21")
        self.check(opens + 'per = "step"\nmax = 0', (), 0)
        self.check(opens + 'per = "step"\nmax = 0', ("open-often",), 1)
        self.check('type = "count"\nfile = "$CWD/other"\nmax = 1', (), 3, "no file '$CWD/other'")
        self.check('type = "count"\nfile = "$CWD/other"\nmax = 1\nmay_be_absent = true', (), 0)

    def test_bytes(self) -> None:
        self.check('type = "bytes"\nof = "read"\nfile = "$CWD/data.bin"\nmax = "80k"', (), 0)
        self.check('type = "bytes"\nof = "read"\nfile = "$CWD/data.bin"\nmax = 81919', (), 1, "81920")
        self.check('type = "bytes"\nof = "written"\nstage = "save"\nmax = "4k"\nmin = "4k"', (), 0)
        self.check('type = "bytes"\nof = "read"\nper = "step"\nmin = 4096\nmax = 4096', (), 0)
        self.check('type = "bytes"\nof = "read"\nper = "step"\nmax = 4095', (), 1)
        self.check('type = "bytes"\nof = "written"\nfile = "$CWD/none"\nmax = 1', (), 3)

    def test_memory(self) -> None:
        self.check('type = "memory"\nof = "peak_rss"\nmax = "250M"', (), 0)
        self.check('type = "memory"\nof = "peak_rss"\nmax = "250M"', ("memory",), 1, "resident")
        self.check('type = "memory"\nof = "mapped"\nmax = "100M"', (), 0)
        self.check('type = "memory"\nof = "mapped"\nmax = "100M"', ("memory",), 1)
        self.check('type = "memory"\nof = "faults"\nmax = 20000', (), 0)
        self.check('type = "memory"\nof = "faults"\nmax = 20000', ("memory",), 1, "page faults")

    def test_memory_below_the_recorders(self) -> None:
        """What Linux counted may be the recorder's; which of the two is larger differs from machine to machine."""
        run = Path(FOLDER.name) / "small"
        shutil.copytree(RECORDER.run(), run)
        described = json.loads((run / "run.json").read_text())
        body = '[[gate]]\ntype = "memory"\nof = "peak_rss"\nmax = "1k"\n'
        for floor, expected in ((described["memory_peak_bytes"], (3, "not_measured")), (4096, (1, "violated"))):
            (run / "run.json").write_text(json.dumps({**described, "memory_floor_bytes": floor}))
            code, rows = self.gate(body, str(run))
            self.assertEqual((code, rows[0]["outcome"]), expected, rows)
            self.assertEqual("recorder's" in rows[0]["why"], code == 3, rows)

    # ---- Effects

    def test_forbidden(self) -> None:
        self.check('type = "forbidden"\neffect = "network"', (), 0, "none")
        self.check('type = "forbidden"\neffect = "network"', ("connect",), 1, "127.0.0.1:9")
        self.check('type = "forbidden"\neffect = "network"\nallow = "127.0.0.1:*"', ("connect",), 0)
        self.check('type = "forbidden"\neffect = "exec"', (), 0, "none")
        self.check('type = "forbidden"\neffect = "exec"', ("execute",), 1, "true")
        self.check('type = "forbidden"\neffect = ["exec", "network"]\nallow = ["true"]', ("execute",), 0)
        self.check('type = "forbidden"\neffect = "write"\noutside = "$CWD"', (), 0)
        self.check('type = "forbidden"\neffect = "write"\noutside = "$CWD"', ("outside",), 1, "/outside.txt")
        self.check('type = "forbidden"\neffect = "write"', (), 1, "$CWD/model.bin")
        self.check('type = "forbidden"\neffect = "write"\nallow = "*/model.bin"', (), 0)

    def test_required(self) -> None:
        both = 'type = "required"\nfile = "$CWD/model*"\neffect = ["fsync", "atomic_rename"]'
        self.check(both, (), 0)
        self.check(both, ("no-fsync",), 1, "renamed before it was synced")
        self.check(both, ("in-place",), 1, "written in place")
        self.check(both, ("no-save",), 3, "no written file '$CWD/model*'")
        self.check(both + "\nmay_be_absent = true", ("no-save",), 0)

    def test_narrow_recording(self) -> None:
        run = RECORDER.fresh("connect", options=("--syscalls=openat",))
        code, rows = self.gate('[[gate]]\ntype = "forbidden"\neffect = "network"\n'
                               '[[gate]]\ntype = "count"\ncall = "openat"\nmax = 1000\n', run)
        self.assertEqual((code, [row["outcome"] for row in rows]), (3, ["not_measured", "held"]), rows)
        without = RECORDER.fresh(options=())
        code, rows = self.gate('[[gate]]\ntype = "count"\ncall = "openat"\nmax = 1000\n', without)
        self.assertEqual((code, rows[0]["outcome"]), (3, "not_measured"))

    def test_run_that_ended_early(self) -> None:
        run = f"{FOLDER.name}/killed"
        RECORDER.bench.call("record", "--syscalls", "-o", run, "--", SUBJECT, "die", cwd=RECORDER.work)
        code, rows = self.gate('[[gate]]\ntype = "duration"\nmax = 3600\n'
                               '[[gate]]\ntype = "forbidden"\neffect = "network"\n', run)
        self.assertEqual((code, [row["outcome"] for row in rows]), (3, ["not_measured"] * 2), rows)
        self.assertIn("killed", rows[0]["why"])

    def test_program_that_failed(self) -> None:
        """What holds after an error in the middle may hold because of it, but what is violated is."""
        run = f"{FOLDER.name}/crashed"
        done = RECORDER.bench.call("record", "--syscalls", "-o", run, "--", SUBJECT, "crash", cwd=RECORDER.work)
        self.assertEqual(done.returncode, 1, done.stderr)
        bodies = ('type = "duration"\nmax = 3600\n', 'type = "forbidden"\neffect = "network"\n', 'type = "rule"\ncode = "WT-*"\n',
                  'type = "metric"\nmetric = "loss"\nmax = 1\n', 'type = "expression"\nexpression = "duration_ns > 0"\n',
                  f'type = "golden"\ngolden = "crashed"\nfolder = "{FOLDER.name}/goldens"\n', 'type = "count"\ncall = "preadv"\nmin = 20\n')
        made = RECORDER.bench.call("golden", "add", "--may-fail", "crashed", "-f", "-d", f"{FOLDER.name}/goldens", run, run, run)
        self.assertEqual(made.returncode, 0, made.stderr)
        expected = ["not_measured"] * (len(bodies) - 1) + ["violated"]
        code, rows = self.gate("".join(f"[[gate]]\n{body}" for body in bodies), run)
        self.assertEqual((code, [row["outcome"] for row in rows]), (1, expected), rows)
        self.assertIn("ended with an error; if that is intended, set may_fail = true", rows[0]["why"])
        code, rows = self.gate(f"[[gate]]\n{bodies[0]}", run)
        self.assertEqual(code, 3, rows)
        code, rows = self.gate("".join(f"[[gate]]\n{body}may_fail = true\n" for body in bodies[:-1]), run)
        self.assertEqual((code, [row["outcome"] for row in rows]), (0, ["held"] * len(rows)), rows)
        slower = '[[gate]]\ntype = "slower"\nof = "run"\nmax = 1000\n'
        code, result = RECORDER.bench.json("gate", "-c", self.write(slower), run, "--against", RECORDER.run())
        self.assertIn("ended with an error", result["tables"]["assertions"][0]["why"])

    # ---- Others

    def test_rule(self) -> None:
        self.check('type = "rule"\ncode = "WT-NUM-001"', (), 0, "1 held")
        self.check('type = "rule"\ncode = "WT-NUM-*"', ("nan",), 1, "WT-NUM-001")
        self.check('type = "rule"\ncode = "WT-SYS-*"\n[thresholds]', (), 0, "0 violated")
        self.check('type = "rule"\ncode = "WT-GRAD-001"', (), 3, "nothing to judge")

    def test_golden(self) -> None:
        body = f'type = "golden"\ngolden = "subject"\nfolder = "{FOLDER.name}/goldens"'
        made = RECORDER.bench.call("golden", "add", "subject", "-f", "-d", f"{FOLDER.name}/goldens",
                                   *RECORDER.same()[:3])
        self.assertEqual(made.returncode, 0, made.stderr)
        self.check(body, (), 0)
        self.check(body, ("connect",), 1, "127.0.0.1:9")
        self.check('type = "golden"\ngolden = "nothing"', (), 3, "goldens/nothing.toml")

    def test_expression(self) -> None:
        row = 'type = "expression"\ntable = "syscalls"\nrows = "preadv"\nexpression = '
        self.check(row + '"calls == 20 and errors == 0"', (), 0)
        self.check(row + '"calls * 2 < 40"', (), 1, "preadv: calls = 20")
        self.check(row + '"seconds / errors < 1"', (), 3, "divided by zero")
        self.check(row + '"colls < 1"', (), 3, "did you mean 'calls'")
        self.check('type = "expression"\ntable = "syscalls"\nrows = "x*"\nexpression = "calls < 1"', (), 3, "no row")
        self.check('type = "expression"\nexpression = "steps == 20 && !(duration_ms > 3_600_000)"', (), 0)
        self.check('type = "expression"\nexpression = "syscalls < 10"', (), 1)
        self.check('type = "expression"\ntable = "profile"\nrows = "preadv"\nexpression = "count == 20"', (), 0)

    def timed(self, folder: Path, *seconds: float) -> list[str]:
        """Runs that took so long, as their run.json has it: machines are too noisy to make them."""
        runs = []
        for number, taken in enumerate(seconds):
            run = folder / f"{taken}-{number}"
            shutil.copytree(RECORDER.same()[0], run)
            described = json.loads((run / "run.json").read_text())
            described["duration_ns"] = int(taken * 1e9)
            (run / "run.json").write_text(json.dumps(described))
            runs.append(str(run))
        return runs

    def test_slower(self) -> None:
        config = self.write('[[gate]]\ntype = "slower"\nof = "run"\nmax = 0.4\n')

        def compare(now: list[str], before: list[str]) -> tuple[int, dict[str, Any]]:
            code, result = RECORDER.bench.json("gate", "-c", config, *now, "--against", ",".join(before))
            return code, result["tables"]["assertions"][0]

        with tempfile.TemporaryDirectory(prefix="wheeltap-test-") as name:
            folder = Path(name)
            before = self.timed(folder, 1, 1.01, 1.03)
            code, row = compare(self.timed(folder, 1.02, 1.05, 1.04), before)
            self.assertEqual((code, row["outcome"]), (0, "held"), row)
            self.assertIn("smallest slowdown that would have been seen", row["actual"])
            code, row = compare(self.timed(folder, 1.5, 1.6, 1.55), before)
            self.assertEqual((code, row["outcome"]), (1, "violated"), row)
            code, row = compare(self.timed(folder, 0.9, 1.9, 1.2), before)
            self.assertEqual((code, row["outcome"]), (3, "not_measured"), row)
            self.assertIn("undecided", row["why"])
            code, row = compare(before[:2], before)
            self.assertEqual((code, row["outcome"]), (3, "not_measured"), row)
            self.assertIn("too few", row["why"])
        code, rows = self.gate('[[gate]]\ntype = "slower"\nmax = 0.4\n', RECORDER.same()[0])
        self.assertEqual((code, rows[0]["outcome"]), (3, "not_measured"))

    def test_slower_steps(self) -> None:
        """A step that sleeps fifty times as long; on a busy machine that may be undecided, but never right."""
        slow = [RECORDER.fresh("slow") for _ in range(3)]
        config = self.write('[[gate]]\ntype = "slower"\nmax = 0.4\n')
        code, _ = RECORDER.bench.json("gate", "-c", config, *slow, "--against", ",".join(RECORDER.same()[:3]))
        self.assertIn(code, (1, 3))

    def test_diff_by_stage(self) -> None:
        """Stages that assertions can be about are what `diff` counts by, too."""
        code, result = RECORDER.bench.json("diff", RECORDER.run(), RECORDER.run("no-save"))
        rows = {(row["name"], row["count"]): (row["a"], row["b"]) for row in result["tables"]["counts"] if row["type"] == "stage"}
        self.assertEqual(code, 1)
        self.assertEqual(rows[("save", "fsync")], (1, 0))
        self.assertFalse([name for name, _ in rows if name != "save"], rows)

    # ---- Renacer's

    def renacer(self, body: str, acts: tuple[str, ...], code: int, words: str = "") -> None:
        self.check(body, acts, code, words, kind="assertion")

    def test_renacer(self) -> None:
        self.renacer('type = "critical_path"\nmax_duration_ms = 3600000', (), 0)
        self.renacer('type = "critical_path"\nmax_duration_ms = 2', (), 1)
        self.renacer('type = "critical_path"\nmax_duration_ms = 60000\ntrace_name_pattern = "^pread"', (), 0)
        self.renacer('type = "critical_path"\nmax_duration_ms = 5000\ntrace_name_pattern = "^no"', (), 3)
        self.renacer('type = "span_count"\nmax_spans = 10000', (), 0)
        self.renacer('type = "span_count"\nmax_spans = 19\nspan_name_pattern = "^preadv$"', (), 1, "20")
        self.renacer('type = "memory_usage"\nmax_bytes = 104857600', (), 0)
        self.renacer('type = "memory_usage"\nmax_bytes = 104857600', ("memory",), 1)
        self.renacer('type = "memory_usage"\nmax_bytes = 262144000\ntracking_mode = "rss"', ("memory",), 1)
        self.renacer('type = "custom"\nexpression = "syscalls < 10000"', (), 0)
        self.renacer('type = "custom"\nexpression = "syscalls < 10"', (), 1)

    def test_renacer_patterns(self) -> None:
        self.renacer('type = "anti_pattern"\npattern = "TightLoop"\nthreshold = 0.7', (), 0)
        self.renacer('type = "anti_pattern"\npattern = "TightLoop"\nthreshold = 0.7', ("spin",), 1)
        self.renacer('type = "anti_pattern"\npattern = "GodProcess"\nthreshold = 0.8', ("helper",), 1)
        self.renacer('type = "anti_pattern"\npattern = "GodProcess"\nthreshold = 0.8', ("equal-helper",), 0)
        self.renacer('type = "anti_pattern"\npattern = "GodProcess"\nthreshold = 0.8', (), 0)
        self.renacer('type = "anti_pattern"\npattern = "PcieBottleneck"\nthreshold = 0.5', (), 3, "no kernels")

    def test_renacer_copies(self) -> None:
        run = f"{FOLDER.name}/device"
        self.assertEqual(RECORDER.bench.call("sim", "--events", "3000", "-o", run).returncode, 0)
        head = '[[assertion]]\nname = "pcie"\ntype = "anti_pattern"\npattern = "PcieBottleneck"\nthreshold = '
        self.assertEqual(self.gate(head + "1000", run)[0], 0)
        self.assertEqual(self.gate(head + "0.0", run)[0], 1)

    def test_renacer_severity(self) -> None:
        text = ('[[assertion]]\nname = "x"\ntype = "span_count"\nmax_spans = 1\nfail_on_violation = false\n'
                '[[assertion]]\nname = "y"\ntype = "span_count"\nmax_spans = 1\nenabled = false\n[ci]\nfail_fast = true\n')
        code, rows = self.gate(text, RECORDER.run())
        self.assertEqual((code, [row["outcome"] for row in rows]), (0, ["violated", "disabled"]))
        self.assertEqual(RECORDER.bench.call("gate", "-c", self.write(text), "--fail-on", "warning",
                                             RECORDER.run()).returncode, 1)

    # ---- Reports, and bad input

    def test_junit(self) -> None:
        path = Path(FOLDER.name) / "junit.xml"
        config = self.write('[[gate]]\nname = "a<b & \\"c\\""\ntype = "count"\ncall = "openat"\nmax = 0\n'
                            '[[gate]]\ntype = "duration"\nmax = 3600\n[[gate]]\ntype = "rule"\ncode = "WT-GRAD-001"\n'
                            '[[gate]]\ntype = "duration"\nmax = 3600\nenabled = false\n')
        done = RECORDER.bench.call("gate", "-c", config, "--junit", str(path), RECORDER.run())
        self.assertEqual(done.returncode, 1)
        suite = ElementTree.parse(path).getroot()
        self.assertEqual([suite.get(key) for key in ("tests", "failures", "errors", "skipped")], ["4", "1", "1", "1"])
        self.assertEqual(suite[0].get("name"), 'a<b & "c"')
        self.assertIn("4 assertions: 1 violated, 1 held, 1 not measured, 1 disabled", done.stdout)

    def test_bad_files(self) -> None:
        cases = (
            ('[[gate]]\ntype = "durations"\nmax = 1', ":2:", "did you mean 'duration'"),
            ('[[gate]]\ntype = "duration"\nmaxx = 1', ":3:", "did you mean 'max'"),
            ('[[gate]]\ntype = "duration"', ":1:", "it needs max or min"),
            ('[[gate]]\ntype = "duration"\nmax = "soon"', ":3:", "a time such as"),
            ('[[gate]]\ntype = "count"\ncall = "opnat"\nmax = 1', ":3:", "opnat"),
            ('[[gate]]\ntype = "expression"\nexpression = "calls <"', ":3:", "at character 8"),
            ('[[gate]]\ntype = "expression"\nexpression = "calls + 1"', ":3:", "compare it"),
            ('[[gate]]\ntype = "forbidden"\neffect = "networks"', ":3:", "did you mean 'network'"),
            ('[[gate]]\ntype = "count"\nmax = 1\nmin = 2', ":1:", "nothing could pass"),
            ('[[gates]]\ntype = "count"', ":1:", "did you mean 'gate'"),
            ('[gate]\ntype = "count"', ":1:", "[[gate]]"),
            ('[[assertion]]\nname = "x"\ntype = "span_counts"\nmax_spans = 1', ":3:", "did you mean 'span_count'"),
            ('[[assertion]]\nname = "x"\ntype = "span_count"', ":1:", "it needs max_spans"),
            ('[[assertion]]\nname = "x"\ntype = "span_count"\nmax_spans = 1\nspan_name_pattern = "("', ":1:", "cannot be used as a regular expression"),
            ('[[gate]]\ntype = "metric"\nmax = 1', ":1:", "it needs metric"),
            ('[[gate]]\ntype = "metric"\nmetric = "loss"', ":1:", "it needs max or min"),
            ('[[gate]]\ntype = "metric"\nmetric = "loss"\nof = "best"\nmax = 1', ":4:", "last, first, min"),
            ('[[gate]]\ntype = "rule"\ncode = "WT-GRDA-001"', ":3:", "did you mean 'WT-GRAD-001'"),
            ('[[gate]]\ntype = "rule"\ncode = "WT-NONE-*"', ":3:", "no rule 'WT-NONE-*'"),
            ("", "", "asserts nothing"),
        )
        for text, place, words in cases:
            done = RECORDER.bench.call("gate", "-c", self.write(text), RECORDER.run())
            with self.subTest(text=text):
                self.assertEqual(done.returncode, 2, done)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(f"gate.toml{place}" if place else "gate.toml", done.stderr)
                self.assertIn(words, done.stderr)

    def test_metric(self) -> None:
        body = 'type = "metric"\nmetric = "loss"\n'
        self.assertEqual(self.outcome(body + "max = 0.06"), (0, "held", "0.05 (last of 20)"))
        self.assertEqual(self.outcome(body + "max = 0.04")[:2], (1, "violated"))
        self.assertEqual(self.outcome(body + 'of = "first"\nmin = 1'), (0, "held", "1 (first of 20)"))
        self.assertEqual(self.outcome(body + 'of = "min"\nmax = 0.06\nmin = -1')[:2], (0, "held"))
        self.assertEqual(self.outcome(body + 'of = "max"\nmin = 2')[:2], (1, "violated"))
        self.assertEqual(self.outcome(body + "max = 1", "nan")[:2], (1, "violated"))
        self.assertEqual(self.outcome(body + "min = -5", "nan")[:2], (1, "violated"))
        self.assertEqual(self.outcome(body + 'of = "mean"\nmax = 1', "nan")[:2], (0, "held"))
        code, outcome, said = self.outcome('type = "metric"\nmetric = "los"\nmax = 1')
        self.assertEqual((code, outcome), (3, "not_measured"))
        self.assertIn("did you mean 'loss'?", said)

    def test_first_file(self) -> None:
        """Made from a run, it holds in that run, says its margins, and fails where the metric is worse."""
        path = Path(FOLDER.name) / "first.toml"
        path.unlink(missing_ok=True)
        done = RECORDER.bench.call("gate", "--init", RECORDER.run(), "-c", str(path))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        text = path.read_text()
        self.assertRegex(text, 'metric = "loss"\nof = "mean"\nmax = [0-9.]+  # observed [0-9.]+, margin 20 % of its range; of all steps: ')
        self.assertIn('metric = "loss"\nof = "last"\nmax = 1  # where it began; observed 0.05\n', text)
        self.assertIn('of = "step"', text)
        code, result = RECORDER.bench.json("gate", "-c", str(path), RECORDER.run())
        self.assertEqual((code, {row["outcome"] for row in result["tables"]["assertions"]}), (0, {"held"}), text)
        code, result = RECORDER.bench.json("gate", "-c", str(path), RECORDER.run("nan"))
        self.assertIn("violated", [row["outcome"] for row in result["tables"]["assertions"] if row["type"] == "metric"])
        again = RECORDER.bench.call("gate", "--init", RECORDER.run(), "-c", str(path))
        self.assertEqual(again.returncode, 4)  # as of all verbs that find something in their way
        self.assertIn("exists already", again.stderr)
        self.assertEqual(path.read_text(), text)

    def test_other_verbs(self) -> None:
        """A file with [[gate]] is still one for record."""
        config = self.write('[record]\nquiet = true\n[[gate]]\ntype = "duration"\nmax = 3600\n')
        done = RECORDER.bench.call("record", "-c", config, "-o", f"{FOLDER.name}/other", "--", "/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)
        explained = RECORDER.bench.call("explain", "WT-GATE-005")
        self.assertIn("must not", explained.stdout)

    # ---- What is said, and what is refused

    def refused(self, text: str) -> str:
        code, result = RECORDER.bench.json("gate", "-c", self.write(text), RECORDER.run())
        self.assertEqual((code, result["status"]), (2, "error"), result)
        return str(result["error"]["message"])

    def test_half_a_call(self) -> None:
        for body in ('type = "count"\ncall = "openat"\nmax = 1.5', 'type = "bytes"\nmin = 0.5',
                     'type = "memory"\nmax = 1000.25'):
            self.assertIn("whole number", self.refused(f"[[gate]]\n{body}\n"))
        self.assertEqual(self.outcome('type = "count"\ncall = "openat"\nmax = 100000.0')[1], "held")

    def test_not_toml(self) -> None:
        self.assertIn("gate.toml:2", self.refused('[[gate]]\ntype = "count\n'))

    def test_almost_all_is_not_all(self) -> None:
        _, outcome, row = self.outcome('type = "anti_pattern"\npattern = "GodProcess"\nthreshold = 0.8', "helper",
                                       kind="assertion")
        self.assertEqual(outcome, "violated")
        self.assertRegex(row, r"\b\d\d\.\d+ % of the calls")


if __name__ == "__main__":
    need_system_calls(WHEELTAP)
    RECORDER = Recorder(Path(FOLDER.name))
    del sys.argv[1:]
    unittest.main()
