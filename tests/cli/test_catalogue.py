#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of runs: filters, sort, trends, comparisons, tags, what is kept of removed runs, and that nothing is lost.

usage: test_catalogue.py WHEELTAP [NAME...]
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

os.environ["WHEELTAP_BUILD"] = str(Path(sys.argv.pop(1)).resolve().parent)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

FILE = ".catalogue.sqlite"
KEPT = ".kept.jsonl"
SECOND = 1_000_000_000
SUMMARY = 2  # WTI_SUMMARY_VERSION


class Runs(harness.Case):
    """A few runs of the simulator, described as if they had been recorded."""

    def setUp(self) -> None:
        super().setUp()
        self.home = self.folder / "wheeltap-runs"
        self.home.mkdir()

    def make(self, folder: str, **keys: Any) -> Path:
        run = self.home / folder
        if not (self.folder / "model").exists():
            self.call("sim", "-n", "400", "--seed", "3", "-o", str(self.folder / "model"))
        shutil.copytree(self.folder / "model", run)
        (run / "truth.json").unlink()
        for index, stream in enumerate(sorted(run.glob("*.wt"))):
            stream.rename(run / f"{index:04}.wt")  # as a recorder calls them
        about = json.loads((run / "run.json").read_text())
        about.update({"name": folder.partition("-")[0], "status": "finished", "start_ns": 1_700_000_000 * SECOND, "duration_ns": SECOND,
                      "exit_status": 0, "command": ["python3", "train.py"], **keys})
        (run / "run.json").write_text(json.dumps(about))
        return run

    def add_tests(self, run: Path, *lines: str) -> None:
        (run / "console.log").write_text("\n".join([f"1..{len(lines)}", *lines, ""]))

    def call(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = self.bench.call(*words)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def json(self, *words: str, status: int = 0) -> Any:
        return json.loads(self.call(*words, "--json", status=status).stdout)

    def names(self, *words: str) -> list[str]:
        return self.call("ls", "--names", *words).stdout.split()


class Filters(Runs):
    def setUp(self) -> None:
        super().setUp()
        commit = {"commit": "abc123def", "dirty": False, "diff_hash": None}
        self.make("a-1", start_ns=1_700_000_001 * SECOND, duration_ns=3 * SECOND, memory_peak_bytes=1 << 30, git=commit)
        self.make("b-2", start_ns=1_700_000_002 * SECOND, duration_ns=1 * SECOND, status="failed", exit_status=3)
        self.make("c-3", start_ns=1_800_000_003 * SECOND, duration_ns=2 * SECOND, command=["/usr/bin/python3", "-u", "other.py", "x"],
                  git={**commit, "dirty": True}, host={"name": "beta"})

    def test_texts(self) -> None:
        for words, expected in (
                ((), "c-3 b-2 a-1"), (("status=failed",), "b-2"), (("status!=failed",), "c-3 a-1"), (("status=f*",), "c-3 b-2 a-1"),
                (("commit=abc",), "c-3 a-1"), (("commit=abc", "dirty=yes"), "c-3"), (("program=train.py",), "b-2 a-1"),
                (("program=other.py",), "c-3"), (("command=-u",), "c-3"), (("host=be*",), "c-3"), (("name=a",), "a-1"),
                (("[ab]-*",), "b-2 a-1"), (("a*", "c*"), "c-3 a-1"), (("a*", "status=failed"), "")):
            self.assertEqual(" ".join(self.names(*words)), expected, words)

    def test_numbers(self) -> None:
        for words, expected in (
                (("duration>1",), "c-3 a-1"), (("duration>=2s", "duration<3000ms"), "c-3"), (("exit=3",), "b-2"), (("exit!=3",), "c-3 a-1"),
                (("peak_memory>=1G",), "a-1"), (("peak_memory<1G",), ""), (("--sort", "duration"), "b-2 c-3 a-1"),
                (("--sort", "duration", "--reverse"), "a-1 c-3 b-2"), (("--sort", "duration", "--limit", "1"), "b-2"),
                (("--reverse",), "a-1 b-2 c-3"), (("--limit", "2"), "c-3 b-2"), (("--sort", "peak_memory"), "a-1 c-3 b-2"),
                (("since=2025-01-01",), "c-3"), (("until=2025-01-01",), "b-2 a-1"), (("since=1s",), "c-3" if self.is_later() else "")):
            self.assertEqual(" ".join(self.names(*words)), expected, words)

    @staticmethod
    def is_later() -> bool:
        import time

        return time.time() < 1_800_000_003

    def test_columns(self) -> None:
        rows = self.json("ls", "peak_memory>0", "--sort", "steps.max")["tables"]["runs"]
        self.assertEqual([(row["name"], row["peak_memory_bytes"]) for row in rows], [("a-1", 1 << 30)])
        self.assertIn("steps.max", rows[0])
        head, row = self.call("ls", "peak_memory>0", "--csv").stdout.splitlines()[:2]
        self.assertEqual(dict(zip(head.split(","), row.split(",")))["peak_memory_bytes"], str(1 << 30))

    def test_errors_suggest(self) -> None:
        for word, part in (("stauts=failed", "did you mean 'status'?"), ("status=faild", "did you mean 'failed'?"),
                           ("duraton>1", "did you mean 'duration'?"), ("step.max>1", "did you mean 'steps.max'?"), ("status>1", "use = or !="),
                           ("duration>soon", "such as 0.2 or 200ms"), ("since=soon", "how long ago"), ("=1", "no name before"),
                           ("status=", "no value after"), ("check:none>0", "no run has a test")):
            done = self.call("ls", word, status=2)
            self.assertIn(part, done.stderr, word)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(json.loads(self.bench.call("ls", "--json", "stauts=x").stdout)["status"], "error")

    def test_a_name_with_an_operator_is_a_name(self) -> None:
        self.make("lr=0.1-4", name="lr=0.1")
        self.assertEqual(self.names("lr=0.1"), ["lr=0.1-4"])


class Catalogue(Runs):
    def rows(self, table: str = "runs") -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.home / FILE) as db:
            return db.execute(f"SELECT * FROM {table} ORDER BY 2, 1").fetchall()

    def columns(self) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.home / FILE) as db:
            return db.execute("SELECT folder, status, tags, summary, removed_ns >= 0 FROM runs ORDER BY folder").fetchall()

    def test_it_follows_the_folders(self) -> None:
        first = self.make("a-1")
        self.assertEqual(self.names(), ["a-1"])
        self.assertEqual((self.home / FILE).stat().st_mode & 0o777, 0o600)
        self.make("b-2", start_ns=1_700_000_009 * SECOND)
        self.assertEqual(self.names(), ["b-2", "a-1"])
        about = json.loads((first / "run.json").read_text())
        (first / "run.json").write_text(json.dumps({**about, "status": "killed"}))
        self.assertEqual(self.names("status=killed"), ["a-1"])
        shutil.rmtree(first)
        self.assertEqual(self.names(), ["b-2"])
        self.assertEqual(len(self.rows()), 1)

    def test_traces_are_read_once(self) -> None:
        run = self.make("a-1")
        before = self.json("ls", "steps>0")["tables"]["runs"]
        for stream in run.glob("*.wt"):
            stream.write_bytes(b"")  # the folder stays as it is: nobody has a reason to look
        self.assertEqual(self.json("ls", "steps>0")["tables"]["runs"], before)
        self.assertEqual(self.columns()[0][3], SUMMARY)

    def test_deleted_and_damaged(self) -> None:
        for index in range(5):
            self.make(f"r-{index}", start_ns=(1_700_000_000 + index) * SECOND)
        self.call("tag", "r-3", "good")
        self.call("ls", "steps>0")
        whole, metrics = self.columns(), [row[1:] for row in self.rows("metrics")]
        (self.home / FILE).unlink()
        self.call("ls", "steps>0")
        self.assertEqual(self.columns(), whole)
        self.assertEqual([row[1:] for row in self.rows("metrics")], metrics)
        for damage in (b"this is no database" * 100, (self.home / FILE).read_bytes()[:5000], b"SQLite format 3\0" + bytes(5000)):
            (self.home / FILE).write_bytes(damage)
            done = self.call("ls", "steps>0", "--names")
            self.assertEqual(len(done.stdout.split()), 5, done.stderr)
            self.assertIn("made anew", done.stderr)
            self.assertTrue((self.home / (FILE + ".damaged")).exists())
            self.assertEqual(self.columns(), whole)
        with sqlite3.connect(self.home / FILE) as db:
            db.execute("PRAGMA user_version = 99")
        self.assertEqual(len(self.names("steps>0")), 5)

    def test_a_folder_that_cannot_be_written(self) -> None:
        self.make("a-1")
        self.make("b-2")
        (self.home / FILE).mkdir()  # also where the user is root
        self.assertEqual(len(self.names("steps>0")), 2)
        self.assertEqual(self.json("trend", "duration")["runs"], 2)

    def test_two_processes_lose_nothing(self) -> None:
        """Several list, tag and add runs at once, again and again."""
        for index in range(8):
            self.make(f"old-{index}")
        environment = harness.environment()
        for turn in range(12):
            if turn % 4 == 3:
                (self.home / FILE).unlink()
            self.make(f"new-{turn}", start_ns=(1_700_001_000 + turn) * SECOND)
            words = [("ls", "steps>0"), ("tag", f"new-{turn}", "one"), ("tag", f"new-{turn}", "two"), ("trend", "duration"), ("ls",),
                     ("tag", f"new-{turn}", "three", "four")]
            started = [subprocess.Popen([harness.WHEELTAP, *line], cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE) for line in words]
            for line, process in zip(words, started):
                _, errors = process.communicate(timeout=harness.PATIENCE)
                self.assertEqual((process.returncode, errors), (0, b""), line)
        self.assertEqual(len(self.names("steps>0")), 20)
        rows = self.columns()
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        self.assertEqual([row[2] for row in rows if row[0].startswith("new")], ["four one three two"] * 12)
        self.assertTrue(all(row[3] == SUMMARY for row in rows), rows)
        with sqlite3.connect(self.home / FILE) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM metrics WHERE name = 'steps'").fetchone(), (20,))
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_record_adds_its_row(self) -> None:
        self.make("a-1")
        self.names()
        for _ in range(2):
            self.call("record", "-q", "-n", "new", "--", "true")
        with sqlite3.connect(self.home / FILE) as db:
            self.assertEqual(db.execute("SELECT label, status, summary FROM runs WHERE label = 'new'").fetchall(),
                             [("new", "finished", SUMMARY)] * 2)


