# SPDX-License-Identifier: Apache-2.0
"""Notebooks: run by nbconvert under `record`, with the magic word, stopped and started in the middle; IPython by itself."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from recorded import Harness, Run, main  # noqa: E402

CELLS = [
    "%load_ext wheeltap",
    "import json, wheeltap\nprint(json.dumps([1]))\nwheeltap.log(cell=1)",
    "wheeltap.stop()\nprint(json.dumps([2]))\nwheeltap.log(cell=2)",
    "wheeltap.start()\nprint(json.dumps([3]))\nwheeltap.log(cell=3)",
    "%%time\nwith wheeltap.range('cell'):\n    x = [i * i for i in range(10)]",
    "1 / 0",
]


def notebook(t: Harness) -> str:
    cells = [{"cell_type": "code", "id": f"c{n}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
             for n, source in enumerate(CELLS)]
    path = t.folder / "sample.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
                                "nbformat": 4, "nbformat_minor": 5}))
    return str(path)


def outputs(t: Harness, name: str) -> list[str]:
    done = json.loads((t.folder / name).read_text())
    texts = ["".join(out.get("text", [])) or out.get("ename", "") for cell in done["cells"] for out in cell["outputs"]]
    return [text for text in texts if "Wall time" not in text]


def check(t: Harness, what: str, run: Run) -> None:
    told = [(c["name"], c["value"]) for c in run.of("counter") if c["name"] == "cell"]
    t.equal(f"{what}: what its cells log, but for what was stopped", told, [("cell", 1), ("cell", 3)], run.errors[-1500:])
    t.equal(f"{what}: and call", len(run.calls("dumps")), 2)
    t.check(f"{what}: a range", any(s["name"] == "cell" for s in run.of("span_begin")))


def test_nbconvert(t: Harness) -> None:
    path = notebook(t)
    command = [t.python, "-m", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", path, "--output"]
    run = t.record_command([*command, "ours.ipynb"], "--modules", "json")
    t.equal("nbconvert: it runs", run.status, 0, run.errors[-2000:])
    t.equal("nbconvert: its output", outputs(t, "ours.ipynb"), ["[1]\n", "[2]\n", "[3]\n", "ZeroDivisionError"])
    check(t, "nbconvert", run)


def test_ipython(t: Harness) -> None:
    script = t.folder / "sample.ipy"
    script.write_text("\n".join(cell for cell in CELLS[:4]) + "\nwith wheeltap.range('cell'):\n    pass\n")
    run = t.record_command([t.python, "-m", "IPython", "--no-banner", str(script)], "--modules", "json",
                           env={"IPYTHONDIR": str(t.folder / "ipython")})
    t.equal("IPython: it runs", (run.status, run.output.split()), (0, ["[1]", "[2]", "[3]"]), run.errors[-2000:])
    check(t, "IPython", run)


if __name__ == "__main__":
    main(test_nbconvert, test_ipython, require=("nbconvert", "ipykernel"))
