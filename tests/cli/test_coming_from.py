#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""docs/coming-from-*.md: every command of these pages is run, in their order, and every option that they name is one.

usage: test_coming_from.py WHEELTAP DOCS TRACES

TRACES is the folder of test_traincheck.py, which makes what the page about TrainCheck imports.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Bench, Scratch, environment, skip  # noqa: E402

RENACER = '[[assertion]]\nname = "calls"\ntype = "span_count"\nmax_spans = 100000\n'
COMPUTE = "import numpy as np\nx = np.linspace(1.1, 2.3, 50)\nprint(np.sum(np.sqrt(x) * 3.7))\n"


def commands(page: Path) -> list[str]:
    """Lines of code that begin with our name; what stands behind three spaces explains them."""
    lines = [line[4:] for line in page.read_text().splitlines() if line.startswith("    wheeltap ")]
    return [re.split(r" {3,}", line)[0] for line in lines]


def options(page: Path, wheeltap: str) -> list[str]:
    """Options in the second column of tables that the verb does not have."""
    wrong = []
    for line in page.read_text().splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        for code in re.findall(r"`([^`]+)`", cells[2]) if len(cells) > 4 else ():
            words = code.split()
            verb = words[0] if words and re.fullmatch(r"[a-z]+", words[0]) else None
            known = subprocess.run([wheeltap, "help", verb], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=PATIENCE) if verb else None
            if not known or known.returncode:
                continue
            for word in words[1:words.index("--") if "--" in words else None]:
                option = re.match(r"--?[a-z-]+", word)
                if option and not re.search(rf"(^|[\s,]){re.escape(option[0])}([\s,=\[]|$)", known.stdout, re.M):
                    wrong.append(f"{page.name}: '{code}': {verb} has no {option[0]}")
    return wrong


def prepare(folder: Path, traces: Path, opencl: Path) -> None:
    sys.path.insert(0, str(traces))
    import test_traincheck as theirs

    trace = theirs.Trace()
    for step in range(20):
        for function in ("zero_grad", "step"):
            trace.call(f"opt.Opt.{function}", theirs.training(step), [theirs.tensor([4, step + 1])], theirs.tensor([4]))
    trace.write(folder / "trace_folder")
    lead = theirs.entry("FunctionLeadRelation", "func_lead", [theirs.api("opt.Opt.step"), theirs.api("opt.Opt.zero_grad")])
    (folder / "invariants.json").write_text(json.dumps(lead) + "\n")
    (folder / "renacer.toml").write_text(RENACER)
    (folder / "train.py").write_text("print(1)\n")
    (folder / "compute.py").write_text(COMPUTE)
    (folder / "program").symlink_to(opencl / "opencl_vector_add")


def main() -> int:
    wheeltap, docs, traces = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]).resolve()
    opencl = Path(wheeltap).parent / "tests" / "opencl"
    env = environment(POCL_CACHE_DIR=str(opencl / "pocl-cache"))
    seen = 0
    for page in sorted(docs.glob("coming-from-*.md")):
        assert not (wrong := options(page, wheeltap)), wrong
        if page.stem.endswith("tracesmith") and not (opencl / "opencl_vector_add").exists():
            print(f"skipped {page.name}: there is no OpenCL to build programs with")
            continue
        with Scratch() as folder:
            prepare(folder, traces, opencl)
            for command in commands(page):
                done = Bench(wheeltap, folder).call(*shlex.split(command)[1:], env=env)
                if done.returncode == 125:
                    skip(f"'{command}' cannot be done here: {done.stderr}")
                assert done.returncode == 0, (page.name, command, done.returncode, done.stdout[-500:], done.stderr[-500:])
                seen += 1
        print("ok", page.name, flush=True)
    assert seen >= 20, seen
    return 0


if __name__ == "__main__":
    sys.exit(main())
