#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""wheeltap report: of runs that ended in every way, in every format.

usage: test_report.py WHEELTAP REPORT_PROGRAM
"""

from __future__ import annotations

import hashlib
import html.parser
import json
import re
import shutil
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, environment, kill, wait_for  # noqa: E402

WHEELTAP, PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:3])
PYTHON = "/usr/bin/python3"  # Debian's, for which there is a torch
COUNT, SPIKE, BROKEN = 200_000, 123_456, 50_000
VOID = {"meta", "br", "hr", "img", "link", "input", "path", "circle"}
PARTS = ["run", "findings", "checks", "metrics", "time", "model", "hyperparameters", "data", "artifacts", "configuration", "code", "host",
         "history", "reproduce"]  # fmt: skip


class Strict(html.parser.HTMLParser):
    """Every element is closed where it has to be, ids are there once, links lead to them, and nothing is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.data = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value in self.ids:
                self.wrong.append(f"id {value} twice")
            if name == "id" and value:
                self.ids.add(value)
            if name in ("src", "srcset", "background") or name.startswith("on"):
                self.wrong.append(f"{tag} {name}={value}")
            if name == "href":
                self.links.add(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script" and data.startswith("{"):
            self.data = data

    def problems(self) -> list[str]:
        lost = [link for link in self.links if not link.startswith("#") or link[1:] not in self.ids]
        return self.wrong + [f"open: {tag}" for tag in self.open] + [f"leads nowhere: {link}" for link in lost]


def strict(page: str) -> Strict:
    parser = Strict()
    parser.feed(page)
    parser.close()
    return parser


class Bench(unittest.TestCase):
    """A folder with runs, and reports of them."""

    folder: Path
    scratch: Scratch

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = Scratch()
        cls.folder = cls.scratch.__enter__()
        (cls.folder / "runs").mkdir()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.__exit__(None, None, None)

    def report(self, *words: str, code: int = 0) -> str:
        done = subprocess.run([WHEELTAP, "report", *words], cwd=self.folder, env=environment(WHEELTAP_HOME=str(self.folder / "runs")),
                              capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def one(self, run: str) -> dict[str, Any]:
        runs: list[dict[str, Any]] = json.loads(self.report("--json", run))["runs"]
        self.assertEqual(len(runs), 1)
        return runs[0]


class Report(Bench):
    running: subprocess.Popen[str]

    @classmethod
    def start(cls, name: str, *words: object) -> subprocess.Popen[str]:
        """A run in its own session, until the program is ready."""
        command = [WHEELTAP, "record", "-q", "-o", str(cls.folder / "runs" / name), "-n", "program", "--on-full", "wait", "--", PROGRAM, *map(str, words)]
        recorder = subprocess.Popen(command, cwd=cls.folder, env=environment(WHEELTAP_HOME=str(cls.folder / "runs")), text=True,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == "ready\n"
        recorder.stdout.close()
        return recorder

    @classmethod
    def shown(cls, run: str) -> str:
        return subprocess.run([WHEELTAP, "report", "--json", run], env=environment(WHEELTAP_HOME=str(cls.folder / "runs")), capture_output=True,
                              text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL).stdout

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        for name, words, status in (("good", ["good", COUNT, SPIKE, BROKEN], 0), ("failed", ["fail"], 3)):
            recorder = cls.start(name, *words)
            assert recorder.wait(timeout=PATIENCE) == status, name
        killed = cls.start("killed", "hang")
        pids = wait_for(lambda: [pid for pid in cls.below(killed.pid) if Path(f"/proc/{pid}/exe").resolve() == Path(PROGRAM)])
        kill(pids[0])
        killed.wait(timeout=PATIENCE)
        cls.running = cls.start("running", "hang")
        wait_for(lambda: "still running, " in cls.shown("running"))  # its steps have come to the trace

    @classmethod
    def below(cls, pid: int) -> list[int]:
        """All processes that a process has started."""
        found: list[int] = []
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                found += [child, *cls.below(child)]
        return found

    @classmethod
    def tearDownClass(cls) -> None:
        for pid in cls.below(cls.running.pid):
            if Path(f"/proc/{pid}/exe").resolve() == Path(PROGRAM):
                kill(pid)
        cls.running.wait(timeout=PATIENCE)
        super().tearDownClass()

    def test_how_it_ended(self) -> None:
        for run, status, verdict, words in (("good", "finished", "good", "finished, "), ("failed", "failed", "bad", "failed (exit status 3)"),
                                            ("killed", "killed", "bad", "killed (signal 9 (Killed))"),
                                            ("running", "running", "not judged", "still running, ")):  # fmt: skip
            one = self.one(run)
            self.assertEqual((one["status"], one["verdict"]), (status, verdict), run)
            self.assertIn(words, one["headline"])
            self.assertEqual(list(one["parts"]), PARTS)
            page, text = self.report("--html", run), self.report(run)
            self.assertIn(words, page)
            self.assertIn(words, text)
            self.assertEqual(strict(page).problems(), [], run)

    def test_what_is_not_known_says_so(self) -> None:
        one = self.one("good")
        missing = {row["what"] for part in one["parts"].values() for row in part["tables"].get("not_recorded", [])}
        self.assertIn("model architecture and parameter counts", missing)
        self.assertIn("settings of torch", missing)
        self.assertIsNone(one["parts"]["host"]["torch_version"])
        self.assertIn("not recorded: model architecture and parameter counts", self.report("good"))
        self.assertIn("not recorded", self.report("--html", "good"))

    def test_checks(self) -> None:
        for run, passed, failed in (("good", 3, 0), ("failed", 2, 1)):
            one = self.one(run)
            counts = one["counts"]
            self.assertEqual((counts["checks_passed"], counts["checks_failed"], counts["observations"]), (passed, failed, 1))
            rows = {row["name"]: row for row in one["parts"]["checks"]["tables"]["checks"]}
            self.assertEqual((rows["accuracy"]["verdict"], rows["accuracy"]["expected"]), ("observed", None))
            self.assertEqual((rows["a | loss"]["comparator"], rows["a | loss"]["tolerance"]), ("close", 1e-3))
            self.assertEqual([row["name"] for row in rows.values() if row["comparator"] == "bits"], ["bits"])
            self.assertIn(f"{passed} of 3 checks passed; 1 observation without an expectation", one["headline"])
            self.assertIn("| a \\| loss | passed |", self.report(run))
            self.assertNotIn("bit-exact", self.report(run))

    def test_a_failed_check_is_bad(self) -> None:
        """Also of a program that does not mind."""
        self.assertEqual(self.start("wrong", "wrong").wait(timeout=PATIENCE), 0)
        one = self.one("wrong")
        shutil.rmtree(self.folder / "runs" / "wrong")  # other tests count the runs
        self.assertEqual((one["status"], one["verdict"], one["counts"]["checks_failed"]), ("finished", "bad", 1))

    def test_junit(self) -> None:
        for run, failures, errors, skipped in (("good", 0, 0, 1), ("failed", 1, 1, 1), ("killed", 0, 1, 1), ("running", 0, 0, 2)):
            suite = ElementTree.fromstring(self.report("--junit", run))[0]
            self.assertEqual([suite.get(key) for key in ("failures", "errors", "skipped")], [str(failures), str(errors), str(skipped)], run)
            cases = suite.findall("testcase")
            self.assertEqual(len(cases), int(suite.get("tests", "0")))
            for key, found in (("failure", failures), ("error", errors), ("skipped", skipped)):
                self.assertEqual(len(suite.findall(f"testcase/{key}")), found, (run, key))
            observed = next(case for case in cases if case.get("name") == "accuracy")
            self.assertIsNotNone(observed.find("skipped"))

    def test_intoto(self) -> None:
        for run, result in (("good", "PASSED"), ("failed", "FAILED"), ("running", "WARNED")):
            tests, provenance = map(json.loads, self.report("--intoto", run).splitlines())
            self.assertEqual((tests["_type"], tests["predicateType"]), ("https://in-toto.io/Statement/v1", "https://in-toto.io/attestation/test-result/v0.1"))
            self.assertEqual(tests["predicate"]["result"], result)
            self.assertNotIn("accuracy", tests["predicate"]["passedTests"])
            self.assertEqual(provenance["predicateType"], "https://slsa.dev/provenance/v1")
            self.assertIn(PROGRAM, provenance["predicate"]["buildDefinition"]["externalParameters"]["command"])
            self.assertEqual(tests["subject"], provenance["subject"])
            for subject in tests["subject"]:
                data = (self.folder / "runs" / run / subject["name"]).read_bytes()
                self.assertEqual(subject["digest"]["sha256"], hashlib.sha256(data).hexdigest())
            self.assertEqual(bool(tests["subject"]), run != "running")

    def test_spike_and_gap(self) -> None:
        metrics = self.one("good")["parts"]["metrics"]
        many = next(row for row in metrics["tables"]["metrics"] if row["name"] == "many")
        self.assertEqual((many["count"], many["max"], many["max_at"], many["nan"]), (COUNT, 1000, SPIKE, 1))
        series = next(one for one in metrics["series"].values() if one["title"] == "many")
        self.assertLessEqual(len(series["y"]), 2048)
        place = int((SPIKE - series["x_first"]) // series["x_step"])
        self.assertEqual((series["high"][place], series["low"][place]), (1000, 1))
        self.assertEqual(sum(series["nonfinite"]), 1)
        self.assertEqual(series["nonfinite"][int((BROKEN - series["x_first"]) // series["x_step"])], 1)
        page = self.report("--html", "good")
        self.assertLess(len(page), 400_000)
        picture = re.search(r'aria-label="many".*?</svg>', page, re.S)
        assert picture
        ranges = re.search(r'class="range" d="([^"]*)"', picture[0])
        assert ranges
        self.assertEqual(min(float(y) for y in re.findall(r"V([\d.]+)", ranges[1])), 12)  # the upper edge: the spike is drawn
        self.assertIn('class="nonfinite"', picture[0])

    def test_steps_are_the_axis(self) -> None:
        loss = next(row for row in self.one("good")["parts"]["metrics"]["tables"]["metrics"] if row["name"] == "loss")
        self.assertEqual((loss["count"], loss["x"], loss["min_at"], loss["max_at"]), (20, "steps", 19, 0))

    def test_several(self) -> None:
        page = self.report("--html", "good", "failed", "running")
        self.assertEqual(strict(page).problems(), [])
        self.assertIn("<h1>3 runs</h1>", page)
        text = self.report("good", "failed")
        self.assertTrue(text.startswith("# 2 runs"), text[:100])
        self.assertEqual([run["run"] for run in json.loads(self.report("--json", "good", "failed"))["runs"]], ["good", "failed"])

    def test_page_has_its_data(self) -> None:
        page = strict(self.report("--html", "failed"))
        self.assertEqual(json.loads(page.data)["runs"][0]["run"], "failed")

    def test_output(self) -> None:
        for name, begins in (("a.html", "<!DOCTYPE html>"), ("a.md", "## "), ("a.json", "{"), ("a.xml", "<?xml"), ("a.intoto.jsonl", "{")):
            self.assertEqual(self.report("good", "-o", name), "")
            self.assertTrue((self.folder / name).read_text().startswith(begins), name)
        self.assertEqual(self.report("good", "--json", "-o", "b.html"), "")
        self.assertTrue((self.folder / "b.html").read_text().startswith("{"))
        self.assertIn("one format", self.report("good", "--json", "--html", code=2))
        self.report("good", "-o", "not/there/a.html", code=4)
        self.assertIn("no run", self.report("nowhere", code=3))

    def test_history_and_the_way_to_repeat(self) -> None:
        one = self.one("killed")
        names = [row["name"] for row in one["parts"]["history"]["tables"]["runs"]]
        self.assertEqual(names[0], "killed")
        self.assertEqual(set(names), {"killed", "failed", "good"})
        self.assertEqual(one["parts"]["history"]["earlier_finished"], 1)
        metrics = {row["name"]: row for row in one["parts"]["history"]["tables"]["metrics"]}
        self.assertLessEqual({"loss.last", "check.rate", "throughput", "step_time.p50", "duration"}, metrics.keys())
        self.assertEqual((metrics["loss.last"]["this_value"], metrics["loss.last"]["change_percent"]), (0.05, 0))
        self.assertFalse([name for name in metrics if name.startswith("trainer.")])
        self.assertTrue(one["parts"]["reproduce"]["reproduce"].endswith(f"wheeltap record -- {PROGRAM} hang"))

    def test_damage(self) -> None:
        run = self.folder / "damaged"
        subprocess.run(["cp", "-r", str(self.folder / "runs" / "good"), str(run)], check=True)
        stream = max(run.glob("*.wt"), key=lambda path: path.stat().st_size)
        stream.write_bytes(stream.read_bytes()[: stream.stat().st_size // 2])
        self.report(str(run), "-o", "damaged.html", code=3)
        self.assertIn(stream.name, (self.folder / "damaged.html").read_text())


TRAIN = """
import sys, torch
torch.manual_seed(7)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
data = torch.utils.data.TensorDataset(torch.randn(12, 4), torch.arange(12) % 2)
for step, (x, y) in enumerate(torch.utils.data.DataLoader(data, batch_size=2)):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    schedule.step()
torch.save({"model": model.state_dict()}, "kept.pt")
torch.save(model.state_dict(), "flat.pt")
torch.save(model[0].bias.detach(), "alone.pt")
if len(sys.argv) > 1:
    raise ValueError("<b>|</b>")
"""


class OfTorch(Bench):
    """Of a training with torch, where Debian's is installed."""

    @classmethod
    def setUpClass(cls) -> None:
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
            raise unittest.SkipTest(f"no torch for {PYTHON}")
        if not list((Path(WHEELTAP).parent / "python" / "wheeltap").glob("_wheeltap*.so")):
            raise unittest.SkipTest("this build has no agent for Python")
        super().setUpClass()
        (cls.folder / "train.py").write_text(TRAIN)
        for name, words, status in (("trained", [], 0), ("thrown", ["x"], 1)):
            done = subprocess.run([WHEELTAP, "record", "-q", "-o", str(cls.folder / "runs" / name), "--", PYTHON, "train.py", *words], cwd=cls.folder,
                                  env=environment(), capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
            assert done.returncode == status, done.stderr

    def test_what_it_consists_of(self) -> None:
        parts = self.one("trained")["parts"]
        self.assertEqual([(row["class"], row["parameters"]) for row in parts["model"]["tables"]["models"]], [("Sequential", 58)])
        self.assertEqual(len(parts["model"]["tables"]["tensors"]), 4)
        settings = {row["setting"]: row for row in parts["hyperparameters"]["tables"]["settings"] if row["owner"] == "SGD"}
        self.assertEqual((settings["lr"]["first"], settings["momentum"]["first"]), ("0.1", "0.9"))
        self.assertGreater(settings["lr"]["changes"], 0)
        inputs = next(row for row in parts["data"]["tables"]["batches"] if row["dtype"] == "f32")
        self.assertEqual((inputs["batches"], inputs["rows"], inputs["shape"]), (6, 12, "2x4"))
        self.assertEqual(parts["configuration"]["tables"]["seeds"], [{"name": "torch.manual_seed", "value": "7"}])
        self.assertEqual(parts["run"]["steps"], 6)
        self.assertTrue(parts["host"]["torch_version"] and parts["host"]["python_version"])
        metrics = {row["name"]: row for row in parts["metrics"]["tables"]["metrics"]}
        self.assertEqual({name: row["count"] for name, row in metrics.items()},
                         {"loss": 6, "lr of SGD": 6, "gradient norm at SGD.step()": 6, "step time": 6})
        self.assertEqual(metrics["lr of SGD"]["first"], 0.1)

    def test_checkpoint_is_what_was_saved(self) -> None:
        kept = self.folder / "kept.pt"
        saved = self.one("trained")["parts"]["artifacts"]["tables"]["checkpoints"]
        self.assertEqual([(row["path"], row["contents"]) for row in saved],
                         [(path, f"{count} of {count} tensors have the digest that was saved") for path, count in (("kept.pt", 4), ("flat.pt", 4), ("alone.pt", 1))])
        self.assertEqual(saved[0]["sha256"], hashlib.sha256(kept.read_bytes()).hexdigest())
        flip = "import torch; x = torch.load('kept.pt'); x['model']['0.bias'][3] += 1e-6; torch.save(x, 'kept.pt')"
        subprocess.run([PYTHON, "-c", flip], cwd=self.folder, check=True, timeout=PATIENCE)
        changed = self.one("trained")["parts"]["artifacts"]["tables"]["checkpoints"][0]
        self.assertEqual(changed["contents"], "3 of 4 tensors have the digest that was saved; 1 DIFFER; first: model.0.bias")
        self.assertEqual(changed["since"], "CHANGED")
        kept.unlink()
        gone = self.one("trained")["parts"]["artifacts"]["tables"]["checkpoints"][0]
        self.assertEqual((gone["since"], gone["sha256"]), ("gone, or not readable", None))

    def test_exception(self) -> None:
        one = self.one("thrown")
        self.assertEqual((one["status"], one["verdict"]), ("failed", "bad"))
        self.assertRegex(one["headline"], r"^failed \(exit status 1, ValueError at train.py:\d+\), 6 steps in ")
        self.assertEqual(strict(self.report("--html", "thrown")).problems(), [])

    def test_markup_in_the_headline(self) -> None:
        (self.folder / "a<i>|.py").write_text("raise ValueError('x')")
        subprocess.run([WHEELTAP, "record", "-q", "-o", str(self.folder / "runs" / "marked"), "--", PYTHON, "a<i>|.py"], cwd=self.folder,
                       env=environment(), capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertIn("ValueError at a<i>|.py:1", self.one("marked")["headline"])
        page = self.report("--html", "marked")
        self.assertEqual(strict(page).problems(), [])
        self.assertIn("ValueError at a&lt;i&gt;|.py:1", page)
        self.assertIn("a\\<i\\>\\|.py:1", self.report("marked"))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1], verbosity=2)
