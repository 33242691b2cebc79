#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The training programs learn, twice the same, and the same again while they are recorded.

usage: test_examples.py WHEELTAP TRAINING_LOOP MODEL_IO LORA_FINETUNE
"""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import reference_decoder
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case, environment  # noqa: E402

WHEELTAP = ""
PROGRAMS: dict[str, str] = {}
SEEDS = (1, 2, 3, 12345678901)


def call(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=environment(), cwd=cwd)


def numbers(text: str, what: str) -> list[float]:
    return [float(number) for number in re.findall(rf"{what} +([\d.]+)", text)]


class Examples(Case):
    def run_twice(self, name: str, *words: str) -> str:
        one = call(PROGRAMS[name], *words, cwd=self.folder)
        two = call(PROGRAMS[name], *words, cwd=self.folder)
        self.assertEqual((one.returncode, one.stderr), (0, ""), one.stdout)
        self.assertEqual(one.stdout, two.stdout)
        return one.stdout

    def test_training_loop_learns(self) -> None:
        outputs = set()
        for seed in SEEDS:
            text = self.run_twice("training_loop", "--seed", str(seed))
            losses, accuracies = numbers(text, "train loss"), numbers(text, "test accuracy")
            self.assertEqual((len(losses), len(accuracies)), (10, 10))
            self.assertLess(losses[-1], losses[0] / 2)
            self.assertGreater(accuracies[-1], accuracies[0])
            self.assertGreater(accuracies[-1], 85)
            outputs.add(text)
        self.assertEqual(len(outputs), len(SEEDS))

    def test_training_loop_options(self) -> None:
        text = self.run_twice("training_loop", "--epochs", "4", "--steps", "200")
        self.assertEqual(text.count("epoch"), 4)
        self.assertGreater(numbers(text, "test accuracy")[-1], 95)

    def test_model_io_brings_back_every_bit(self) -> None:
        for seed in SEEDS:
            path = self.folder / f"model{seed}"
            text = self.run_twice("model_io", "--seed", str(seed), "--file", str(path))
            self.assertIn("the same to the bit", text)
            hashes = re.findall(r"parameters ([0-9a-f]{16})", text)
            self.assertEqual((len(hashes), hashes[0]), (2, hashes[1]))
            self.assertGreater(numbers(text, "accuracy")[0], 80)
            self.assertEqual(path.read_bytes()[:8], b"MLPFILE1")
        self.assertEqual([p.name for p in self.folder.glob("*.tmp")], [])

    def test_model_io_fails_where_it_cannot_save(self) -> None:
        done = call(PROGRAMS["model_io"], "--file", str(self.folder / "none" / "model"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot create", done.stderr)

    def test_lora_finetune_moves_only_adapters(self) -> None:
        for seed in SEEDS:
            text = self.run_twice("lora_finetune", "--seed", str(seed))
            self.assertIn(": not moved", text)
            frozen = re.findall(r"frozen +\d+ numbers ([0-9a-f]{16})", text)
            self.assertEqual((len(frozen), frozen[0]), (2, frozen[1]))
            accuracies = numbers(text, "test accuracy")
            self.assertEqual(len(accuracies), 4)
            self.assertGreater(accuracies[-1], accuracies[0] + 20)

    def test_bad_options(self) -> None:
        for name, program in PROGRAMS.items():
            for words in (["--seed", "x"], ["--epochs", "0"], ["--steps", "-1"], ["more"], ["--nothing"]):
                self.assertEqual(call(program, *words, cwd=self.folder).returncode, 2, (name, words))
            self.assertEqual(call(program, "--help").returncode, 0)

    # ---- Recorded ----

    def record(self, name: str, *words: str) -> tuple[str, list[dict[str, Any]]]:
        """What the program printed, and what it told, in order."""
        if call(WHEELTAP, "record", "--help").returncode != 0:
            self.skipTest("this wheeltap has no verb record")
        run = self.folder / f"run-{name}"
        done = call(WHEELTAP, "record", "-o", str(run), "--", PROGRAMS[name], *words, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [row for path in run.glob("*.wt") for row in self.events(path)]

    def events(self, path: Path) -> list[dict[str, Any]]:
        stream = reference_decoder.decode(str(path))
        strings = {0: b"", **stream.definitions.strings}
        names = {k.name.decode(): [f.name.decode() for f in k.fields if f.type == 6] for k in stream.kinds.values()}
        rows: list[dict[str, Any]] = sorted(stream.rows(), key=lambda r: (r["track"], r["seq"]))
        for row in rows:
            row.update({name: strings[row[name]].decode() for name in names[row["kind"]]})
        return rows

    def test_recording_changes_nothing(self) -> None:
        for name, program in PROGRAMS.items():
            self.assertEqual(self.record(name)[0], call(program, cwd=self.folder).stdout, name)

    def values(self, rows: list[dict[str, Any]], kind: str, key: str, name: str) -> list[Any]:
        return [row["value"] for row in rows if row["kind"] == kind and row[key] == name]

    def test_training_loop_tells_what_it_does(self) -> None:
        text, rows = self.record("training_loop", "--seed", "9")
        self.assertEqual(self.values(rows, "context", "key", "step"), list(range(30)))
        self.assertEqual(self.values(rows, "context", "key", "epoch"), list(range(10)))
        losses = self.values(rows, "counter", "name", "loss")
        self.assertEqual(len(losses), 30)
        means = [sum(losses[i : i + 3]) / 3 for i in range(0, 30, 3)]
        for mean, printed in zip(means, numbers(text, "train loss"), strict=True):
            self.assertAlmostEqual(mean, printed, places=6)
        for name in ("step", "data", "forward", "backward", "optimizer"):
            for kind in ("span_begin", "span_end"):
                self.assertEqual(sum(r["kind"] == kind and r["name"] == name for r in rows), 30, (kind, name))
        for name in ("layer0.weight", "layer2.bias", "layer1.weight.grad"):
            hashes = [r["hash"] for r in rows if r["kind"] == "tensor" and r["name"] == name]
            self.assertEqual(len(set(hashes)), 30 if name.endswith("grad") else 31, name)  # all steps move it
        self.assertEqual(sum(r["kind"] == "log" for r in rows), 10)
        rates = [r["new"] for r in rows if r["kind"] == "state" and r["attribute"] == "lr"]
        self.assertEqual(len(rates), 10)  # the first, then nine that fall

    def test_lora_finetune_tells_what_is_frozen(self) -> None:
        _, rows = self.record("lora_finetune")
        self.assertEqual(self.values(rows, "context", "key", "step"), list(range(300)))
        tensors = [r for r in rows if r["kind"] == "tensor"]
        first = next(i for i, r in enumerate(tensors) if "adapter" in r["name"])
        self.assertGreater(len({r["hash"] for r in tensors if r["name"] == "layer1.weight"}), 100)  # when it was trained
        frozen = {(r["name"], r["hash"]) for r in tensors[first:] if "adapter" not in r["name"]}
        self.assertEqual(len(frozen), 6)
        self.assertGreater(len({r["hash"] for r in tensors if r["name"] == "layer1.adapter.up"}), 290)

    def test_the_program_of_the_readme(self) -> None:
        """It is built with the lines that the README has for a build folder, and emits what it says."""
        readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
        body = readme.partition("```c\n")[2].partition("```")[0]
        include, _, loop = body.partition("\n\n")
        commands = re.search(r"```\n(export PKG_CONFIG_PATH=.*?)```", readme, re.DOTALL)
        assert include.startswith("#include") and commands
        (self.folder / "train.c").write_text(include + "\nstatic float w[640], loss, batch;\nstatic float forward(float x) { return x + 1; }\n"
                                             "int main(void)\n{\n\tint steps = 3;\n\n" + loop + "\treturn 0;\n}\n")
        script = commands[1].replace("$PWD/build", str(Path(WHEELTAP).parent))
        done = call("/bin/sh", "-ec", script, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = call(WHEELTAP, "record", "-q", "-o", "run", "--", "./train", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("run finished after 3 steps\n", call(WHEELTAP, "doctor", "run", cwd=self.folder).stdout)


if __name__ == "__main__":
    WHEELTAP, *paths = (str(Path(word).resolve()) for word in sys.argv[1:5])
    PROGRAMS = dict(zip(("training_loop", "model_io", "lora_finetune"), paths))
    unittest.main(argv=sys.argv[:1])
