#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the verbs say about a simulated run is what the simulator knows about it.

usage: test_truth.py WHEELTAP
"""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Case  # noqa: E402

CONFIGS = (
    "",
    'devices = 3\nstream_per_device = true\nlayers = 3\nhost = "marks"\n[timing]\ntell_ns = 2500\n',
    'devices = 1\nhost = "none"\nedges = false\nstamps = true\n',
)


class Truth(Case):
    def setUp(self) -> None:
        super().setUp()
        self.runs: list[tuple[str, dict[str, Any]]] = []
        for i, toml in enumerate(CONFIGS):
            config, run = self.folder / f"{i}.toml", self.folder / f"run{i}"
            config.write_text(toml)
            self.read("sim", "--json", "--events", "100000", "--config", str(config), "-o", str(run))
            self.runs.append((str(run), json.loads((run / "truth.json").read_text())))

    def read(self, *words: str) -> Any:
        return json.loads(self.bench.run(*words))

    def test_info(self) -> None:
        for run, truth in self.runs:
            said = self.read("info", "--json", run)
            self.assertEqual((said["events"], said["lost"], said["status"]), (truth["events"], 0, "finished"))
            self.assertEqual({row["kind"]: row["events"] for row in said["tables"]["kinds"]}, truth["kinds"])
            tracks = {row["track"]: row["events"] for row in said["tables"]["tracks"] if row["type"] == "queue"}
            self.assertEqual({name: count for name, count in tracks.items() if count},
                             {queue["name"]: queue["operations"] for queue in truth["queues"]})  # fmt: skip

    def test_timeline(self) -> None:
        for run, truth in self.runs:
            said = self.read("timeline", "--json", run)
            self.assertEqual(said["concurrency_max"], truth["concurrency_max"])
            window = truth["window"]["to_ns"] - truth["window"]["from_ns"]
            self.assertEqual(said["device_window_to_ns"] - said["device_window_from_ns"], window)
            queues = {row["track"]: row for row in said["tables"]["tracks"] if row["type"] == "queue"}
            for queue in truth["queues"]:
                self.compare_busy(queues[queue["name"]], queue)
            devices = {row["device"]: row for row in said["tables"]["devices"]}
            for device in truth["devices"]:
                self.compare_busy(devices[device["device"]], device)
                self.assertEqual(devices[device["device"]]["concurrency_max"], device["concurrency_max"])

    def compare_busy(self, said: dict[str, Any], truth: dict[str, Any]) -> None:
        self.assertEqual(said["busy_ns"], truth["busy_ns"])
        self.assertAlmostEqual(said["utilisation"], 100 * truth["utilisation"], places=9)

    def test_device(self) -> None:
        for run, truth in self.runs:
            said = self.read("stat", "--device", "--json", run)
            queues = {row["queue"]: row for row in said["tables"]["queues"]}
            for queue in truth["queues"]:
                self.assertEqual(queues[queue["name"]]["running_ns"], queue["busy_ns"])
            names: dict[str, tuple[int, int]] = {}
            for row in said["tables"]["kernels"]:
                count, total = names.get(row["name"], (0, 0))
                names[row["name"]] = (count + row["count"], total + row["sum_ns"])
            for name, total in truth["names"].items():
                if total["total_ns"]:
                    self.assertEqual(names[name], (total["count"], total["total_ns"]), name)
            found = {row["reason"]: row["count"] for row in said["tables"]["dependencies"]}
            expected = dict(truth["dependencies"])
            # Without calls of the host nobody knows what was launched after a wait, and without streams for all, of which peer.
            for reason in ["host sync"] * ("span_begin" not in truth["kinds"]):
                del expected[reason]
                found.pop(reason, None)
            self.assertEqual(found, {reason: count for reason, count in expected.items() if count})

    def test_stat(self) -> None:
        for run, truth in self.runs:
            rows = self.read("stat", "--json", "--limit", "0", run)["tables"]["profile"]
            ops = {row["name"]: row for row in rows if row["kind"] in truth["ops"]}
            for name, total in truth["names"].items():
                for key in ("count", "total_ns", "min_ns", "max_ns"):
                    self.assertEqual(ops[name][key], total[key], (name, key))


if __name__ == "__main__":
    Truth.wheeltap = sys.argv.pop(1)
    unittest.main()
