#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`wheeltap sim`: its ground truth, its order, its repeatability and its errors.

usage: test_sim.py WHEELTAP
"""

from __future__ import annotations

import hashlib
import json
import re
import resource
import signal
import statistics
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import brute

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case  # noqa: E402

WHEELTAP = ""

# Rows of the default workload with seed 1, hashed as text: the same on every machine. Changes only with
# the model, on purpose. (The bytes of the file also depend on the version of libzstd.)
PINNED_EVENTS = 5000
PINNED_ROWS = "2188502cd9115eb46f4dcb07fa61b898da4b478470bd781778c3f370c912469f"

QUIET = """
devices = 2
layers = 1
[timing]
jitter = 0
transfer_jitter = 0
outliers = 0
[copy]
offload_layers = 0
bytes_per_us = 1000
batch_bytes = 100000
devices_per_link = {per_link}
[[kernel]]
name = "forward"
mean_ns = 50000
jitter = 0
[[kernel]]
name = "back"
phase = "backward"
mean_ns = 100000
load_percent = {load}
jitter = 0
[[kernel]]
name = "weights"
phase = "weight_gradient"
mean_ns = 60000
load_percent = 50
jitter = 0
"""


class Sim(Case):
    def setUp(self) -> None:
        super().setUp()
        self.count = 0

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([WHEELTAP, "sim", *words], capture_output=True, text=True, timeout=PATIENCE)

    def sim(self, events: int, *words: str, toml: str = "") -> Path:
        self.count += 1
        run = self.folder / f"run{self.count}"
        if toml:
            path = self.folder / f"config{self.count}.toml"
            path.write_text(toml)
            words = ("--config", str(path), *words)
        done = self.call("--events", str(events), "-o", str(run), *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return run

    # ---- Ground truth ----

    def compare(self, run: Path) -> list[brute.Row]:
        rows = brute.read(run)
        said = json.loads((run / "truth.json").read_text())
        found = brute.truth(rows)
        said["edges"] = {name: count for name, count in said["edges"].items() if count}
        said["queues"] = {queue.pop("name"): queue for queue in said["queues"]}
        said["devices"] = [device for device in said["devices"] if device["concurrency_max"]]
        for key, value in found.items():
            self.assertEqual(said[key], value, key)
        return rows

    def test_truth_of_the_default(self) -> None:
        rows = self.compare(self.sim(30000))
        self.assertEqual(len(rows), 30000)
        self.check_order(rows)
        self.check_dependencies(rows)

    def test_truth_of_others(self) -> None:
        for toml in (
            "devices = 4\nstream_per_device = true\nlayers = 5\n",
            'devices = 1\nhost = "marks"\nside_queue = false\n',
            'devices = 3\nhost = "none"\nedges = false\nstamps = true\n[timing]\ntell_ns = 2000\n',
            "devices = 16\nlayers = 2\n[copy]\ndevices_per_link = 5\noffload_layers = 1\n[collective]\nbucket_layers = 1\n",
            "[timing]\njitter = 0.25\noutliers = 1\nqueue_gap_ns = 0\nlaunch_gap_ns = 0\n",
            # Devices in lockstep without gaps: ends and starts at the very same moments.
            QUIET.format(per_link=1, load=75).replace("outliers = 0", "outliers = 0\nqueue_gap_ns = 0"),
        ):
            with self.subTest(toml):
                rows = self.compare(self.sim(12345, toml=toml))
                self.check_order(rows)
                self.check_dependencies(rows)

    def test_every_number_of_events(self) -> None:
        for events in [*range(1, 40), 1000, 2958, 2959, 5917, 6001]:
            rows = self.compare(self.sim(events))
            self.assertEqual(len(rows), events)

    # ---- What the format and the model promise ----

    def check_order(self, rows: list[brute.Row]) -> None:
        tracks: dict[tuple[int, int], list[brute.Row]] = {}
        for row in rows:
            tracks.setdefault((row["stream"], row["track"]), []).append(row)
        for some in tracks.values():
            some.sort(key=lambda r: r["seq"])
            self.assertEqual([r["seq"] for r in some], list(range(len(some))))
            times = [r["time"] for r in some]
            self.assertEqual(times, sorted(times))
            ops = [r for r in some if r["kind"] == "device_op"]
            for one, two in zip(ops, ops[1:]):
                self.assertLessEqual(one["ended"], two["started"])
                self.assertLess(one["correlation"], two["correlation"])
            for op in ops:
                self.assertLessEqual(op["started"], op["ended"])
                self.assertLessEqual(op["ended"], op["time"])
                if op["queued"]:
                    self.assertLessEqual(op["queued"], op["submitted"])
                    self.assertLessEqual(op["submitted"], op["started"])

    def check_dependencies(self, rows: list[brute.Row]) -> None:
        ops = {r["correlation"]: r for r in rows if r["kind"] == "device_op"}
        self.assertEqual(len(ops), sum(r["kind"] == "device_op" for r in rows))
        for edge in (r for r in rows if r["kind"] == "edge"):
            one, two = ops[edge["from"]], ops[edge["to"]]
            if edge["type"] == "launch":
                self.assertEqual(one, two)
                self.assertLessEqual(edge["time"], one["started"])
            elif edge["type"] == "record_wait":
                self.assertEqual((one["op"], two["op"]), ("record", "wait"))
                self.assertLessEqual(one["ended"], two["started"])
            elif edge["type"] == "send_receive":
                self.assertNotEqual(one["device"], two["device"])
                self.assertEqual(one["ended"], two["ended"])
            else:
                self.assertLessEqual(one["ended"], two["started"])

    def test_jitter_is_honest(self) -> None:
        rows = brute.read(self.sim(60000, toml='host = "none"\nedges = false\n'))
        for name in ("gemm_qkv", "attention", "gemm_up", "gelu"):
            times = sorted(r["ended"] - r["started"] for r in rows if r.get("name") == name)
            middle = times[len(times) // 100 : -len(times) // 100]
            self.assertGreater(statistics.stdev(middle) / statistics.mean(middle), 0.015, name)
            self.assertGreater(times[-1], 1.3 * statistics.median(times), name)  # outliers
            self.assertGreater(len(set(times)), len(times) // 2, name)

    def test_bytes_an_event(self) -> None:
        for toml in ("", 'host = "none"\nedges = false\n'):
            path = self.folder / "config.toml"
            path.write_text(toml)
            run = self.folder / f"size{len(toml)}"
            done = self.call("--json", "--events", "300000", "-o", str(run), "--config", str(path))
            facts = json.loads(done.stdout)
            self.assertLessEqual(self.fact(facts, "bytes_per_event"), 4)
            self.assertEqual(self.fact(facts, "bytes"), sum(p.stat().st_size for p in run.glob("*.wt")))

    def fact(self, result: dict[str, Any], key: str) -> Any:
        return result[key] if key in result else result["facts"][key]

    def durations(self, toml: str) -> dict[str, list[int]]:
        rows = brute.read(self.sim(300, toml=toml))
        ops = [r for r in rows if r["kind"] == "device_op"]
        return {name: sorted({o["ended"] - o["started"] for o in some}) for name, some in brute.grouped(ops, "name").items()}

    def test_copies_share_a_link(self) -> None:
        alone = self.durations(QUIET.format(per_link=1, load=50))
        shared = self.durations(QUIET.format(per_link=2, load=50))
        self.assertEqual(alone["copy_batch_to_device"], [100000])
        self.assertEqual(shared["copy_batch_to_device"], [200000])

    def test_kernels_share_a_device(self) -> None:
        easy = self.durations(QUIET.format(per_link=1, load=50))
        full = self.durations(QUIET.format(per_link=1, load=75))
        self.assertEqual((easy["forward"], easy["back"], easy["weights"]), ([50000], [100000], [60000]))
        # 125 % wanted: everything takes 1024/819 as long while both run, and the work done is the same.
        self.assertEqual(len(full["weights"]), 1)
        self.assertAlmostEqual(full["weights"][0], 60000 * 1024 / 819, delta=2)
        self.assertAlmostEqual(full["back"][0], 100000 + 60000 * (1024 / 819 - 1), delta=600)
        self.assertEqual(full["forward"], [50000])

    # ---- Repeatability ----

    def files(self, run: Path) -> dict[str, bytes]:
        return {p.name: p.read_bytes() for p in sorted(run.iterdir())}

    def test_same_bytes_for_a_seed(self) -> None:
        one = self.files(self.sim(200000, "--seed", "7"))
        self.assertEqual(one, self.files(self.sim(200000, "--seed", "7")))
        self.assertEqual(one, self.files(self.sim(200000, toml="seed = 7\n")))
        self.assertNotEqual(one["sim-00.wt"], self.files(self.sim(200000, "--seed", "8"))["sim-00.wt"])

    def test_same_rows_on_every_machine(self) -> None:
        text = "\n".join(sorted(repr(sorted(row.items())) for row in brute.read(self.sim(PINNED_EVENTS))))
        self.assertEqual(hashlib.sha256(text.encode()).hexdigest(), PINNED_ROWS)

    def test_documented_defaults_are_the_defaults(self) -> None:
        text = (Path(__file__).resolve().parents[2] / "docs" / "sim.md").read_text().partition("## Configuration")[2]
        toml = ""
        for line in text.partition("`[[kernel]]`")[0].splitlines():
            if table := re.match(r"`(\[\w+\])`$", line):
                toml += table[1] + "\n"
            elif row := re.match(r"\| `(\w+)` \| `?([^|`]+)`? \|", line):
                toml += f"{row[1]} = {row[2]}\n"
        self.assertEqual(toml.count(" = "), 27)
        one = self.files(self.sim(10000, toml=toml))
        self.assertEqual(one, self.files(self.sim(10000)))
        said = json.loads(one["run.json"])["config"]
        self.assertEqual((said["devices"], said["timing"]["launch_ns"]), (2, 3100))

    def test_all_kinds(self) -> None:
        run = self.sim(5000, "--kinds", "all", "--seed", "3")
        rows = brute.read(run)
        said = json.loads((run / "truth.json").read_text())
        self.assertEqual(brute.truth(rows)["kinds"], said["kinds"])
        self.assertEqual(len(rows), 5000)
        self.assertGreaterEqual(len(said["kinds"]), 24)
        self.assertEqual(self.files(run), self.files(self.sim(5000, "--kinds", "all", "--seed", "3")))
        first = brute.read(self.sim(24, "--kinds", "all"))
        self.assertEqual(len({r["kind"] for r in first}), 24)

    # ---- Errors ----

    def refused(self, toml: str) -> str:
        path = self.folder / "bad.toml"
        path.write_text(toml)
        done = self.call("--config", str(path), "-o", str(self.folder / "never"))
        self.assertEqual((done.returncode, done.stdout), (2, ""), toml)
        self.assertFalse((self.folder / "never").exists())
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr.replace(str(path), "FILE")

    def test_bad_configurations(self) -> None:
        for toml, part in (
            ("devcies = 2\n", "unknown key 'devcies' at FILE:1:1: did you mean 'devices'?"),
            ("\n[timing]\n  lanch_ns = 1\n", "unknown key 'lanch_ns' at FILE:3:3: did you mean 'launch_ns'?"),
            ("zzzzzzzz = 2\n", "unknown key 'zzzzzzzz' at FILE:1:1"),
            ("devices = 17\n", "a whole number from 1 to 16"),
            ("devices = -1\n", "a whole number from 1 to 16"),
            ("devices = 1.5\n", "a whole number from 1 to 16"),
            ('devices = "two"\n', "a whole number from 1 to 16"),
            ("edges = 1\n", "true or false"),
            ('host = "span"\n', 'one of "spans" "marks" "none"'),
            ("timing = 3\n", "a table"),
            ("[timing]\njitter = 0.3\n", "a share from 0 to 0.25"),
            ("[timing]\njitter = nan\n", "a share from 0 to 0.25"),
            ("kernel = 3\n", "[[kernel]] tables"),
            ('[[kernel]]\nname = "a"\n', "incomplete kernel at FILE:"),
            ('[[kernel]]\nname = ""\nmean_ns = 1\n', "a text of 1 to 63 bytes"),
            ('[[kernel]]\nname = "' + "a" * 64 + '"\nmean_ns = 1\n', "a text of 1 to 63 bytes"),
            ('[[kernel]]\nname = "a"\nmeen_ns = 1\n', "did you mean 'mean_ns'?"),
            ("[[kernel]]\nname = 'a'\nmean_ns = 1\n" * 129, "too many kernels"),
            ("devices = \n", "FILE:1:"),
        ):
            self.assertIn(part, self.refused(toml))

    def test_bad_command_lines(self) -> None:
        for words, code in (
            ((), 2),
            (("-o", str(self.folder / "a"), "--events", "0"), 2),
            (("-o", str(self.folder / "a"), "--events", "99999999999"), 2),
            (("-o", str(self.folder / "a"), "--kinds", "some"), 2),
            (("-o", str(self.folder / "a"), "--config", str(self.folder / "none.toml")), 2),
            (("-o", "/dev/null/a"), 4),
        ):
            done = self.call(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_folder_in_use_is_refused(self) -> None:
        run = self.sim(100)
        before = self.files(run)
        done = self.call("--events", "100", "-o", str(run))
        self.assertEqual(done.returncode, 4)
        self.assertIn("already contains a run", done.stderr)
        self.assertEqual(self.files(run), before)

    def test_a_full_disk_leaves_a_stream_that_can_be_read(self) -> None:
        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        run = self.folder / "full"
        done = subprocess.run([WHEELTAP, "sim", "--events", "500000", "-o", str(run)], capture_output=True, text=True,
                              timeout=PATIENCE, preexec_fn=limit, restore_signals=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("File too large", done.stderr)
        self.assertEqual([p.name for p in run.iterdir()], ["sim-00.wt"])
        stream = brute.reference_decoder.decode(str(run / "sim-00.wt"))
        self.assertEqual((stream.found_by, stream.notes), ("scan", []))
        self.assertGreater(stream.event_count, 10000)

    def test_without_kernels(self) -> None:
        """Only forward kernels, or none at all: still a workload."""
        for toml in ('[[kernel]]\nname = "a"\nmean_ns = 5000\n', "kernel = []\n"):
            self.compare(self.sim(2000, toml=toml))


if __name__ == "__main__":
    WHEELTAP = sys.argv.pop(1)
    unittest.main()
