#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The configuration as the program resolved it: of the C client and of each library that is read; the program's output stays the same.

usage: test_configuration.py BUILD [NAME...]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

CONFIGURED = str(harness.BUILD / "tests/record/record_configured")
PACKAGE = str(harness.BUILD / "python")

ARGPARSE = """
import argparse, pathlib
class Loud:
    def __repr__(self): print("LOUD"); return "loud"
    __str__ = __repr__
    def __eq__(self, other): print("LOUD"); return True
    def __getattr__(self, name): print("LOUD", name); raise AttributeError(name)
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default="0.1")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("a/b"))
parser.add_argument("--sizes", type=int, nargs="*", default=[64, 32])
parser.add_argument("--hf-token", default="abcdefgh")
parser.add_argument("--num-tokens", type=int, default=77)
parser.add_argument("--note", default="a sentence that nobody meant to keep")
parser.set_defaults(loud=Loud(), run=parser.parse_args)
commands = parser.add_subparsers(dest="command")
train = commands.add_parser("train")
train.add_argument("--decay", type=float, default=0.5)
first, rest = parser.parse_known_args(["--lr", "9", "--strange"])
print(first.lr, rest)
arguments = parser.parse_args()
print(arguments.lr, arguments.command, type(parser.parse_known_args).__name__)
try:
    parser.parse_args(["--epochs", "many"])
except SystemExit as error:
    print("exit", error.code)
"""

CLASSES = """
import enum, json
from dataclasses import dataclass, field
class Kind(enum.Enum):
    SMALL = 1
@dataclass
class Inner:
    depth: int = 2
@dataclass
class TrainConfig:
    lr: float = 0.5
    kind: Kind = Kind.SMALL
    inner: Inner = field(default_factory=Inner)
    def __post_init__(self): self.lr *= 2
@dataclass(frozen=True)
class Sample:
    label: int = 7
@dataclass
class ManyParams:
    number: int
made = TrainConfig()
made.lr = 3.0
Sample()
for number in range(40): ManyParams(number)
for name in ("settings.json", "labels.json"):
    with open(name, "w") as file: json.dump({"model": {"dim": 64, "blocks": [{"a": 1}, {"a": 2}], "act": None}, "deep": True}, file)
    with open(name) as file: print(json.load(file)["deep"])
with open("config_large.json", "w") as file: json.dump({f"k{n}": n for n in range(1000)}, file)
with open("config_large.json") as file: print(len(json.load(file)))
import wheeltap
wheeltap.config({"seed": 1, "table": {"x": 1.5}}, seed=2, inner=Inner())
print(made)
"""

PEERS = """
import sys
which, sys.argv[1:] = sys.argv[1], sys.argv[2:]
if which == "click":
    import click
    @click.group()
    @click.option("--verbose", default=False)
    def main(verbose): pass
    @main.command()
    @click.option("--lr", default=0.1)
    @click.option("--name", default="x")
    def train(lr, name): print(lr, name)
    main()
if which == "absl":
    from absl import app, flags
    flags.DEFINE_float("lr", 0.1, "")
    flags.DEFINE_string("name", "x", "")
    app.run(lambda argv: print(flags.FLAGS.lr))
if which == "omegaconf":
    from omegaconf import OmegaConf
    made = OmegaConf.merge(OmegaConf.create({"lr": 0.1, "opt": {"name": "sgd", "lr": "${lr}"}}), OmegaConf.from_cli())
    print(made.opt.lr)
if which == "hydra":
    import hydra
    @hydra.main(version_base=None, config_path=None, config_name=None)
    def main(made): print(made)
    main()
if which == "yaml":
    import yaml
    with open("run.yaml", "w") as file: file.write("lr: 0.25\\nopt: {name: sgd, betas: [0.9, 0.95]}\\n")
    with open("run.yaml") as file: print(yaml.safe_load(file))
"""


