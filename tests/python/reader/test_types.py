# SPDX-License-Identifier: Apache-2.0
"""What programs import is typed: mypy --strict has nothing to say about it, nor about a program that uses it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from common import FOLDER, SOURCE, check, finish, has, skip_all

PROGRAM = """
import wheeltap

run: wheeltap.Run = wheeltap.open("latest")
table: wheeltap.Table = run.table("counter", step=3, context=["step"])
column: wheeltap.Column = table["value"]
for event in run.events(["mark", "log"], time=(0, None)):
    kind: str = event.kind
verdict: wheeltap.Verdict = run.doctor()
codes: list[str] = [finding.code for finding in verdict.findings]
read: bool = not wheeltap.TensorFlags.NO_HASH & 8
wheeltap.step(3)
wheeltap.context(fold=3, lr=0.1, name="a")
with wheeltap.range("augment"):
    wheeltap.log(loss=0.5)
try:
    wheeltap.open("nowhere")
except wheeltap.TraceError as error:
    code: str = error.code
"""


def main() -> None:
    tool = [sys.executable, "-m", "mypy"] if has("mypy") else [shutil.which("mypy") or ""]
    if not tool[0]:
        skip_all("mypy is not installed (Debian: mypy)")
    (FOLDER / "program.py").write_text(PROGRAM)
    package = SOURCE / "python" / "wheeltap"
    files = [str(package / name) for name in ("__init__.py", "run.py", "table.py", "flags.py", "_find.py", "_html.py", "_judge.py", "_reader.pyi")]
    # The agent's own modules speak of the interpreter's insides; they are not what programs import.
    command = [*tool, "--strict", "--follow-imports=silent", "--cache-dir", str(FOLDER / "cache"), *files,
               str(FOLDER / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE / "python")})
    check("mypy --strict", done.returncode == 0, done.stdout, done.stderr)
    finish()


main()
