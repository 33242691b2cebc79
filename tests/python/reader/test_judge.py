# SPDX-License-Identifier: Apache-2.0
"""What a person at a notebook meets: verdicts, flags by name, HTML, names that a DataFrame has for itself."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from common import FOLDER, SOURCE, check, cli, equal, finish, has, recorded, simulated, skip

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
    """Every set of flags is a class of the package, with the bits that are documented."""
    documented = {}
    for name, rows in re.findall(r"^## (\w+) flags\n(.*?)(?=^## |\Z)", (SOURCE / "docs" / "events.md").read_text(), re.M | re.S):
        bits = re.findall(r"^\| (\d+) \| (\w+) \|", rows, re.M)
        documented["".join(map(str.capitalize, name.split("_"))) + "Flags"] = {word.upper(): int(bit) for bit, word in bits}
    check("flags are documented", len(documented) > 5 and all(documented.values()), documented)
    equal("flags by name", {name: {bit.name: bit.value for bit in getattr(wheeltap, name)} for name in flags.__all__}, documented)
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


def test_unread_in_frames() -> None:
    """In pandas and Arrow, too."""
    if not has("torch") or not has("pandas"):
        return skip("unread tensors in pandas and Arrow", "no torch or no pandas")
    table = wheeltap.open(recorded("unread_frame", UNREAD, "--tensors", "off")).table("tensor")
    unread = [bool(flags.TensorFlags(bits) & flags.TensorFlags.NO_HASH) for bits in table["flags"].to_list()]
    check("some were not read", any(unread), len(unread))
    frame = table.to_pandas()
    for name in ("hash", "nan", "inf", "zeros", "min", "max", "mean", "m2"):
        equal(f"{name} is missing in pandas", frame[name].isna().tolist(), unread)
        equal(f"{name} is null in Arrow", table[name].null_count, sum(unread))
    check("flags by name in pandas", ((frame["flags"] & flags.TensorFlags.NO_HASH) != 0).tolist() == unread)


def test_frames() -> None:
    """With the real one: columns by their names, and by attributes with a suffix; the documentation names all that need it."""
    if not has("pandas"):
        return skip("names of DataFrames", "no pandas")
    pandas: Any = import_module("pandas")
    run = wheeltap.open(simulated("every_kind", "-n", "3000", "--kinds", "all"))
    colliding = set()
    for kind in run.kinds:
        table = run.table(kind)
        frame, marked = table.to_pandas(), table.to_pandas(suffix="_")
        own = {name for name in table.names if hasattr(pandas.DataFrame, name)}
        colliding |= own
        equal(f"{kind}: names stay", list(frame), table.names)
        wrong = [name for name in table.names if not getattr(marked, f"{name}_" if name in own else name).equals(frame[name])]
        equal(f"{kind}: attributes with a suffix", wrong, [])
    documented = re.search(r"DataFrame has an attribute of that name:\n *((?:`\w+`(?:, )?)+)\.", (SOURCE / "docs" / "python-reading.md").read_text())
    check("they are documented", documented is not None)
    equal("all of them", sorted(re.findall(r"\w+", documented[1] if documented else "")), sorted(colliding))


def test_findings() -> None:
    """run.doctor() and run.check(PACK) say what the command line says."""
    if not has("torch"):
        return skip("findings of a training run", "no torch")
    wrong = UNREAD.replace("optimizer.zero_grad()", "pass").replace("range(3)", "range(6)")
    path = recorded("wrong", wrong)
    run = wheeltap.open(path)
    verdict = run.doctor()
    told = json.loads(cli("doctor", "--json", path).stdout)
    equal("codes", [f.code for f in verdict.findings], [row["id"] for row in told["findings"]])
    first = next((f for f in verdict.findings if f.code == "WT-GRAD-001"), None)
    check("gradients that are not cleared", first is not None and verdict.status == "findings" and not verdict.clean, verdict)
    check("with its place", first is not None and first.line and str(first.file).endswith("wrong.py") and first.hint, first)
    check("as HTML", "WT-GRAD-001" in verdict._repr_html_() and "<table>" in verdict._repr_html_(), verdict._repr_html_())
    pack = FOLDER / "good.json"
    good = [recorded(f"good{n}", UNREAD.replace("range(3)", "range(6)").replace("lr=0.1", f"lr=0.{n}")) for n in (1, 2, 3)]
    inferred = cli("infer", *good, "-o", str(pack))
    equal("a pack", inferred.returncode, 0)
    checked = run.check(pack)
    told = json.loads(cli("check", "--json", "-i", str(pack), path).stdout)
    equal("what the pack finds", [(f.code, f.title) for f in checked.findings], [(row["id"], row["title"]) for row in told["findings"]])
    equal("how many held", checked.held, told.get("invariants_held", 0) + told.get("rules_held", 0))
    check("something was measured", checked.held > 0, checked)


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
    test_unread_in_frames()
    test_findings()
    test_frames()
    test_frame_names(path)
    finish()


main()