class Settings(Runs):
    """What the program ran with, as it resolved it."""

    def setUp(self) -> None:
        super().setUp()
        for lr, optimizer in (("0.5", "adam"), ("0.05", "sgd"), ("", "")):
            program = str(harness.BUILD / "tests/record/record_configured")
            self.call("record", "-q", "-n", f"run{lr}", "--", program, *([lr, optimizer] if lr else []))

    def test_filters_sort_and_trend(self) -> None:
        def named(*words: str) -> list[str]:
            return [name[:name.index("-")] for name in self.names(*words)]

        self.assertEqual(sorted(named("config.lr<0.1")), ["run", "run0.05"])
        self.assertEqual(named("config.lr=0.5"), ["run0.5"])
        self.assertEqual(named("config.optimizer=s*"), ["run0.05"])
        self.assertEqual(named("config.optimizer!=adam"), ["run0.05"])
        self.assertEqual(sorted(named("config.epochs=-3", "config.optimizer=adam")), ["run", "run0.5"])
        self.assertIn("run0.5", {named("config.lr>0", "--sort", "config.lr")[0], named("config.lr>0", "--sort", "config.lr")[-1]})
        self.assertEqual(named("config.depth=4"), named("config.model.depth=4"))
        self.assertEqual([row["value"] for row in self.json("trend", "config.lr")["tables"]["trend"]], [0.5, 0.05, 0.05])
        self.assertIn("did you mean 'config.optimizer'", self.call("ls", "config.optimizr=adam", status=2).stderr)
        self.assertIn("use = or !=", self.call("ls", "config.optimizer<adam", status=2).stderr)
        self.assertIn("no run has a setting", self.call("ls", "config.zzzzzzzz=1", status=2).stderr)

    def test_compare_and_what_is_kept(self) -> None:
        def compared() -> dict[str, list[str]]:
            rows = self.json("compare", "run0.5", "run0.05", "--all")["tables"]["comparison"]
            return {row["name"]: list(row.values())[2:] for row in rows if row["what"] == "setting"}

        before = compared()
        self.assertEqual((before["lr"], before["optimizer"], before["api_key"]), (["0.5", "0.05"], ["adam", "sgd"], ["*******"] * 2))
        self.call("clean", "run0.5", "--yes")
        self.assertEqual(compared()["lr"], before["lr"])


