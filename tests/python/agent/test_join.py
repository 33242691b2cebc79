#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `record` says when no Python process joined, what it would hook, which functions it is told to hook."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path
from typing import Any

from recorded import Harness, main

# Who does not join is looked at every few milliseconds: it has to be there for some.
PROGRAM = "import time; print('ran'); time.sleep(0.2)"


def last_words(h: Harness, command: list[str], cause: str | None, *words: str, options: tuple[str, ...] = ()) -> None:
    """The same cause in the last words, in JSON, in run.json and in the trace."""
    name = " ".join(command)
    folder = h.folder / "joined"
    shutil.rmtree(folder, ignore_errors=True)
    run = h.execute([h.wheeltap, "record", *options, "-o", str(folder), "--", *command])
    h.check(f"{name}: runs all the same", run.output == "ran\n" and run.status == 0, run.output, run.errors)
    said = [line for line in run.errors.splitlines() if "no Python process joined" in line]
    described: dict[str, Any] = json.loads((folder / "run.json").read_text())["python"]
    notes = [json.loads(line)["fields"] for line in
             h.execute([h.wheeltap, "view", "--jsonl", "-k", "note", str(folder)]).output.splitlines()]
    notes = [note for note in notes if note["code"] == "no_python"]
    if cause is None:
        h.check(f"{name}: nothing to complain of", not said and described == {"joined": 1, "cause": None, "why": None}
                and not notes, run.errors, described, notes)
        return
    h.check(f"{name}: says why", len(said) == 1 and all(word in said[0] for word in words), run.errors)
    h.check(f"{name}: run.json and trace know it", described["joined"] == 0 and described["cause"] == cause
            and len(notes) == 1 and described["why"] in notes[0]["text"], described, notes)
    shutil.rmtree(folder)
    told = h.execute([h.wheeltap, "record", *options, "--json", "-o", str(folder), "--", *command]).errors
    h.equal(f"{name}: JSON knows it", json.loads(told.splitlines()[-1])["python"]["cause"], cause, told)


def no_python_joined(h: Harness) -> None:
    script = h.script(PROGRAM)
    last_words(h, [h.python, script], None)
    last_words(h, ["/bin/sh", "-c", f"{h.python} {script}"], None)
    last_words(h, [h.python, "-I", script], "isolated", "-I", "without")
    last_words(h, [h.python, "-uE", script], "isolated", "-E", "without")
    last_words(h, [h.python, "-X", "dev", "-S", script], "isolated", "-S", "without")
    last_words(h, ["env", "-i", h.python, script], "environment", "cleared", "WHEELTAP_AGENT")
    last_words(h, ["env", "PYTHONPATH=/nowhere", h.python, script], "path", "PYTHONPATH", "replaced")
    last_words(h, ["/bin/sh", "-c", f"{h.python} -I {script}"], "isolated", "-I")
    shebang = Path(h.script(PROGRAM))
    shebang.write_text(f"#!{h.python} -Es\n{PROGRAM}\n")
    shebang.chmod(0o755)
    last_words(h, [str(shebang)], "isolated", "-E")


def said_at_once(h: Harness) -> None:
    """Before the program starts, also with -q: what is missing, or that it is being built."""
    script = h.script("import sys; sys.stderr.write('the program began\\n')")
    quiet = h.record_command([h.python, script], "-q", "--no-build")
    said, began, _ = quiet.errors.partition("the program began")
    h.check("no agent: it is said before the program begins, also with -q",
            quiet.status == 0 and began and "will not be recorded" in said and f"python add {h.python}" in said, quiet.errors)
    shut = h.record_command([h.python, "-I", script], "-q")
    said, began, _ = shut.errors.partition("the program began")
    h.check("-I: it is said before the program begins", bool(began) and "-I keeps the agent out" in said, shut.errors)
    bare = h.record_command([h.python, script], "-q", env={"PATH": "/nowhere", "CC": ""})
    said, began, _ = bare.errors.partition("the program began")
    if h.execute([h.python, "-c", "import sysconfig, sys; sys.exit('/' in sysconfig.get_config_var('CC'))"]).status == 0:
        h.check("no compiler: that is said, and the program runs", bare.status == 0 and began and "no C compiler was found" in said
                and "will not be recorded" in said, bare.errors)
    asked = h.execute(["sh", "-c", f"echo mine | {h.wheeltap} record -q -o {h.folder}/input -- {h.python} -c 'print(input())'"])
    said = asked.errors
    if "Python.h" in said:
        print(f"# skip building: {said.strip()[-300:]}")
        return
    h.equal("no agent: it is built, and the program has its input", (asked.status, asked.output), (0, "mine\n"), said)
    h.check("no agent: that is said", "building it" in said and "added CPython" in said, said)
    built = json.loads((h.folder / "input" / "run.json").read_text())["python"]
    h.equal("no agent: the built one joins", built["joined"], 1, built)
    again = h.record_command([h.python, script], "-q")
    h.equal("the second time there is nothing to say", again.errors, "the program began\n")


