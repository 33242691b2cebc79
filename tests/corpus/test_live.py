# SPDX-License-Identifier: Apache-2.0
"""`record --check`: a finding reaches the terminal before the next step is over, once, and stops the program if asked to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, PYTHON, Scratch, Tap, need_modules, skip_all  # noqa: E402

FINDING = "ERROR WT-GRAD-001"
STEP_LINE = 14  # of the program

PROGRAM = f"""
import os, sys, time, torch
def wait():
    end = time.monotonic() + {PATIENCE}
    while not os.path.exists("go") and time.monotonic() < end:
        time.sleep(0.01)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    if sys.argv[1] in ("right", "fails") or sys.argv[1] == "mended" and step > 2:
        optimizer.zero_grad()
    loss = model(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print("done", step, flush=True)
    if step == 1 and sys.argv[1] == "wrong":
        wait()
if sys.argv[1] == "fails":
    raise ValueError
"""


class Lines(threading.Thread):
    """Reads a pipe, keeps the time at which each line came, and makes a file when a certain one does."""

    def __init__(self, pipe: object, awaited: str = "", file: str = "") -> None:
        super().__init__(daemon=True)
        self.pipe, self.lines = pipe, []
        self.awaited, self.file = awaited, file
        self.start()

    def run(self) -> None:
        for line in self.pipe:
            self.lines.append((time.monotonic(), line.rstrip("\n")))
            if self.file and line.startswith(self.awaited):
                open(self.file, "w", encoding="utf-8").close()

    def when(self, start: str) -> float | None:
        return next((moment for moment, line in self.lines if line.startswith(start)), None)


def run(wheeltap: str, folder: Path, twin: str, *options: str) -> tuple[int, Lines, Lines]:
    script = os.path.join(folder, "program.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    process = subprocess.Popen([wheeltap, "record", "--check", *options, "-o", os.path.join(folder, twin + "".join(options)), "--",
                                PYTHON, "program.py", twin], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The program goes on when the finding has been seen; with --on-finding it waits to be stopped.
    out, err = Lines(process.stdout), Lines(process.stderr, FINDING, "" if options else os.path.join(folder, "go"))
    status = process.wait(timeout=PATIENCE)
    out.join(PATIENCE)
    err.join(PATIENCE)
    return status, out, err


def objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects that stand one behind another."""
    while text.strip():
        found, end = json.JSONDecoder().raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        yield found


def main() -> int:
    need_modules("torch", end=skip_all)
    wheeltap, tap = os.path.abspath(sys.argv[1]), Tap()
    check = tap.check
    with Scratch() as folder:
        status, out, err = run(wheeltap, folder, "wrong")
        told, done, after = err.when(FINDING), out.when("done 1"), out.when("done 2")
        text = [line for _, line in err.lines]
        check("the finding is told", told, text)
        check("before the step after it is over", told and after and told < after, (told, done, after))
        if told and done:
            print(f"# {1000 * (told - done):.0f} ms after the program had printed that its step was done")
        check("as a block of its own once", sum(line.startswith(FINDING) for line in text) == 1, text)
        check("and in a line at the end", "WT-GRAD-001, shown above: steps 1-4, to the end; 4 of 4 checks failed" in text, text)
        check("with a file that is named from where the program was started",
              any(f"where     program.py:{STEP_LINE}" in line for line in text), text)
        check("findings give status 1", status == 1, status)
        text = [line for _, line in run(wheeltap, folder, "mended")[2].lines]
        check("one that ends before the run does", "WT-GRAD-001, shown above: steps 1-2; 2 of 4 checks failed" in text, text)
        status, out, err = run(wheeltap, folder, "right")
        text = [line for _, line in err.lines]
        check("a right program is left in peace", status == 0 and any(line.startswith("No problems found. ") for line in text), (status, text))
        os.unlink(os.path.join(folder, "go"))
        text = [line for _, line in run(wheeltap, folder, "fails")[2].lines]
        check("nor is one that fails called clean", any(line.startswith("No problems found before it ended. ") for line in text), text)
        status, out, err = run(wheeltap, folder, "mended", "--json")
        text = "\n".join(line for _, line in err.lines)
        said = list(objects(text))
        check("--json is one object, with the findings",
              status == 1 and [f["id"] for f in said[0]["check"]["findings"]] == ["WT-GRAD-001"] and len(said) == 1, text[:500])
        done = subprocess.run([wheeltap, "record", "--check", "--", "/bin/true"], cwd=folder, stderr=subprocess.PIPE, text=True)
        last = done.stderr.splitlines()
        check("where there is nothing to judge, one line says so",
              last[-1].startswith("Nothing could be judged: ") and last[-2].startswith("wheeltap: "), last)
        status, out, err = run(wheeltap, folder, "wrong", "--on-finding", "stop")
        check("--on-finding stop ends the program", out.when("done 4") is None and status, (status, out.lines))
        # The program goes on when the command has made `go`, so it is over before the run is.
        command = "cat >> got.json; touch go"
        status, out, err = run(wheeltap, folder, "wrong", "--on-finding", command)
        with open(os.path.join(folder, "got.json"), encoding="utf-8") as file:
            text = file.read()
        codes = [finding["id"] for object in objects(text) for finding in object["findings"]]
        check("a command of --on-finding gets the finding on its standard input", codes.count("WT-GRAD-001") == 1, repr(text[:500]))
        check("as a result with findings", all(object["status"] == "findings" for object in objects(text)), repr(text[:500]))
        check("and the program ran to its end", out.when("done 4"), out.lines)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