class Trend(Runs):
    def test_change_against_the_median_before(self) -> None:
        for index, seconds in enumerate((10, 30, 20, 40)):
            self.make(f"r-{index}", start_ns=(1_700_000_000 + index) * SECOND, duration_ns=seconds * SECOND,
                      git={"commit": "aaa" if index < 2 else "bbb", "dirty": False, "diff_hash": None})
        shown = self.json("trend", "duration")
        self.assertEqual(shown["series"]["values"]["y"], [10, 30, 20, 40])
        rows = shown["tables"]["trend"]
        self.assertEqual([row["run"] for row in rows], ["r-0", "r-1", "r-2", "r-3"])
        self.assertEqual([row["change_percent"] for row in rows], [None, 200, 0, 100])
        rows = self.json("trend", "duration", "--by", "commit")["tables"]["trend"]
        self.assertEqual([(row["commit"], row["runs"], row["value_ns"], row["change_percent"]) for row in rows],
                         [("aaa", 2, 20 * SECOND, None), ("bbb", 2, 30 * SECOND, 50)])
        self.assertEqual(len(self.json("trend", "duration", "r-[12]")["tables"]["trend"]), 2)
        self.assertIn({"metric": "duration", "runs": 4}, self.json("trend")["tables"]["metrics"])

    def test_picture(self) -> None:
        for index, seconds in enumerate((1, 8, 1)):
            self.make(f"r-{index}", start_ns=(1_700_000_000 + index) * SECOND, duration_ns=seconds * SECOND)
        for locale, line in (("C.UTF-8", "▁█▁"), ("C", "_#_")):
            done = subprocess.run([harness.WHEELTAP, "trend", "duration"], cwd=self.folder, env=harness.environment(LC_ALL=locale), text=True,
                                  capture_output=True, timeout=harness.PATIENCE)
            self.assertEqual(done.stdout.splitlines()[1], line)

    def test_nothing(self) -> None:
        self.make("a-1")
        self.call("trend", "duration", "b*", status=3)
        self.assertIn("did you mean 'duration'", self.call("trend", "duraton", status=2).stderr)