def no_agent_for_it(h: Harness) -> None:
    """An interpreter without an agent, and one that is not supported: as a copy of the package would tell."""
    home = h.folder / "home"
    built = Path(h.wheeltap).parent / "python"
    (home / "build").mkdir(parents=True)
    shutil.copy(h.wheeltap, home / "build" / "wheeltap")
    shutil.copytree(built, home / "build" / "python", ignore=shutil.ignore_patterns("_wheeltap*"))
    wheeltap, h.wheeltap = h.wheeltap, str(home / "build" / "wheeltap")
    data, h.env["XDG_DATA_HOME"] = h.env.get("XDG_DATA_HOME"), str(home / "data")
    last_words(h, [h.python, h.script(PROGRAM)], "no_agent", "no agent", "wheeltap python add", options=("--no-build",))
    alone = h.record("import wheeltap; wheeltap.step(1); wheeltap.log(x=2); print(wheeltap.start(), wheeltap.recording())",
                     "--no-build")
    h.equal("no agent: annotations do nothing", (alone.status, alone.output), (0, "False False\n"), alone.errors)
    plan = h.execute([h.wheeltap, "record", "--dry-run", "--", h.python, "x.py"])
    h.check("no agent: the plan says so", plan.status == 3 and "wheeltap python add" in plan.errors, plan.errors)
    said_at_once(h)
    h.wheeltap = wheeltap
    del h.env["XDG_DATA_HOME"]
    if data is not None:
        h.env["XDG_DATA_HOME"] = data
    for old in sorted(Path.home().glob(".pyenv/versions/[23].[678].*/bin/python")):
        last_words(h, [str(old), h.script(PROGRAM)], "no_agent", "not supported", "3.9 to 3.14")
        plan = h.execute([h.wheeltap, "record", "--dry-run", "--", str(old), "x.py"])
        h.check(f"{old}: the plan says so", plan.status == 3 and "not supported" in plan.errors, plan.errors)


def free_threaded(h: Harness) -> None:
    """A stand-in: an environment whose interpreter says of itself that it was built without the global lock."""
    home = h.folder / "free"
    h.execute([h.python, "-m", "venv", "--without-pip", str(home)])
    site = next(home.glob("lib/python3*/site-packages"))
    (site / "free.pth").write_text("import sys; sys.abiflags = 't'\n")
    last_words(h, [str(home / "bin" / "python"), h.script(PROGRAM)], "no_agent", "free-threaded", "global interpreter lock")
    ready = Path(h.wheeltap).parent / "python" / "wheeltap" / "_ready.py"
    asked = h.execute([h.python, "-c", f"import runpy, sys; sys.abiflags = 't'; sys.argv = ['_ready.py', '{ready.parent.parent}']; "
                       f"runpy.run_path('{ready}', run_name='__main__')"])
    h.check("free-threaded: refused before the program starts", asked.output.startswith("refused free-threaded CPython") and
            "use the standard build" in asked.output, asked.output, asked.errors)
    program = home / "programs" / "python3.13t"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {h.python} -E -S -c 'import sys; sys.abiflags = \"t\"; exec(sys.argv[1])' \"$4\"\n")
    program.chmod(0o755)
    env_says_free_threaded(h, program.parent)


def env_says_free_threaded(h: Harness, folder: Path) -> None:
    path, h.env["PATH"] = h.env.get("PATH", os.defpath), str(folder)
    said = h.execute([h.wheeltap, "env"])
    h.env["PATH"] = path
    h.check(f"free-threaded: env says that {folder} has one", "free-threaded CPython" in said.output and "global interpreter lock" in said.output,
            said.output, said.errors)


def free_threaded_itself(h: Harness) -> None:
    """One that was built so, where there is one: everything that looks at it refuses, and it runs the program."""
    found = [path for path in map(shutil.which, ("python3.13t", "python3.14t")) if path]
    if not found:
        print("not tested: no python3.13t or python3.14t in the PATH")
    for python in found:
        env_says_free_threaded(h, Path(python).parent)
        added = h.execute([h.wheeltap, "python", "add", python])
        h.check(f"{python}: not added", added.status != 0 and "free-threaded" in added.errors, added.output, added.errors)
        plan = h.execute([h.wheeltap, "record", "--dry-run", "--", python, "x.py"])
        h.check(f"{python}: the plan says so", plan.status == 3 and "free-threaded" in plan.errors, plan.errors)
        last_words(h, [python, h.script(PROGRAM)], "no_agent", "free-threaded", "global interpreter lock")


