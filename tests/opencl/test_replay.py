# SPDX-License-Identifier: Apache-2.0
"""Recorded OpenCL work, executed again in a fresh process: bit-exact where it is deterministic, origin and race named where it is not, and what
is missing said.

    test_replay.py PROGRAM...   built from the C files beside this one
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from replaying import MISTAKES, WHEELTAP, code_of, emit_and_show, record, replay, start
from harness import BUILD, PYTHON, Case, environment, skip  # noqa: E402  (replaying finds it)

PROGRAMS = {Path(path).name.removeprefix("opencl_"): path for path in sys.argv[1:]}


class Replay(Case):
    def recorded(self, name: str, *arguments: str) -> Path:
        return record(self.folder / "_".join((name, *arguments)), [PROGRAMS[name], *arguments])

    def bit_exact(self, name: str, *options: str) -> None:
        code, result, _ = replay(self.recorded(name), *options)
        self.assertEqual((code, result["status"], result["findings"]), (0, "bit_exact", []), name)
        facts = result
        self.assertEqual((facts["executed"], facts["same"], facts["races"]), (facts["operations"], facts["operations"], 0))
        self.assertGreater(facts["compared"], 0)

    def test_deterministic(self) -> None:
        for name in ("vector_add", "image_filter", "svm", "map_unmap", "out_of_order", "sub_buffers"):
            with self.subTest(name):
                self.bit_exact(name)

    def test_nothing_without_consent(self) -> None:
        folder = self.recorded("vector_add")
        done = start([WHEELTAP, "replay", str(folder)])
        self.assertEqual(done.returncode, 2)
        self.assertIn("source", done.stderr)
        self.assertIn("vector_add", done.stderr)
        self.assertIn("nothing was executed", done.stderr)
        other = start([WHEELTAP, "replay", "--yes", "0123456789abcdef", str(folder)])
        self.assertEqual(other.returncode, 2)
        self.assertIn("--yes names other programs", other.stderr)

    def test_asked_on_a_terminal(self) -> None:
        folder = self.recorded("vector_add")
        for answer, status, says in (("n", 2, "nothing was executed"), ("", 2, "nothing was executed"), ("y", 0, "BIT-EXACT")):
            ours, theirs = pty.openpty()
            os.write(ours, f"{answer}\n".encode())
            done = subprocess.run([WHEELTAP, "replay", str(folder)], env=environment(), stdin=theirs, capture_output=True, check=False, text=True)
            os.close(ours)
            os.close(theirs)
            self.assertEqual(done.returncode, status, answer)
            self.assertIn("execute them? [y/N]", done.stderr)
            self.assertIn(says, done.stdout + done.stderr)

    def test_code_is_of_the_bytes(self) -> None:
        """A program that was changed under its old name is not what was agreed to, and is not executed either."""
        folder = self.recorded("vector_add")
        code = code_of(folder)
        source = next(blob for blob in (folder / "blobs").iterdir() if b"__kernel" in blob.read_bytes())
        source.write_bytes(source.read_bytes().replace(b"+", b"-"))
        self.assertNotEqual(code, code_of(folder))
        status, result, _ = replay(folder)
        self.assertEqual((status, result["status"]), (3, "partial"))
        whys = {row["why"] for row in result["tables"]["operations"] if row["verdict"] == "missing"}
        self.assertTrue(any("damaged" in why for why in whys), whys)

    def test_missing_content(self) -> None:
        """What came from the host is gone: its writes are missing, what depends on them unknown, and the rest is executed."""
        folder = self.recorded("vector_add")
        plan = start([WHEELTAP, "view", "-k", "device_access", "--jsonl", str(folder)]).stdout
        self.assertIn("device_access", plan)
        for blob in (folder / "blobs").iterdir():
            if b"__kernel" not in blob.read_bytes():
                blob.unlink()
        status, result, error = replay(folder)
        self.assertEqual((status, result["status"]), (3, "partial"))
        facts = result
        self.assertEqual(facts["missing"], 2)
        self.assertGreater(facts["unknown"], 0)
        self.assertGreater(facts["executed"], 0)
        self.assertIn("missing in the run's folder", str(result["tables"]["operations"]))
        self.assertIn("were not compared", error)

    def test_no_device(self) -> None:
        """Nothing can be executed, and races are found nevertheless."""
        folder, empty = self.recorded("two_queues"), self.folder / "empty"
        empty.mkdir()
        done = start([WHEELTAP, "replay", "--json", "--yes", code_of(folder), str(folder)], OCL_ICD_VENDORS=str(empty))
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["status"], result["races"], result["operations"]), (3, "not_measured", 1, 3))
        self.assertIn("no OpenCL device: install", done.stderr)
        self.assertIn("not confirmed: nothing was executed", result["findings"][0]["evidence"]["text"])

    def test_missing_device(self) -> None:
        folder = self.recorded("vector_add")
        done = start([WHEELTAP, "replay", "--yes", code_of(folder), "--device", "no such device", str(folder)])
        self.assertEqual(done.returncode, 3)
        self.assertIn("no OpenCL device whose name contains 'no such device'", done.stderr)

    def test_cannot_be_replayed(self) -> None:
        """A function of the program itself: said, and the rest goes on."""
        status, result, _ = replay(self.recorded("threads"))
        self.assertEqual((status, result["status"], result["missing"], result["unknown"]), (3, "partial", 1, 1))

    def test_race(self) -> None:
        status, result, _ = replay(self.recorded("two_queues"))
        self.assertEqual((status, result["status"]), (1, "divergent"))
        race = [finding for finding in result["findings"] if finding["id"] == "WT-REPLAY-002"]
        self.assertEqual(len(race), 1)
        self.assertIn("'fill_up' on queue 1 and 'fill_down' on queue 2", race[0]["title"])
        self.assertIn("confirmed: the two orders leave different contents", race[0]["evidence"]["text"])

    def test_no_race_with_an_event(self) -> None:
        status, result, _ = replay(self.recorded("two_queues", "ordered"))
        self.assertEqual((status, result["status"], result["races"]), (0, "bit_exact", 0))

    def test_race_without_executing(self) -> None:
        """Happens-before alone."""
        done = start([WHEELTAP, "replay", "--mode", "dry-run", str(self.recorded("two_queues"))])
        self.assertIn("'fill_up' on queue 1 and 'fill_down' on queue 2", done.stdout)
        self.assertIn("nothing was executed", done.stdout)

    def test_intrinsic(self) -> None:
        status, result, _ = replay(self.recorded("float_atomics"), "--repeat", "10")
        self.assertEqual((status, result["status"], result["races"]), (1, "divergent", 0))
        origins = [row["name"] for row in result["tables"]["operations"] if row["verdict"] == "ORIGIN"]
        self.assertEqual(origins, ["sum"])
        finding = result["findings"][0]
        self.assertEqual(finding["id"], "WT-REPLAY-001")
        self.assertIn("(float*)", finding["evidence"]["text"])
        self.assertIn("1 of 1 elements (f32) differ", finding["evidence"]["text"])
        inherited = [row["name"] for row in result["tables"]["operations"] if row["verdict"] == "inherited"]
        self.assertEqual(inherited[0], "twice")

    def test_orders(self) -> None:
        folder = self.recorded("out_of_order")
        code = code_of(folder)
        for order in ("serial", "reversed", "random:7", "random:8", "original"):
            with self.subTest(order):
                status, result, _ = replay(folder, "--order", order, code=code)
                self.assertEqual((status, result["status"]), (0, "bit_exact"))

    def test_window(self) -> None:
        """A kernel alone, with what it needs and no more."""
        folder = self.recorded("mlp")
        code = code_of(folder)
        whole = replay(folder, code=code)[1]
        part = replay(folder, "--mode", "partial", "--from", "0", "--to", "6", code=code)[1]
        self.assertLess(part["executed"], whole["executed"])
        self.assertEqual(part["missing"], 0)

    def test_emitted_programs(self) -> None:
        """The fast ones of the table; `make replay` tries them all."""
        for mistake in MISTAKES:
            if mistake.is_slow:
                continue
            with self.subTest(mistake.words):
                name, *words = mistake.words.split()
                self.assertEqual(emit_and_show(self.recorded(name, *words), mistake), "")

    def test_nothing_to_emit(self) -> None:
        file = self.folder / "repro.c"
        status, result, error = replay(self.recorded("vector_add"), "--emit", str(file))
        self.assertEqual((status, result["status"], file.exists()), (0, "bit_exact", False))
        self.assertIn("nothing diverges", error)

    def test_from_python(self) -> None:
        script = ("import sys\nfrom wheeltap import tracesmith as ts\n"
                  "result = ts.replay_trace(sys.argv[1], yes=ts.replay_code(sys.argv[1]))\n"
                  "print(result.status, result.success, len(result.races), result.counts['same'])\n")
        done = start([PYTHON, "-c", script, str(self.recorded("two_queues"))], PYTHONPATH=str(BUILD / "python"))
        self.assertEqual((done.stdout, done.returncode), ("divergent False 1 3\n", 0), done.stderr)

    def test_stream(self) -> None:
        """One queue, and of the other what it needs."""
        folder = self.recorded("two_queues", "ordered")
        code = code_of(folder)
        status, result, _ = replay(folder, "--mode", "stream", "--queue", "queue 2", code=code)
        self.assertIn((status, result["status"]), ((0, "bit_exact"), (3, "deterministic")))  # contents are recorded now and then
        self.assertEqual((result["operations"], result["executed"], result["missing"], result["origins"]), (1, 2, 0, 0))
        none = replay(folder, "--mode", "stream", "--queue", "no such queue", code=code)
        self.assertEqual((none[0], none[1]["status"], none[1]["operations"]), (3, "not_measured", 0))

    def test_speed(self) -> None:
        """The program paused twice for 0.2 s between its kernels, and so does the replay."""
        folder = self.recorded("odd", "pauses")
        code = code_of(folder)
        for speed, least in (("1", 0.4), ("0.1", 2.0)):
            status, result, _ = replay(folder, "--speed", speed, code=code)
            self.assertEqual((status, result["status"]), (0, "bit_exact"))
            self.assertGreaterEqual(result["seconds"], least)
        self.assertNotIn("seconds", replay(folder, code=code)[1])

    def test_another_device(self) -> None:
        """The same results, and yet not called bit-exact."""
        folder = self.recorded("vector_add")
        code = code_of(folder)
        done = start([WHEELTAP, "replay", "--json", "--yes", code, str(folder)], POCL_DEVICES="basic")
        result = json.loads(done.stdout)
        if result["device"] == json.loads(start([WHEELTAP, "replay", "--json", "--yes", code, str(folder)]).stdout)["device"]:
            self.skipTest("the driver has no second device")
        self.assertEqual((done.returncode, result["status"]), (0, "within_tolerance"), result)
        self.assertIn("cannot be bit-exact", done.stderr)

    def test_native_code(self) -> None:
        """The code of the run is not enough: the program has to be named, too."""
        folder = self.recorded("odd", "binary")
        code = code_of(folder)
        listed = start([WHEELTAP, "replay", str(folder)]).stderr
        status, result, _ = replay(folder, code=code)
        self.assertEqual((status, result["status"], result["missing"]), (3, "partial", 1), result)
        self.assertIn("native code", str(result["tables"]["operations"]))
        name = re.search(r"program ([0-9a-f]{16}) \(NATIVE CODE", listed)
        self.assertIsNotNone(name, listed)
        for wrong in (f"{code},{'0' * 16}", f"{code},"):
            self.assertEqual(replay(folder, code=wrong)[1]["missing"], 1)
        status, result, _ = replay(folder, code=f"{code},{name[1]}")
        self.assertEqual((status, result["status"], result["missing"]), (0, "bit_exact", 0), result)

    def test_usage(self) -> None:
        folder = self.recorded("vector_add")
        for words, what in ((["--order", "backwards"], "is no order"), (["--mode", "stream"], "needs --queue"), (["--from", "soon", "--mode", "partial"], "neither"),
                            (["--kernel", "x"], "--mode partial"), (["--speed", "-1"], "is no factor")):
            done = start([WHEELTAP, "replay", *words, str(folder)])
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    if start([PROGRAMS["vector_add"]]).returncode == 77:
        skip("there is no OpenCL device")
    unittest.main(argv=sys.argv[:1])