class Compare(Runs):
    def test_only_what_differs(self) -> None:
        self.make("a-1", command=["python3", "train.py", "--lr", "0.1", "x"], environment={"OMP_NUM_THREADS": "1"})
        self.make("b-2", command=["python3", "train.py", "--lr", "0.2", "x"], environment={"OMP_NUM_THREADS": "1"}, duration_ns=2 * SECOND)
        self.make("c-3", command=["python3", "train.py", "--lr", "0.1", "x", "--fast"], environment={"OMP_NUM_THREADS": "2"})
        rows = {(row["what"], row["name"]): [row["a-1"], row["b-2"], row["c-3"]]
                for row in self.json("compare", "a-1", "b-2", "c-3")["tables"]["comparison"]}
        self.assertEqual(rows.pop(("argument", "--lr")), ["0.1", "0.2", "0.1"])
        self.assertEqual(rows.pop(("argument", "--fast")), ["-", "-", "(given)"])
        self.assertEqual(rows.pop(("environment", "OMP_NUM_THREADS")), ["1", "1", "2"])
        self.assertEqual(rows.pop(("metric", "duration")), ["1.0 s", "2.0 s", "1.0 s"])
        self.assertEqual(rows, {})
        whole = self.json("compare", "a-1", "b-2", "--all")["tables"]["comparison"]
        self.assertIn({"what": "argument", "name": "2", "a-1": "x", "b-2": "x"}, whole)
        self.assertIn("no run 'd-4'", self.call("compare", "a-1", "d-4", status=3).stderr)
        self.call("compare", "a-1", status=2)

    def test_libraries_come_last_and_only_if_all_have_them(self) -> None:
        def loaded(**builds: str) -> list[dict[str, str]]:
            return [{"path": f"/usr/lib/{name}.so", "build_id": build} for name, build in builds.items()]

        self.make("a-1", loaded=loaded(libboth="11", libsame="22", libmine="33"))
        self.make("b-2", loaded=loaded(libboth="44", libsame="22", libtheirs="55"), duration_ns=2 * SECOND)
        shown = self.json("compare", "a-1", "b-2")
        self.assertEqual([(row["what"], row["name"]) for row in shown["tables"]["comparison"]],
                         [("metric", "duration"), ("library", "libboth.so")])
        self.assertTrue(any("only some of the runs loaded: 2" in note for note in shown["notes"]), shown["notes"])
        whole = [row["name"] for row in self.json("compare", "a-1", "b-2", "--all")["tables"]["comparison"]]
        self.assertTrue({"libmine.so", "libtheirs.so", "libsame.so"} <= set(whole), whole)