def dry_run(h: Harness) -> None:
    marker = h.folder / "was-run"
    script = h.script(f"open({str(marker)!r}, 'w')")
    rules = h.folder / "rules.txt"
    rules.write_text("# only these\njson dumps\njson.decoder JSONDecoder\n")
    plan = h.execute([h.wheeltap, "record", "--dry-run", "--json", "--modules", "json,no_such_library",
                      "--include-file", str(rules), "--", h.python, script])
    said = json.loads(plan.output)
    modules = {row["name"]: row for row in said["tables"]["modules"]}
    h.equal("a plan: status", (plan.status, said["status"]), (0, "clean"), plan.errors)
    h.check("a plan: the program was not run", not marker.exists())
    h.check("a plan: rules choose functions, beside load(), which may read settings", modules["json"]["python"] == 2 and
            modules["json"]["actions"] == "file" and modules["json.decoder"]["python"] >= 2, modules)
    libraries = {row["name"]: row["problem"] for row in said["tables"]["libraries"]}
    h.equal("a plan: what is missing", libraries, {"json": "", "no_such_library": "not installed"})
    shut = h.execute([h.wheeltap, "record", "--dry-run", "--", h.python, "-I", script])
    h.check("a plan: an interpreter that is shut", shut.status == 3 and "-I keeps the agent out" in shut.errors, shut.errors)
    unknown = h.execute([h.wheeltap, "record", "--dry-run", "--", "/bin/ls"])
    h.check("a plan: no interpreter", unknown.status == 125 and "cannot find out which Python" in unknown.errors, unknown.errors)
    shebang = Path(h.script(PROGRAM))
    shebang.write_text(f"#!/usr/bin/env {h.python}\n")
    shebang.chmod(0o755)
    named = h.execute([h.wheeltap, "record", "--dry-run", "--json", "--modules", "json", "--", str(shebang)])
    h.equal("a plan: the interpreter of a script", json.loads(named.output)["interpreter"], h.python, named.errors)


def dry_run_torch(h: Harness) -> None:
    if not h.has("torch"):
        print(f"# skip: {h.python} has no torch")
        return
    plan = h.execute([h.wheeltap, "record", "--dry-run", "--json", "--", h.python, "x.py"])
    said = json.loads(plan.output)
    h.equal("a plan of torch: nothing fails", [row["problem"] for row in said["tables"]["libraries"]], [""], plan.errors)
    h.equal("a plan of torch: nothing is refused because of how it was asked",
            [row["why"] for row in said["tables"].get("left", []) if "argument" in row["why"]], [])
    modules = {row["name"]: row for row in said["tables"]["modules"]}
    h.check("a plan of torch: what it hooks", plan.status == 0 and "torch.nn" in modules and
            "Module.__call__" in modules["torch.nn"]["actions"], list(modules), modules.get("torch.nn"))


def rules_and_report(h: Harness) -> None:
    code = """
        import json
        json.loads(json.dumps([1, 2]))
        json.dumps({})
    """
    exclude = h.folder / "exclude.txt"
    exclude.write_text("json.* *\njson loads\n")
    report = h.folder / "report.csv"
    names = h.folder / "names.txt"
    names.write_text("json  # one a line\n")
    run = h.record(code, "--modules", f"@{names}", "--exclude-file", str(exclude), "--report", str(report))
    h.equal("rules: what is left out", [call["callee"] for call in run.of("call_begin")], ["dumps", "dumps"], run.errors)
    rows = list(csv.DictReader(report.read_text().splitlines()))
    h.equal("the report", [(row["name"], row["count"]) for row in rows], [("json.dumps", "2")])
    shown = h.execute([h.wheeltap, "stat", "--by", "function", "--sort", "bytes", "--csv",
                       str(h.folder / f"run{h.runs}")])
    h.equal("the report is what stat says", shown.output, report.read_text(), shown.errors)
    bad = h.record(code, "--modules", "json", "--report", "/nowhere/report.txt")
    h.check("a report that cannot be written", bad.status == 0 and "no report was written" in bad.errors, bad.errors)


main(no_python_joined, no_agent_for_it, free_threaded, free_threaded_itself, dry_run, dry_run_torch, rules_and_report)
