# SPDX-License-Identifier: Apache-2.0
"""Records small Python programs and gives back what the trace says about them. Output is TAP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from patience import PATIENCE  # noqa: E402

TIMEOUT = float(os.environ.get("WHEELTAP_TEST_TIMEOUT") or PATIENCE)


@dataclass
class Run:
    status: int
    output: str
    errors: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [event["fields"] for event in self.events if event["kind"] in kinds]

    def calls(self, callee: str) -> list[dict[str, Any]]:
        return [call for call in self.of("call_begin") if call["callee"] == callee]


class Harness:
    """usage: test_x.py WHEELTAP INTERPRETER"""

    def __init__(self) -> None:
        self.wheeltap, self.python = os.path.abspath(sys.argv[1]), sys.argv[2]
        self.folder = Path(tempfile.mkdtemp(prefix="wheeltap-python-"))
        self.count = 0
        self.failed = 0
        self.runs = 0
        self.env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WHEELTAP_AGENT")}
        self.env["OMP_NUM_THREADS"] = "1"

    def require(self, *modules: str) -> None:
        for module in modules:
            if self.bare(f"import {module}").status:
                print(f"1..0 # skip {self.python} has no {module}")
                sys.exit(0)

    def free_port(self) -> int:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            return int(listener.getsockname()[1])

    def script(self, code: str) -> str:
        self.runs += 1
        path = self.folder / f"program{self.runs}.py"
        path.write_text(textwrap.dedent(code))
        return str(path)

    def execute(self, command: list[str], env: dict[str, str] | None = None) -> Run:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, cwd=self.folder,
                              stdin=subprocess.DEVNULL, env={**self.env, **(env or {})})
        return Run(done.returncode, done.stdout, done.stderr)

    def bare(self, code: str, env: dict[str, str] | None = None) -> Run:
        return self.execute([self.python, self.script(code)], env)

    def record_command(self, command: list[str], *options: str, env: dict[str, str] | None = None,
                       view: bool = True) -> Run:
        self.runs += 1
        folder = str(self.folder / f"run{self.runs}")
        run = self.execute([self.wheeltap, "record", *options, "-o", folder, "--", *command], env)
        if not view:
            return run
        shown = self.execute([self.wheeltap, "view", "--jsonl", folder])
        run.events = [json.loads(line) for line in shown.output.splitlines()]
        if shown.status and not run.events:
            run.errors += shown.errors
        return run

    def record(self, code: str, *options: str, env: dict[str, str] | None = None) -> Run:
        return self.record_command([self.python, self.script(code)], *options, env=env)

    def check(self, what: str, holds: bool, *facts: object) -> None:
        self.count += 1
        print(f"{'ok' if holds else 'not ok'} {self.count} - {what}")
        if not holds:
            self.failed += 1
            for fact in facts:
                for line in str(fact)[:4000].splitlines():
                    print(f"# {line}")

    def equal(self, what: str, actual: object, expected: object, *facts: object) -> None:
        self.check(what, actual == expected, f"actual {actual!r}, expected {expected!r}", *facts)

    def finish(self) -> None:
        subprocess.run(["rm", "-rf", str(self.folder)])
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def main(*tests: Callable[[Harness], None], require: tuple[str, ...] = ()) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background would hand on that it is ignored
    harness = Harness()
    harness.require(*require)
    for test in tests:
        test(harness)
    harness.finish()
