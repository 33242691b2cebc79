# SPDX-License-Identifier: Apache-2.0
"""What the cases share: running the program, making traces and runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Skip, environment  # noqa: E402,F401


@dataclass
class Said:
    code: int
    out: str
    err: str
    raw: bytes

    def json(self) -> Any:
        return json.loads(self.raw.decode("utf-8"))


@dataclass
class Bench:
    program: Path
    make_trace: Path
    source: Path
    folder: Path

    def run(self, *words: str | Path, code: int | None = 0, env: dict[str, str] | None = None,
            stdin: bytes = b"") -> Said:
        """Runs the program in the folder of the case; fails if its exit status is not `code`."""
        done = subprocess.run([str(self.program), *map(str, words)], input=stdin, capture_output=True, cwd=self.folder,
                              env=environment(**(env or {})), timeout=PATIENCE)
        said = Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"),
                    done.stdout)
        if code is not None and said.code != code:
            raise AssertionError(f"{words}: exit {said.code}, not {code}\n{said.out[:2000]}\n{said.err[:2000]}")
        return said

    def trace(self, name: str, path: str | Path | None = None, later_us: int = 0) -> Path:
        file = self.folder / (path or f"{name}.wt")
        file.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([self.make_trace, name, file, str(later_us)], check=True, timeout=PATIENCE)
        return file

    def make_run(self, folder: str, trace: str = "spans", **keys: Any) -> Path:
        """A run folder below the home, with a run.json as the recorder writes it."""
        run = self.folder / "wheeltap-runs" / folder
        self.trace(trace, run / "0001.wt")
        start = datetime.fromisoformat(keys.pop("start", "2026-01-02T03:04:05+00:00"))
        text = {"schema": 1, "command": ["./train", "--lr", "0.1"], "status": "finished",
                "start_ns": int(start.timestamp()) * 10**9, "duration_ns": 1_500_000_000, "events": 17, "lost": 0} | keys
        (run / "run.json").write_text(json.dumps(text))
        return run


def csv_text(text: str) -> str:
    """A text as CSV has it: newlines and tabs stay, what a terminal would obey and a spreadsheet calculate does not."""
    named = {"\r": "\\r", "\0": "\ufffd"}
    harmful = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
    shown = re.sub(harmful, lambda m: named.get(m[0]) or "".join(f"\\x{byte:02x}" for byte in m[0].encode()), text)
    is_number = re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text)
    return ("'" if text[:1] and text[0] in "=+-@\t\r\n" and not is_number else "") + shown


def near(actual: float, expected: float, relative: float = 1e-9) -> bool:
    return abs(actual - expected) <= abs(expected) * relative
