# SPDX-License-Identifier: Apache-2.0
"""Judging a run: what `wheeltap doctor` and `wheeltap check` find, by asking that program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any, Optional

from . import _find, _html
from ._program import program
from .table import printable

__all__ = ["Finding", "Verdict", "judge"]


@dataclass(frozen=True)
class Finding:
    """Something wrong with the run; step, rank, file and line are None where they are not known."""

    code: str
    severity: str
    title: str
    step: Optional[int]
    rank: Optional[int]
    stage: Optional[str]
    file: Optional[str]
    line: Optional[int]
    evidence: str
    count: int
    means: str
    hint: str

    @property
    def place(self) -> str:
        """FILE:LINE, or as much as is known."""
        return f"{self.file or ''}{':' if self.file and self.line else ''}{self.line or ''}"


@dataclass(frozen=True)
class Verdict:
    """What a judgement has found. status: clean, findings, not_measured, damaged."""

    status: str
    findings: tuple[Finding, ...]
    held: int
    not_measured: int
    notes: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """True if something was measured and nothing is wrong."""
        return self.status == "clean"

    def _summary(self) -> str:
        return f"{len(self.findings)} findings, {self.held} held, {self.not_measured} not measured"

    def __str__(self) -> str:
        lines = [f"{f.severity} {f.code} {f.title}" + (f" ({f.place})" if f.place else "") + f"\n    {f.hint}"
                 for f in self.findings]
        return "\n".join("\n".join(map(printable, line.split("\n    "))).replace("\n", "\n    ")
                         for line in [*lines, *self.notes, self._summary()])

    def __repr__(self) -> str:
        return f"<wheeltap.Verdict {printable(self.status)}: {self._summary()}>"

    def _repr_html_(self) -> str:
        rows = [(f.severity, f.code, f.title, f.step, f.place, f.evidence, f.hint) for f in self.findings]
        head = ("severity", "code", "what happened", "step", "where", "evidence", "what to do")
        said = [f"<p>{_html.text(line)}</p>" for line in (f"{self.status}: {self._summary()}", *self.notes)]
        return "\n".join([_html.table(head, rows), *said] if rows else said)


def _program() -> str:
    """The one that belongs to this package, or else the one in PATH."""
    found = program() or shutil.which("wheeltap")
    if not found:
        raise _find.failure("missing", "the program 'wheeltap' is not installed beside this package; add it to PATH")
    return found


def _finding(row: dict[str, Any]) -> Finding:
    where, evidence = row["where"], row["evidence"]
    return Finding(row["id"], row["severity"], row["title"], where["step"], where["rank"], where["stage"], where["file"],
                   where["line"], evidence["text"] or "", row["count"], row["means"] or "", row["hint"] or "")


def judge(path: str, verb: str, *options: str) -> Verdict:
    """Asks `wheeltap VERB`; raises TraceError where it cannot answer."""
    command = [_program(), verb, "--json", *options, "--", os.path.abspath(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    try:
        answer: dict[str, Any] = json.loads(done.stdout.decode("utf-8", "replace"))
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise _find.failure("io", f"'wheeltap {verb}' gave no answer (status {done.returncode}): {said}") from None
    if answer["status"] == "error":
        raise _find.failure(answer["error"]["code"], answer["error"]["message"])
    held = sum(answer.get(key, 0) for key in ("rules_held", "invariants_held"))
    unknown = sum(answer.get(key, 0) for key in ("rules_not_measured", "invariants_not_measured"))
    return Verdict(answer["status"], tuple(map(_finding, answer["findings"])), held, unknown, tuple(answer["notes"]))