class Tags(Runs):
    def test_tags(self) -> None:
        run = self.make("a-1")
        self.make("b-2")
        self.call("tag", "a", "paper", "figure-3")
        self.assertEqual((run / "tags").read_text(), "figure-3\npaper\n")
        self.assertEqual(self.names("tag=paper"), ["a-1"])
        self.assertEqual(self.names("tag!=paper"), ["b-2"])
        self.assertEqual(self.names("tag=fig*"), ["a-1"])
        self.call("tag", "a-1", "--remove", "paper")
        self.assertEqual(self.json("tag", "a-1")["tags"], "figure-3")
        for wrong in ("two words", "", "-x", "a" * 65, "new\nline"):
            self.call("tag", "a-1", "--", wrong, status=2)
        self.call("tag", "a-1", "--remove", "figure-3")
        self.assertFalse((run / "tags").exists())
        self.call("clean", "a-1", "--yes")


class Clean(Runs):
    def setUp(self) -> None:
        super().setUp()
        for index, status in enumerate(("finished", "failed", "finished", "failed")):
            run = self.make(f"r-{index}", start_ns=(1_700_000_000 + index) * SECOND, status=status)
            self.add_tests(run, f"{'ok' if status == 'finished' else 'not ok'} 1 - trains")
        self.call("tag", "r-1", "keep")

    def test_what_goes(self) -> None:
        def would(*words: str) -> list[str]:
            return [row["name"] for row in self.json("clean", "--dry-run", *words)["tables"]["runs"]]

        self.assertEqual(would("--where", "status=failed"), ["r-3", "r-1"])
        self.assertEqual(would("--where", "status=failed", "--keep-tagged"), ["r-3"])
        self.assertEqual(would("--where", "status=failed", "--keep", "1"), ["r-1"])
        self.assertEqual(would("--keep", "1", "--keep-tagged"), ["r-2", "r-0"])
        self.assertEqual(would("--where", "check.failed>0"), ["r-3", "r-1"])
        self.assertIn("did you mean", self.call("clean", "--where", "stauts=x", "--yes", status=2).stderr)
        self.assertEqual(len(self.names()), 4)

    def test_what_is_kept(self) -> None:
        before = self.json("ls", "--sort", "started")["tables"]["runs"]
        self.call("ls", "check.rate>=0")
        self.call("clean", "--where", "status=failed", "--yes")
        self.assertEqual(self.names(), ["r-2", "r-0"])
        self.assertEqual(self.names("--all"), ["r-3", "r-2", "r-1", "r-0"])
        self.assertEqual(self.names("removed=yes"), ["r-3", "r-1"])
        self.assertEqual(self.names("status=removed", "tag=keep"), ["r-1"])
        (self.home / FILE).unlink()
        after = self.json("ls", "--all", "--sort", "started")["tables"]["runs"]
        for old, new in zip(before, after):
            self.assertEqual({**new, "status": new["status"].replace(", removed", "")}, old)
        self.assertEqual([row["value"] for row in self.json("trend", "check:trains")["tables"]["trend"]], [1, 0, 1, 0])
        line = json.loads((self.home / KEPT).read_text().splitlines()[0])
        files = {file["file"]: file for file in line["files"]}
        self.assertTrue({"run.json", "console.log"} <= set(files) and len(files["run.json"]["sha256"]) == 64, files)
        rows = self.json("compare", "r-0", "r-1")["tables"]["comparison"]
        self.assertIn({"what": "test", "name": "trains", "r-0": "passed", "r-1": "failed"}, rows)

    def test_a_damaged_line_does_not_hide_the_others(self) -> None:
        self.call("clean", "r-0", "r-1", "--yes")
        lines = (self.home / KEPT).read_text().splitlines()
        (self.home / KEPT).write_text("{broken\n" + lines[1] + "\n[]\n" + lines[0][:100])
        (self.home / FILE).unlink()
        self.assertEqual(self.names("removed=yes"), ["r-1"])

    def test_forget(self) -> None:
        self.call("clean", "r-0", "--yes", "--forget")
        self.assertEqual(self.names("--all"), ["r-3", "r-2", "r-1"])
        self.assertFalse((self.home / KEPT).exists())


