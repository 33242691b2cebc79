# SPDX-License-Identifier: Apache-2.0
"""Records small Python programs and gives back what the trace says about them. Output is TAP."""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from harness import PATIENCE, Scratch, Tap, environment, has_module, skip_all  # noqa: E402

TIMEOUT = float(os.environ.get("WHEELTAP_TEST_TIMEOUT") or PATIENCE)


@dataclass
class Run:
    status: int
    output: str
    errors: str
    view: Callable[[], Run] | None = None  # prints the events of what was recorded

    @functools.cached_property
    def events(self) -> list[dict[str, Any]]:
        """Read only when they are needed: many tests compare nothing but what a program prints."""
        if not self.view:
            return []
        shown = self.view()
        events = [json.loads(line) for line in shown.output.splitlines()]
        if shown.status and not events:
            self.errors += shown.errors
        return events

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [event["fields"] for event in self.events if event["kind"] in kinds]

    def calls(self, callee: str) -> list[dict[str, Any]]:
        return [call for call in self.of("call_begin") if call["callee"] == callee]


class Harness(Tap):
    """usage: test_x.py WHEELTAP INTERPRETER"""

    def __init__(self) -> None:
        super().__init__()
        self.wheeltap, self.python = os.path.abspath(sys.argv[1]), sys.argv[2]
        self.scratch = Scratch()
        self.folder = self.scratch.path
        self.runs = 0
        self.env = environment(OMP_NUM_THREADS="1")

    def has(self, module: str) -> bool:
        return has_module(module, self.python)

    def require(self, *modules: str) -> None:
        for module in modules:
            if not self.has(module):
                skip_all(f"{self.python} has no {module}")

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

    def record_command(self, command: list[str], *options: str, env: dict[str, str] | None = None) -> Run:
        self.runs += 1
        folder = str(self.folder / f"run{self.runs}")
        run = self.execute([self.wheeltap, "record", *options, "-o", folder, "--", *command], env)
        run.view = functools.partial(self.execute, [self.wheeltap, "view", "--jsonl", folder])
        return run

    def record(self, code: str, *options: str, env: dict[str, str] | None = None) -> Run:
        return self.record_command([self.python, self.script(code)], *options, env=env)


def main(*tests: Callable[[Harness], None], require: tuple[str, ...] = ()) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background would hand on that it is ignored
    harness = Harness()
    harness.require(*require)
    with harness.scratch:
        for test in tests:
            test(harness)
    sys.exit(harness.finish())
