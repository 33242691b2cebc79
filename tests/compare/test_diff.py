#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs side by side: the same are the same, what differs is shown where it belongs.

usage: test_diff.py WHEELTAP SEEDED MAKE_RUN TRAINING_LOOP
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case, need_system_calls  # noqa: E402
from work import work_folder  # noqa: E402

SEEDED = ""
MAKE_RUN = ""
TRAINING_LOOP = ""


def rows(result: dict[str, Any], table: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in result["tables"][table]]


class Diff(Case):
    options = ("--syscalls",)

    def record(self, fault: str = "") -> str:
        folder = work_folder(self.bench)
        return str(self.bench.record(SEEDED, str(folder), *([fault] if fault else []), cwd=folder))

    def test_the_same_program_does_the_same(self) -> None:
        code, result = self.bench.json("diff", self.record(), self.record())
        self.assertEqual((code, result["status"]), (0, "same"), result["tables"])
        self.assertEqual([result["tables"][key] for key in ("effects", "counts", "order", "values")], [[]] * 4)

    def test_effects_come_first(self) -> None:
        code, result = self.bench.json("diff", self.record(), self.record("bigger-checkpoint"))
        self.assertEqual((code, result["status"]), (1, "different"))
        self.assertEqual(rows(result, "effects", "change", "name", "count", "a", "b"),
                         [("~", "$CWD/model.bin", "written_bytes", 32768, 36864)])
        self.assertEqual(rows(result, "counts", "name", "count", "a", "b", "step_a", "step_b"),
                         [("$CWD/model.bin", "write", 8, 12, "0..2", "0..3")])
        self.assertEqual([row for row in rows(result, "order", "sign", "act") if row[0] != " "],
                         [("+", "write $CWD/model.bin.tmp")])
        self.assertEqual({row[0] for row in rows(result, "order", "when")}, {"4 steps, 9 to 39"})

    def test_order_is_a_patch(self) -> None:
        a, b = self.record(), self.record("order")
        code, result = self.bench.json("diff", a, b)
        self.assertEqual((code, result["tables"]["effects"], result["tables"]["counts"]), (1, [], []))
        text = self.bench.call("diff", a, b).stdout
        self.assertIn("@@ 0 seeded: 3 steps, 9 to 29 @@\n  pread64 $CWD/data.bin\n- write $CWD/log.txt\n"
                      "  make $CWD/model.bin.tmp\n", text)
        self.assertIn("  replace $CWD/model.bin\n+ write $CWD/log.txt\n", text)

    def test_new_and_gone(self) -> None:
        code, result = self.bench.json("diff", self.record("connection"), self.record("folder"))
        found = rows(result, "effects", "change", "type", "name", "count")
        self.assertEqual(code, 1)
        self.assertIn(("-", "peer", "127.0.0.1:9", "connected"), found)
        self.assertIn(("+", "file", "$CWD/extra", "made"), found)

    def test_steps_are_those_of_the_program(self) -> None:
        """wt_step(0) to wt_step(39) are 40 steps, and the last is 39, whoever speaks of it."""
        run = self.record()
        self.assertTrue(self.bench.call("doctor", run).stdout.startswith("run finished after 40 steps\n"))
        self.assertEqual(self.bench.json("doctor", run)[1]["last_step"], 39)

    def test_one_run_under_two_names(self) -> None:
        run = self.record()
        done = self.bench.call("diff", run, run + "/.")
        self.assertEqual((done.returncode, done.stdout), (0, "nothing is compared: both are the run 'run1'\n"), done.stderr)
        self.assertIn("nothing is compared: both are the run 'run1'", self.bench.json("diff", run, run)[1]["notes"])

    def test_one_is_singular(self) -> None:
        text = self.bench.call("diff", self.record(), self.record("bigger-checkpoint")).stdout
        self.assertRegex(text, r" differ: 1 effect, 1 count, \d+ places in the order, 0 counters or settings\n")

    def loaded(self, name: str, *libraries: tuple[str, str]) -> str:
        run = self.bench.folder / name
        subprocess.run([MAKE_RUN, str(run), "values", "0"], check=True, timeout=PATIENCE)
        (run / "run.json").write_text(json.dumps({"schema": 1, "status": "finished", "command": ["train"], "start_ns": 1,
                                                  "loaded": [{"path": path, "build_id": build} for path, build in libraries]}))
        return str(run)

    def test_libraries_of_one_name(self) -> None:
        """Two of an environment that are called the same are two; those of another environment are paired by their place in it."""
        one = "/a/v/lib/python3.12/site-packages/cuda/bindings/_internal/runtime.so"
        two = "/a/v/lib/python3.12/site-packages/cuda/bindings/_v2/runtime.so"
        libc = "/lib/x86_64-linux-gnu/libc.so.6"
        a = self.loaded("a", (one, "11"), (two, "22"), (libc, "33"))
        b = self.loaded("b", (two, "22"), (one, "11"), ("/usr" + libc, "44"))
        c = self.loaded("c", (two.replace("/a/", "/c/"), "55"), (one.replace("/a/", "/c/"), "11"))
        self.assertEqual(rows(self.bench.json("diff", a, b)[1], "setup", "name", "a", "b"), [("libc.so.6", "33", "44")])
        self.assertEqual(rows(self.bench.json("diff", a, c)[1], "setup", "name", "a", "b"), [("cuda/bindings/_v2/runtime.so", "22", "55")])

    def test_raw_names(self) -> None:
        a, b = self.record(), self.record("bigger-checkpoint")
        self.assertIn(f"{self.bench.folder}/here/model.bin", self.bench.call("diff", "--raw", a, b).stdout)
        self.assertNotIn(str(self.bench.folder), self.bench.call("diff", a, b).stdout)

    def test_setup_comes_first(self) -> None:
        """What a person changed, then where values differ, then the rest."""
        runs = []
        for seed in ("1", "2"):
            os.environ["OMP_NUM_THREADS"] = seed
            runs.append(str(self.bench.record(TRAINING_LOOP, "--seed", seed, *(["--epochs=3"] if seed == "2" else []),
                                              cwd=self.bench.folder, options=())))
        os.environ.pop("OMP_NUM_THREADS")
        code, result = self.bench.json("diff", *runs)
        setup = rows(result, "setup", "change", "what", "name", "a", "b")
        self.assertEqual(code, 1)
        self.assertIn(("~", "argument", "--seed", "1", "2"), setup)
        self.assertIn(("+", "argument", "--epochs", "", "3"), setup)
        self.assertIn(("~", "environment", "OMP_NUM_THREADS", "1", "2"), setup)
        self.assertEqual([row[1] for row in setup[:3]], ["argument", "argument", "environment"], setup)
        parting = rows(result, "parting", "step", "name", "a", "b")
        self.assertTrue(parting and len({row[0] for row in parting}) == 1, parting)
        self.assertEqual(parting[0][0], result["parting_step"])
        self.assertTrue(all(row[2] != row[3] for row in parting), parting)
        text = self.bench.call("diff", *runs).stdout
        self.assertTrue(text.startswith("setup\n~ argument    --seed  1 -> 2\n+ argument    --epochs  3\n"), text)
        self.assertLess(text.index("setup\n"), text.index("values differ\n"), text)

    def test_first_step_that_differs(self) -> None:
        """A value that differs late is found at its step; the same setup is not mentioned."""
        a, b, c = (str(self.bench.folder / name) for name in "abc")
        for run, late in ((a, "0"), (b, "7"), (c, "0")):
            subprocess.run([MAKE_RUN, run, "values", late], check=True, timeout=PATIENCE)
        code, result = self.bench.json("diff", a, b)
        self.assertEqual((code, result["parting_step"]), (1, 7), result)
        self.assertEqual(rows(result, "parting", "step", "name", "a", "b"), [(7, "loss", "0.125", "1.125")])
        self.assertEqual(result["tables"]["setup"], [])
        shown = self.bench.call("diff", a, b).stdout
        self.assertIn("at step 7: 1 of its values differ\n~ loss  0.125 -> 1.125\n", shown)
        self.assertRegex(shown, r" differ: .*, 1 value at step 7, where values first differ\n")
        self.assertIn("only some environment variables are recorded", shown)
        code, result = self.bench.json("diff", a, c)
        self.assertEqual((code, result["tables"]["parting"]), (0, []), result)

    def test_without_system_calls(self) -> None:
        """What agents told is compared, and what was not recorded is said."""
        one, two, three = (str(self.bench.record(TRAINING_LOOP, "--seed", seed, cwd=self.bench.folder, options=()))
                           for seed in ("1", "1", "2"))
        done = self.bench.call("diff", one, two)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("no system calls were recorded", done.stderr)
        code, result = self.bench.json("diff", one, three)
        self.assertEqual(code, 1)
        self.assertIn(("loss", 30, 30), rows(result, "values", "name", "count_a", "count_b"))
        self.assertIn(("rng.seed", 1, 2), rows(result, "values", "name", "last_a", "last_b"))

    def test_what_cannot_be_compared(self) -> None:
        with_calls, without = self.record(), str(self.bench.record("/bin/true", cwd=self.bench.folder, options=()))
        lost = str(self.bench.folder / "made-lost")
        subprocess.run([MAKE_RUN, lost, "lost"], check=True, timeout=PATIENCE)
        for words, code, message in (((with_calls, without), 3, "has no system calls"), ((with_calls, "nowhere"), 3, "nowhere"),
                                     ((lost, lost), 3, "lost 7 events"), ((without, without), 3, "nothing to compare")):
            done = self.bench.call("diff", *words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(message, done.stderr)


def main() -> None:
    global SEEDED, MAKE_RUN, TRAINING_LOOP
    Diff.wheeltap, SEEDED, MAKE_RUN, TRAINING_LOOP = map(os.path.abspath, sys.argv[1:5])
    need_system_calls(Diff.wheeltap)
    unittest.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main()
