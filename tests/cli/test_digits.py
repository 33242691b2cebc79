#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The verb `digits` on runs whose digits are known (make_digits.c).

usage: test_digits.py WHEELTAP MAKE_DIGITS
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE  # noqa: E402

WHEELTAP, MAKE = (os.path.abspath(word) for word in sys.argv[1:3])
failed = 0


def check(what: str, good: bool, more: object = "") -> None:
    global failed
    print(f"{'ok' if good else 'not ok'} - {what}" + ("" if good else f": {more}"))
    failed += not good


def make(program: str, runs: "range | list[int]" = range(1, 6), name: str = "") -> str:
    """A set of runs; 0 is one without noise."""
    folder = Path(name or program)
    shutil.rmtree(folder, ignore_errors=True)
    for run in runs:
        (folder / f"{run:02}").mkdir(parents=True)
        subprocess.run([MAKE, program, folder / f"{run:02}" / "0001.wt", str(run)], check=True)
    (folder / "set.json").write_text("{}\n")
    return str(folder)


def say(*words: str) -> "tuple[int, str, str]":
    done = subprocess.run([WHEELTAP, *words], capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def digits(*words: str) -> "tuple[int, dict[str, Any]]":
    code, out, err = say("digits", "--json", *words)
    return code, json.loads(out)


def found(said: "dict[str, Any]") -> "list[tuple[str, int | None]]":
    return [(f["id"], f["where"]["line"]) for f in said["findings"]]


def culprits() -> None:
    for program, line in (("quadratic", 13), ("logistic", 22), ("elements", 51), ("picked", 131), ("rounds", 195), ("attribute", 201)):
        code, said = digits(make(program))
        check(f"{program}: the line that loses digits is named, and no other", code == 1 and found(said) == [("WT-DIG-001", line)],
              found(said))
    for program in ("stable_quadratic", "kahan", "newton", "honest", "compensated", "sorted", "empty", "inside", "inner", "minimum",
                    "variable"):
        code, said = digits(make(program))
        check(f"{program}: nothing is reported", (code, said["status"], found(said)) == (0, "clean", []), found(said))


def named() -> None:
    code, said = digits(make("attribute"))
    check("a result by the name that the program has for it", "'model.loose_', the result at program.py:201" in
          str(said["findings"]), said["findings"])
    code, said = digits(make("minimum"), "--fail-below", "30")
    check("a value at its minimum has the digits of earlier rounds", code == 0 and said["worst_digits"] > 30, said["worst_digits"])
    code, said = digits(make("variable"), "--fail-below", "30")
    check("a variable at the end may be a step on the way", code == 0, said["worst_digits"])


def figures() -> None:
    code, said = digits(make("quadratic"))
    rows = {row["line"]: row for row in said["tables"]["sites"]}
    check("digits in and out of each line", rows[13]["digits_in"] > 48 and 5 < rows[13]["digits_out"] < 20 and
          34 < rows[13]["lost"] < 46 and rows[14]["lost"] < 2 and rows[10]["digits_of"] == 53, rows)
    code, decimal = digits("quadratic", "--base", "10")
    lost = {row["line"]: row["lost"] for row in decimal["tables"]["sites"]}[13]
    check("in another base", abs(lost - rows[13]["lost"] * 0.30103) < 0.02 and decimal["unit"] == "decimal digits", lost)
    code, general = digits("quadratic", "--method", "general")
    out = {row["line"]: row["digits_out"] for row in general["tables"]["sites"]}[13]
    check("the general method counts whole bits", out == int(out) and abs(out - rows[13]["digits_out"]) < 5, out)
    code, wide = digits("quadratic", "--contributing")
    more = {row["line"]: row["digits_out"] for row in wide["tables"]["sites"]}[13]
    check("contributing digits are 5.29 more", abs(more - rows[13]["digits_out"] - 5.28894) < 0.02, more)
    code, counted = digits("quadratic", "--absolute")
    less = rows[13]["digits_out"] - {row["line"]: row["digits_out"] for row in counted["tables"]["sites"]}[13]
    check("--absolute: from the power of two below", abs(less - 0.76) < 0.02, less)
    code, said = digits(make("logistic"))
    y = said["series"]["digits_x"]["y"]
    check("digits of a named value over the steps", len(y) == 40 and y[0] > 48 and y[39] < 25 and y[20] > y[39], y)
    code, out, err = say("digits", "--csv", "--by", "step", "logistic")
    check("a table as CSV", out.startswith("step,calls,") and len(out.splitlines()) == 41, out[:80])


def limits() -> None:
    make("quadratic")
    make("stable_quadratic")
    code, said = digits("stable_quadratic", "--fail-below", "40")
    check("--fail-below: enough digits", (code, found(said)) == (0, []), found(said))
    code, said = digits("stable_quadratic", "--fail-below", "52")
    check("--fail-below: too few", code == 1 and [f[0] for f in found(said)] == ["WT-DIG-002"], found(said))
    for words in (("--fail-below", "x"), ("--base", "1"), ("--probability", "1"), ("--confidence", "2"), ("--tolerances",),
                  ("--contributing", "--method", "general")):
        code, out, err = say("digits", *words, "quadratic")
        check(f"{' '.join(words)} is refused", code == 2 and len(err.splitlines()) == 1, (code, err))


def single() -> None:
    code, said = digits(make("overflow"))
    check("infinity: where it arises, once", code == 1 and found(said)[0] == ("WT-DIG-003", 60) and
          "0 more such calls" in said["findings"][0]["evidence"]["text"], said["findings"])
    code, said = digits(make("overflow", [0], "one") + "/00")
    check("the same of a single run without noise", code == 1 and found(said) == [("WT-DIG-003", 60)], found(said))
    code, said = digits(make("quadratic", [0], "one"))
    check("one run without noise: not measured, with the command", code == 3 and said["status"] == "not_measured" and
          any("record --runs" in note for note in said["notes"]), said["notes"])
    check("its cancellation is a note", found(said) == [("WT-DIG-004", 13)] and said["findings"][0]["severity"] == "note",
          found(said))
    code, said = digits(make("absorbed"))
    check("updates that change nothing", ("WT-DIG-005", 71) in found(said), found(said))
    for program, line, op in (("stalled", 110, "numpy.add"), ("scaled", 120, "Tensor.add_")):
        code, said = digits(make(program))
        check(f"{program}: the additions are named", found(said) == [("WT-DIG-005", line)] and
              said["findings"][0]["where"]["op"] == op, said["findings"])
    code, said = digits(make("quadratic", [1], "one"))
    check("one run with noise: several are needed", code == 3 and "one run shows no scatter" in said["notes"][-1], said["notes"])
    code, said = digits(make("unsampled"))
    check("no elements: not measured", code == 3 and any("--elements" in note for note in said["notes"]), said["notes"])


def bad_runs() -> None:
    code, said = digits(make("divergent"))
    check("divergence is a finding, and the rest is compared", code == 0 and ("WT-DIG-007", 80) in found(said) and
          said["calls_in_all_runs"] == 25, (found(said), said["calls_in_all_runs"]))
    code, said = digits(make("random"))
    check("generators without a seed are named", found(said)[0] == ("WT-DIG-008", 90) and len(found(said)) == 1, found(said))
    code, said = digits(make("shapes"))
    check("another shape in a run", found(said) == [("WT-DIG-010", 95)] and
          [row["calls"] for row in said["tables"]["sites"]] == [1, 1], found(said))
    code, said = digits(make("cut"))
    check("a run that is cut inside a call", [f[0] for f in found(said)] == ["WT-DIG-009"] and
          "'03'" in said["findings"][0]["title"] and said["calls"] == 20, said["findings"])
    make("stable_quadratic")
    stream = Path("stable_quadratic/02/0001.wt")
    stream.write_bytes(stream.read_bytes()[:200])
    code, said = digits("stable_quadratic")
    check("a damaged run is noted, the others analysed", code == 3 and said["measured"] > 0 and
          any("02" in note for note in said["notes"]), (code, said["notes"]))
    stream.unlink()
    Path("stable_quadratic/03/0001.wt").write_text("nothing")
    code, said = digits("stable_quadratic")
    check("so is one that is none", code == 3 and said["measured"] > 0, (code, said["notes"]))
    code, out, err = say("digits", "nowhere")
    check("no such run", code == 3 and len(err.splitlines()) == 1, err)


def tolerances() -> None:
    make("logistic")
    code, out, err = say("digits", "--tolerances", "-o", "t.json", "logistic")
    text = json.loads(Path("t.json").read_text())
    check("tolerances are written", (text["format"], text["version"], text["runs"]) == ("wheeltap-tolerances", 1, 5) and
          "=x" in text["values"] and text["values"]["=x"]["relative"] > 1e-12, text)
    make("logistic", [6, 7], "more")
    code, out, err = say("diff", "--tolerances", "t.json", "more/06", "more/07")
    check("runs within them are the same", code == 0, (code, out))
    code, out, err = say("diff", "--tensors", "--json", "more/06", "more/07")
    check("though their bits differ", code == 1 and json.loads(out)["status"] == "different", (code, out))
    code, out, err = say("diff", "--tensors", "--json", "--tolerances", "t.json", "more/06", "more/07")
    check("a difference within them is no divergence", code == 0 and json.loads(out)["status"] == "within", (code, out))
    for entry in text["values"].values():
        entry.update(absolute=0, relative=1e-16)
    Path("t.json").write_text(json.dumps(text))
    code, out, err = say("diff", "--tolerances", "t.json", "--json", "more/06", "more/07")
    check("and outside them differ", code == 1 and json.loads(out)["values_outside"] > 10, (code, out[:200]))
    code, out, err = say("diff", "--tensors", "--json", "--tolerances", "t.json", "more/06", "more/07")
    check("a difference outside them is one", code == 1 and json.loads(out)["status"] == "different", (code, out[:200]))
    for bad in ("{}", "[", '{"format": "wheeltap-tolerances", "version": 9}',
                '{"format": "wheeltap-tolerances", "version": 1, "values": {"a": {"absolute": "x"}}}'):
        Path("bad.json").write_text(bad)
        code, out, err = say("diff", "--tolerances", "bad.json", "more/06", "more/07")
        check(f"a file that is none is refused: {bad[:30]}", code == 3 and "bad.json" in err, (code, err))


def versions() -> None:
    """Tolerances of a program, and its next versions."""
    make("version_1")
    say("digits", "--tolerances", "-o", "v.json", "version_1")
    make("version_1", [0], "old")
    for version, outside, missing in (("1", 0, 0), ("moved", 0, 0), ("rewritten", 0, 0), ("longer", 0, 1), ("shifted", 1, 0)):
        make(f"version_{version}", [0], "new")
        code, out, err = say("diff", "--json", "--tolerances", "v.json", "old/00", "new/00")
        said = json.loads(out)
        status = "same" if version in ("1", "moved") else "different"  # it calls other functions
        check(f"{version}: what changed of a version", (said["values_outside"], said["values_not_compared"], said["status"]) ==
              (outside, missing, status) and said["values_compared"] >= (1 if version in ("rewritten", "shifted") else 17), out[:400])
    check("it is the result that is outside", [row["value"] for row in said["tables"]["outside"]] ==
          ["program.py:175 numpy.multiply -1"], said["tables"]["outside"])
    make("version_longer")
    say("digits", "--tolerances", "-o", "l.json", "version_longer")
    make("version_longer", [7], "old")
    make("version_rewritten", [8], "new")
    code, out, err = say("diff", "--json", "--tolerances", "l.json", "old/07", "new/08")
    said = json.loads(out)
    check("a result is compared with the nearest, not with the first", (said["values_outside"], said["values_not_compared"]) == (0, 1) and
          said["tables"]["not_compared"][0]["value"] == "program.py:179 numpy.multiply -1", out[:400])
    make("version_1", [0], "old")
    make("version_other", [0], "new")
    code, out, err = say("diff", "--tolerances", "v.json", "old/00", "new/00")
    check("results of one run only are named", code == 3 and "program.py:175 numpy.multiply -1" in out and
          "2 results were not compared" in err, (code, out, err))
    make("growing")
    say("digits", "--tolerances", "-o", "g.json", "growing")
    make("growing", [0, 9], "two")
    code, out, err = say("diff", "--json", "--tolerances", "g.json", "two/00", "two/09")
    check("an early value has the tolerance of early ones", code == 1 and json.loads(out)["values_outside"] == 1, out[:300])
    make("largest")
    say("digits", "--tolerances", "-o", "p.json", "largest")
    make("largest", [0, 8, 9], "two")
    for run, outside in (("09", []), ("08", ["program.py:232 _wrapreduction -1"])):
        code, out, err = say("diff", "--json", "--tolerances", "p.json", "two/00", f"two/{run}")
        check(f"what is picked out of a value may differ as that value may: {run}",
              [row["value"] for row in json.loads(out)["tables"]["outside"]] == outside, out[:600])


def compared() -> None:
    make("stable_quadratic", [0, 1], "two")
    code, said = digits("--compare", "two/00", "two/01")
    check("--compare: two runs agree", code == 0 and said["method"] == "general" and said["worst_digits"] >= 50, said)
    make("quadratic", [0, 1], "two")
    code, said = digits("--compare", "two/00", "two/01")
    check("--compare: where they part", code == 1 and found(said) == [("WT-DIG-001", 13)], found(said))
    code, out, err = say("digits", "--compare", "two/00")
    check("--compare takes two", code == 2, (code, err))


class Nesting(HTMLParser):
    """Elements that do not end where they should, and whatever a page would load."""

    EMPTY = {"meta", "link", "img", "br", "input", "hr"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: "list[str]" = []
        self.wrong: "list[str]" = []
        self.data = ""
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag: str, attributes: "list[tuple[str, str | None]]") -> None:
        self.wrong += [f"{tag} {name}" for name, _ in attributes if name in ("src", "href", "action") or name.startswith("on")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, text: str) -> None:
        if self.open[-1:] == ["script"] and not self.data:
            self.data = text


def pictures() -> None:
    Path("program.py").write_text("".join(f"line {number} < & >\n" for number in range(1, 61)))
    code, out, err = say("digits", "--html", "page.html", make("quadratic"))
    check("--html: where it went, and the status of digits", (code, out) == (1, "written to page.html\n"), (code, out, err))
    page = Nesting(Path("page.html").read_text())
    check("the page is well-formed and loads nothing", not page.wrong, page.wrong)
    tables = json.loads(page.data)["tables"]
    points = [(row["site"], row["direction"]) for row in tables["points"]]
    check("points of calls, in and out", any(site.startswith("program.py:13 ") and way == "out" for site, way in points) and
          any(way == "in" for _, way in points), points[:5])
    check("points have sizes and deviations", all(0 < row["deviation"] < 1e-6 * row["size"] for row in tables["points"]
          if row["site"] == "program.py:10 numpy.multiply" and row["direction"] == "out"), tables["points"][:3])
    check("calls over time, in order", [row["first"] for row in tables["spans"]] == sorted(row["first"] for row in tables["spans"]) and
          max(tables["spans"], key=lambda row: row["lost"])["function"] == "numpy.subtract", tables["spans"])
    say("digits", "--html", "page.html", make("minimum"))
    bars = json.loads(Nesting(Path("page.html").read_text()).data)["tables"]["spans"]
    check("a call spans what it calls", [(row["first"], row["last"]) for row in bars if row["function"] == "minimize"] == [(1, 97)],
          [row for row in bars if row["function"] == "minimize"])
    check("edges begin at the program", tables["edges"] and tables["edges"][0]["caller"] == "program", tables["edges"])
    lines = {row["line"]: row for row in tables["source"]}
    check("source lines beside what they lost", lines[13]["text"] == "line 13 < & >" and lines[13]["lost"] > 30 and 12 in lines, lines)
    make("elements")
    say("digits", "--html", "page.html", "elements")
    rows = json.loads(Nesting(Path("page.html").read_text()).data)["tables"]["elements"]
    check("elements of the worst tensors", len(rows) > 3 and all(0 <= row["digits"] <= 53 for row in rows), rows[:3])
    Path("program.py").unlink()
    code, out, err = say("digits", "--html", "page.html", "quadratic")
    check("a source that is gone is no error", code == 1 and not json.loads(Nesting(Path("page.html").read_text()).data)["tables"]["source"])
    code, out, err = say("digits", "--html", "no/such/page.html", "quadratic")
    check("--html: a folder that is not there", code == 3 and len(err.splitlines()) == 1, (code, err))


def exported() -> None:
    code, out, err = say("export", "--to", "hdf5", "-o", "digits.h5", make("quadratic"))
    check("export --to hdf5", code == 0 and Path("digits.h5").read_bytes()[:8] == b"\x89HDF\r\n\x1a\n", (code, out, err))
    code, out, err = say("export", "--to", "hdf5", "-o", "digits.h5", "quadratic")
    check("export --to hdf5: nothing is replaced unasked", code != 0 and "--force" in err, err)
    say("export", "--to", "hdf5", "-o", "elements.h5", make("elements"))
    size = Path("elements.h5").stat().st_size
    check("export --to hdf5: a small array takes no chunk", 0 < size < 60000, size)  # with chunks 106,616
    code, out, err = say("export", "--to", "hdf5", "-o", "one.h5", "quadratic/01")
    check("export --to hdf5: of one run", code == 2 and "--runs" in err and not Path("one.h5").exists(), (code, err))
    code, out, err = say("export", "--to", "hdf5", "-o", "-", "quadratic")
    check("export --to hdf5: not to a pipe", code == 2, (code, err))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (culprits, named, figures, limits, single, bad_runs, tolerances, versions, compared, pictures, exported):
            part()
        os.chdir("/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
