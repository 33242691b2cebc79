# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of docs/python-reading.md on a recorded training program, and looks at what they say."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from typing import Any

from common import FOLDER, SOURCE, check, equal, finish, has, recorded, skip, skip_all

import subprocess

import wheeltap

TRAIN = """
import torch
from torch import nn

torch.manual_seed({seed})
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
still = model[0].bias
moving = [p for p in model.parameters() if p is not still]
optimizer = torch.optim.Adam([dict(params=moving, lr=0.01), dict(params=[still], lr=0.0)])
torch.manual_seed(0)
data, target = torch.randn(64, 8), torch.randn(64, 1)
for step in range(6):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(data), target)
    loss.backward()
    optimizer.step()
print(float(loss))
"""


def examples() -> "dict[str, str]":
    """The blocks of Python by the heading above them."""
    text = (SOURCE / "docs" / "python-reading.md").read_text()
    return {match[1]: match[2] for match in re.finditer(r"^### (.*?)\n(?:(?!^###).)*?^```python\n(.*?)^```", text,
                                                       re.DOTALL | re.MULTILINE)}


def said(code: str, names: "dict[str, Any]") -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/python-reading.md", "exec"), names)
    return out.getvalue()


def main() -> None:
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        skip_all("/usr/bin/python3 has no torch")
    recorded("first", TRAIN.format(seed=1))
    recorded("second", TRAIN.format(seed=1))
    recorded("other", TRAIN.format(seed=2))
    kept = recorded("kept", TRAIN.format(seed=1), "--tensors", "full")
    os.chdir(FOLDER)
    code = examples()
    equal("seven examples", len(code), 7)
    names: "dict[str, Any]" = {"wheeltap": wheeltap}
    losses = said(code["The loss"], names).split()
    equal("the loss at each step", losses[::2], [str(n) for n in range(6)])
    check("which falls", float(losses[-1]) < float(losses[1]), losses)
    times = said(code["Where the time went, module by module"], names)
    check("time by module", times.splitlines()[0].endswith("Sequential.forward") and "Linear.forward" in times, times)
    same = said(code["Which parameters never moved"], names)
    check("the parameter that is not trained, and no other", "0.bias" in same and len(same.splitlines()) == 1, same)
    check("two runs that are the same", "bit for bit" in said(code["Where two runs begin to differ"], names))
    parted = said(code["Where two runs begin to differ"].replace('"second"', '"other"'), dict(names))
    check("two runs that differ at once", "differ at step 0" in parted, parted)
    if has("pandas"):
        check("pandas", "64x16" in said(code["With pandas"], names))
    else:
        skip("pandas", f"{sys.executable} has no pandas")
    if has("numpy"):
        contents = said(code["What a tensor contained"], {**names, "run": wheeltap.open(kept)}).split()
        check("contents of weights at each step", len(contents) >= 3 * 6 and set(contents[::3]) >= {"0", "5"}, contents)
    else:
        skip("contents", f"{sys.executable} has no numpy")
    equal("a verdict", said(code["What is wrong with it"], {**names, "run": wheeltap.open("first")}).split()[-1],
          wheeltap.open("first").doctor().status)
    test_calls(wheeltap.open("first"))
    finish()


def test_calls(run: wheeltap.Run) -> None:
    calls = run.calls(context=["step", "stage"])
    rows = list(calls.rows())
    equal("as many calls as begins", len(rows), run.kinds["call_begin"].events)
    forward = [row for row in rows if row["callee"] == "Linear.forward"]
    check("parents", len(forward) == 12 and all(rows[row["parent"]]["callee"] == "Sequential.forward" for row in forward))
    check("children within", all(row["time_ns"] >= rows[row["parent"]]["time_ns"]
                                 and row["duration_ns"] <= rows[row["parent"]]["duration_ns"] for row in forward))
    check("steps", sorted({row["step"] for row in forward}) == list(range(6)))
    check("sites", any(str(row["site"]).endswith("first.py:14") for row in rows), calls["site"].categories)


main()