class Tests(Runs):
    def test_tap(self) -> None:
        self.add_tests(self.make("a-1"), "ok 1 - loads # time=12ms", "not ok 2 - saves", "#   expected 3, got 4",
                       "  ---", "  message: 'no room'", "  expected: 3", "  actual: 4", "  duration_ms: 1.5", "  ...",
                       "ok 3 - on a device # SKIP no device", "not ok 4 - later # TODO not yet", "some other line")
        (self.home / "a-1" / "console.log").write_text((self.home / "a-1" / "console.log").read_text().replace("1..12", "1..5"))
        done = self.json("tests", "a-1", status=1)
        rows = {row["name"]: row for row in done["tables"]["tests"]}
        self.assertEqual({name: row["status"] for name, row in rows.items()},
                         {"loads": "passed", "saves": "failed", "on a device": "skipped", "later": "skipped", "plan": "error"})
        self.assertEqual((rows["saves"]["detail"], rows["saves"]["expected"], rows["saves"]["actual"], rows["saves"]["duration_ns"]),
                         ("no room", "3", "4", 1_500_000))
        self.assertEqual((rows["loads"]["duration_ns"], rows["plan"]["detail"]), (12_000_000, "planned 5, seen 4"))

    def test_flaky(self) -> None:
        def git(commit: str, diff: str | None = None) -> dict[str, Any]:
            return {"commit": commit, "dirty": diff is not None, "diff_hash": diff}

        outcomes = (("aaa", None, "ok", "ok", "ok"), ("aaa", None, "not ok", "ok", "ok"), ("bbb", None, "ok", "ok", "ok"),
                    ("bbb", "1234", "ok", "not ok", "ok"), ("", None, "ok", "ok", "ok"), ("", None, "ok", "ok", "not ok"))
        for index, (commit, diff, *results) in enumerate(outcomes):
            run = self.make(f"r-{index}", start_ns=(1_700_000_000 + index) * SECOND, git=git(commit, diff) if commit else None)
            self.add_tests(run, *(f"{result} {number} - {name}" for number, (result, name) in
                                  enumerate(zip(results, ("flaky", "broken by a change", "who knows")), 1)))
        rows = {row["name"]: row for row in self.json("tests", "--history")["tables"]["history"]}
        self.assertEqual({name: (row["flaky"], row["passed"], row["failed"]) for name, row in rows.items()},
                         {"flaky": ("aaa", 5, 1), "broken by a change": ("", 5, 1), "who knows": ("", 5, 1)})
        self.assertEqual([row["name"] for row in self.json("tests", "--history", "--flaky")["tables"]["history"]], ["flaky"])
        self.assertEqual(self.json("tests", "r-0")["tables"]["tests"][0]["status"], "passed (flaky)")
        self.assertEqual(self.names("check:flaky<1"), ["r-1"])
        self.assertEqual(self.names("check.failed>0"), ["r-5", "r-3", "r-1"])

    def test_only_observed_is_no_pass(self) -> None:
        checker = harness.BUILD / "tests/record/record_checker"
        self.call("record", "-q", "-n", "checked", "--", str(checker))
        rows = {row["name"]: row for row in self.json("tests", "checked", status=1)["tables"]["tests"]}
        self.assertEqual((rows["same"]["comparator"], rows["bits"]["comparator"], rows["close"]["comparator"]), ("bit-exact", "bits", "close"))
        self.assertEqual(rows["observed"]["status"], "observed")
        found = self.json("ls", "check.observed=1", "check.rate<0.5")["tables"]["runs"]
        self.assertEqual(len(found), 1)
        self.assertAlmostEqual(found[0]["check.rate"], 4 / 10)

    def test_import(self) -> None:
        (self.folder / "results.xml").write_text("<testsuites><testsuite><testcase classname='a' name='b' time='0.25'/><testcase name='c'>"
                                                 "<failure message='1 &lt; 2'/></testcase></testsuite></testsuites>")
        (self.folder / "log.tap").write_text("1..1\nok 1 - x\n")
        made = self.json("import", "junit", "results.xml")
        self.assertEqual((made["tests"], made["failed"]), (2, 1))
        rows = {row["name"]: row for row in self.json("tests", Path(made["run"]).name, status=1)["tables"]["tests"]}
        self.assertEqual((rows["a.b"]["status"], rows["a.b"]["duration_ns"], rows["c"]["detail"]), ("passed", 250_000_000, "1 < 2"))
        self.call("import", "tap", "log.tap", "-o", "wheeltap-runs/mine")
        self.assertEqual(self.names("check.passed=1", "status=finished"), ["mine"])
        self.assertEqual(self.names("status=failed", "check.failed=1"), [Path(made["run"]).name])
        for words, part in ((("tap", "results.xml"), "is no TAP"), (("junit", "log.tap"), "no JUnit XML"), (("junit", "none.xml"), "cannot open"),
                            (("xunit", "log.tap"), "traincheck, tap and junit"), (("tap",), "no file given")):
            self.assertIn(part, self.call("import", *words, status=None).stderr, words)
        self.assertEqual(len(self.names()), 2)

    def test_none(self) -> None:
        self.make("a-1")
        self.assertIn("has no tests", self.call("tests", "a-1", status=3).stderr)
        self.call("tests", "a-1", "b-2", status=2)
        self.call("tests", "--history", status=3)


if __name__ == "__main__":
    unittest.main()
