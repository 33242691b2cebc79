# SPDX-License-Identifier: Apache-2.0
"""What a person at a notebook meets: verdicts, flags by name, HTML, names that a DataFrame has for itself."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

from common import FOLDER, SOURCE, check, cli, equal, finish, has, recorded

import wheeltap
from wheeltap import flags

HOSTILE = "<script>alert(1)</script>&\\x1b[31m"
PROGRAM = f"""
import wheeltap
for n in range(30):
    wheeltap.step(n)
    wheeltap.log(**{{"{HOSTILE}": n}})
"""
UNREAD = """
import wheeltap, torch
from torch import nn
model = nn.Linear(300, 300)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for n in range(3):
    optimizer.zero_grad()
    model(torch.randn(64, 300)).sum().backward()
    optimizer.step()
"""


def test_flags() -> None:
    """The names are those that the command line prints."""
    source = (SOURCE / "src" / "show" / "words.c").read_text()
    rows = re.findall(r'\{WT_KIND_(\w+), (\d+), "(\w*)"', source)
    classes = {"STATE": flags.StateFlags, "TENSOR": flags.TensorFlags, "CALL_BEGIN": flags.CallFlags,
               "MEMBER": flags.MemberFlags, "THINNED": flags.ThinnedFlags}
    seen = {(kind, int(bit)): word.upper() for kind, bit, word in rows if kind in classes}
    check("the command line has words", len(seen) > 20, rows)
    ours = {(kind, bit.value): bit.name for kind, bits in classes.items() for bit in bits}
    seen["CALL_BEGIN", 1] = "MODE_KNOWN"  # printed by the bit behind it
    equal("flags by name", ours, seen)
    equal("of the package", wheeltap.TensorFlags(12), flags.TensorFlags.NO_STATISTICS | flags.TensorFlags.NO_HASH)


def test_html(path: str) -> None:
    run = wheeltap.open(path)
    for what, shown in (("a run", run._repr_html_()), ("a table", run.counters()._repr_html_())):
        check(f"HTML of {what} is escaped", "<script" not in shown and "\x1b" not in shown and "<table>" in shown, shown)
    shown = run.counters()._repr_html_()
    check("names are there", "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in shown, shown)
    check("a page, not all rows", "30 rows, the first 20 are shown" in shown and shown.count("<tr>") == 21, shown)


def test_verdict(path: str) -> None:
    run = wheeltap.open(path)
    verdict = run.doctor()
    told = cli("doctor", "--json", path).stdout
    check("nothing to judge is not clean", verdict.status == "not_measured" and not verdict.clean, told)
    check("rules are counted", verdict.not_measured > 50, verdict)
    text = "<b>" + HOSTILE
    finding = wheeltap.Finding("WT-X-001", "error", text, 3, None, "train", "/src/train.py", 7, text, 1, text, text)
    made = wheeltap.Verdict("findings", (finding,), 4, 5, (text,))
    shown = made._repr_html_()
    check("HTML of a verdict is escaped", "<b>" not in shown and "<script" not in shown and "/src/train.py:7" in shown, shown)
    check("text of a verdict is escaped", "\x1b" not in str(made) and "WT-X-001" in str(made), str(made))
    for what, question in (("no pack", run.check), ("a missing pack", lambda: run.check(FOLDER / "nowhere.json"))):
        try:
            question()
            check(f"{what} is an error", False)
        except wheeltap.TraceError as error:
            check(f"{what} is an error", "wheeltap infer" in str(error), error)
    builtin = run.check("builtin")
    check("the built-in pack alone", builtin.held == 0 and 0 < builtin.not_measured < 50, builtin)


def test_unread() -> None:
    """A tensor that was not read has no hash and no statistics, in rows and in tables."""
    path = recorded("unread", UNREAD, "--tensors", "off") if has("torch") else ""
    run = wheeltap.open(path or str(SOURCE / "tests" / "golden" / "kinds_level0.wt"))
    rows = list(run.table("tensor").rows())
    unread = [row for row in rows if row["flags"] & flags.TensorFlags.NO_HASH]
    check("some were not read", bool(unread) or not path, len(rows))
    check("their hash is null", all(row["hash"] is None for row in unread), unread[:1])
    check("and so are statistics", all(row["min"] is None and row["nan"] is None for row in rows
                                       if row["flags"] & flags.TensorFlags.NO_STATISTICS))
    check("others have theirs", all((row["hash"] is None) == bool(row["flags"] & 8) for row in rows))
    table = run.table("tensor", fields=["hash"])
    equal("without asking for flags", table["hash"].to_list(), [row["hash"] for row in rows])


def test_frame_names(path: str) -> None:
    class DataFrame(dict):  # type: ignore[type-arg]
        def __init__(self, columns: Any, copy: bool) -> None:
            super().__init__(columns)

        count = shape = value_ = None

    for name in () if has("numpy") else ("numpy",):
        stand_in: Any = ModuleType(name)
        stand_in.asarray = lambda column: column
        sys.modules[name] = stand_in
    pandas: Any = ModuleType("pandas")
    pandas.DataFrame = DataFrame
    pandas.Categorical = type("Categorical", (), {"from_codes": staticmethod(lambda codes, categories: codes)})
    kept = sys.modules.get("pandas")
    sys.modules["pandas"] = pandas
    table = wheeltap.open(path).counters()
    table.columns = {"count": table["value"], "count_": table["value"], "value": table["value"]}
    equal("as they are", list(table.to_pandas()), ["count", "count_", "value"])
    equal("with a suffix", list(table.to_pandas(suffix="_")), ["count__", "count_", "value"])
    if kept:
        sys.modules["pandas"] = kept


def main() -> None:
    path = recorded("judged", PROGRAM)
    test_flags()
    test_html(path)
    test_verdict(path)
    test_unread()
    test_frame_names(path)
    finish()


main()