class Here(harness.Case):
    def record(self, *program: str, options: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
        """By key the last value; the output is that of the program unrecorded."""
        plain = subprocess.run(program, cwd=self.folder, env=harness.environment(PYTHONPATH=PACKAGE), text=True,
                               capture_output=True, timeout=harness.PATIENCE)
        done = self.bench.call("record", "-q", *options, "-o", "run", "--force", "--", *program)
        if program[0] != CONFIGURED:
            self.assertEqual((done.stdout, done.returncode), (plain.stdout, plain.returncode), done.stderr)
        self.printed = done.stdout
        shown = json.loads(self.bench.call("view", "--json", "--kind", "configuration", "run").stdout)
        self.events = [event["fields"] for event in shown["events"]]
        return {event["key"]: event for event in self.events}

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def values(self, found: dict[str, dict[str, Any]]) -> dict[str, str]:
        return {key: event["value"] for key, event in found.items()}


class Client(Here):
    def test_values_types_and_secrets(self) -> None:
        found = self.record(CONFIGURED)
        self.assertEqual(self.printed, "1\n")
        self.assertEqual({key: (event["type"], event["value"]) for key, event in found.items() if key != "note"},
                         {"lr": ("float", "0.05"), "epochs": ("int", "-3"), "optimizer": ("text", "adam"), "model.depth": ("int", "4"), "api_key": ("text", "*******")})
        self.assertTrue(re.fullmatch(r"<36 bytes, hash [0-9a-f]{8}>", found["note"]["value"]), found["note"])
        self.assertEqual({event["source"] for event in self.events}, {"program"})
        kept = self.record(CONFIGURED, options=("--strings", "keep"))
        self.assertEqual(kept["note"]["value"], "a sentence that nobody meant to keep")
        self.assertEqual(kept["api_key"]["value"], "*******")
        report = json.loads(self.bench.call("report", "--json", "run").stdout)["runs"][0]["parts"]["configuration"]
        rows = {row["key"]: row for row in report["tables"]["configuration"]}
        self.assertEqual((rows["lr"]["value"], rows["lr"]["changes"], len(rows)), ("0.05", 1, 6))


class Argparse(Here):
    def test_values_defaults_and_nothing_of_the_program_runs(self) -> None:
        script = self.write("parse.py", ARGPARSE)
        found = self.record(harness.PYTHON, script, "--sizes", "1", "2", "--epochs", "3", "train", "--decay", "0.25")
        self.assertNotIn("LOUD", self.printed)
        values = self.values(found)
        self.assertTrue(values.pop("note").startswith("<36 bytes"))
        self.assertEqual(values, {"lr": "0.1", "epochs": "3", "out": "a/b", "sizes": "[1, 2]", "hf_token": "********", "num_tokens": "77",
                                  "loud": "<Loud>", "run": "<method>", "command": "train", "decay": "0.25"})
        self.assertEqual({key for key, event in found.items() if event["flags"] == 1},
                         {"lr", "epochs", "out", "hf_token", "num_tokens", "note"})
        self.assertEqual(found["lr"]["type"], "float")
        self.assertEqual([event["value"] for event in self.events if event["key"] == "lr"], ["9.0", "0.1"])

    def test_pytest_and_a_stopped_recording_add_nothing(self) -> None:
        script = self.write("stopped.py", "import argparse, wheeltap\nwheeltap.stop()\nparser = argparse.ArgumentParser()\n"
                            "parser.add_argument('--lr')\nprint(parser.parse_args())\n")
        self.assertEqual(self.record(harness.PYTHON, script, "--lr", "1"), {})


class Classes(Here):
    def test_instances_files_and_what_the_program_says(self) -> None:
        found = self.record(harness.PYTHON, self.write("classes.py", CLASSES))
        values = self.values(found)
        self.assertEqual({key: value for key, value in values.items() if key.startswith("TrainConfig")},
                         {"TrainConfig.lr": "1.0", "TrainConfig.kind": "SMALL", "TrainConfig.inner.depth": "2"})
        self.assertEqual(sum(event["key"] == "ManyParams.number" for event in self.events), 16)
        self.assertNotIn("Sample.label", values)
        self.assertEqual({key: (event["value"], event["type"]) for key, event in found.items() if event["source"] == "settings.json"},
                         {"model.dim": ("64", "int"), "model.blocks.0.a": ("1", "int"), "model.blocks.1.a": ("2", "int"),
                          "model.act": ("None", "none"), "deep": ("true", "bool")})
        self.assertEqual({event["source"] for event in self.events}, {"TrainConfig", "ManyParams", "settings.json", "program"})
        self.assertEqual((values["seed"], values["table.x"], values["inner.depth"]), ("2", "1.5", "2"))


class Peers(Here):
    def peer(self, module: str, *words: str) -> dict[str, str]:
        if not harness.has_module(module):
            self.skipTest(f"{harness.PYTHON} has no {module}")
        return self.values(self.record(harness.PYTHON, self.write("peer.py", PEERS), *words))

    def test_yaml(self) -> None:
        self.assertEqual(self.peer("yaml", "yaml"), {"lr": "0.25", "opt.name": "sgd", "opt.betas": "[0.9, 0.95]"})

    def test_click(self) -> None:
        self.assertEqual(self.peer("click", "click", "train", "--lr", "0.5"), {"verbose": "false", "lr": "0.5", "name": "x"})

    def test_absl(self) -> None:
        values = self.peer("absl", "absl", "--lr=0.5")
        self.assertEqual((values["lr"], values["name"]), ("0.5", "x"))

    def test_omegaconf(self) -> None:
        self.assertEqual(self.peer("omegaconf", "omegaconf", "lr=0.5"), {"lr": "0.5", "opt.name": "sgd", "opt.lr": "0.5"})

    def test_hydra(self) -> None:
        self.assertEqual(self.peer("hydra", "hydra", "+lr=0.5", "+opt.name=adam"), {"lr": "0.5", "opt.name": "adam"})


if __name__ == "__main__":
    unittest.main()
