# SPDX-License-Identifier: Apache-2.0
"""`wheeltap python`: agents lie apart for each interpreter; wheeltap can be imported. That one can be built is tested in test_join.py."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from recorded import Harness, main

PLACES = """
import sys
sys.path.insert(0, sys.argv[1] + "/wheeltap")
import _places
print(_places.own_folder(sys.argv[1] + "/wheeltap", sys.argv[1]))
sys.base_exec_prefix = "/somewhere/else"
print(_places.own_folder(sys.argv[1] + "/wheeltap", sys.argv[1]))
"""
WHERE = """
import sys, wheeltap
core = sys.modules.get("wheeltap._wheeltap")
print(wheeltap.recording(), core.__file__ if core else "none")
"""
READ = "import wheeltap; wheeltap.step(1); print(wheeltap.__path__[-1], wheeltap.recording(), wheeltap.start(), type(wheeltap.open({!r})).__name__)"


def copy_home(t: Harness, name: str = "copy") -> Path:
    copy = t.folder / name
    shutil.copytree(Path(t.wheeltap).parent / "python", copy / "python", ignore=shutil.ignore_patterns("added"))
    shutil.copy(t.wheeltap, copy / "wheeltap")
    return copy


def test_apart(t: Harness) -> None:
    """An interpreter takes the agent that was built for it; another one of the same version takes the one that wheeltap was
    built with, if there is one for that version, or none."""
    agent = t.record(WHERE).output.split()[-1]
    home, ours = copy_home(t) / "python", t.wheeltap
    own, other = t.execute([t.python, "-I", "-c", PLACES, str(home)]).output.split()
    t.check("the places of two interpreters differ", own != other, own, other)
    suffix = t.execute([t.python, "-c", "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"]).output.strip()
    is_common = (home / "wheeltap" / f"_wheeltap{suffix}").exists()
    for place, is_taken in ((other, False), (own, True)):
        Path(place).mkdir(parents=True)
        shutil.copy(agent, Path(place) / f"_wheeltap{suffix}")
        t.wheeltap = str(home.parent / "wheeltap")
        run = t.record(WHERE)
        t.wheeltap = ours
        t.equal(f"{'its own' if is_taken else 'that of another'} is {'' if is_taken else 'not '}taken",
                (run.output.split()[:1], place in run.output), ([str(is_taken or is_common)], is_taken), run.output, run.errors)
    (home / "wheeltap" / "source" / "identity").write_text("other\n")
    t.wheeltap = str(home.parent / "wheeltap")
    run = t.record(WHERE)
    t.wheeltap = ours
    t.check("one of other sources is not taken", own not in run.output, run.output, run.errors)


def test_import(t: Harness) -> None:
    """Outside of a recording: by the path, and linked into an environment."""
    t.record("import wheeltap; wheeltap.step(3)")
    read = READ.format(str(t.folder / f"run{t.runs}"))
    home = t.execute([t.wheeltap, "python", "path"]).output.strip()
    run = t.execute([t.python, "-c", read], env={"PYTHONPATH": home})
    t.equal("by PYTHONPATH", (run.status, run.output), (0, f"{home}/wheeltap False False Run\n"), run.errors)
    made = t.execute([t.python, "-m", "venv", "--without-pip", str(t.folder / "venv")])
    python = str(t.folder / "venv" / "bin" / "python")
    if made.status:
        print(f"# skip linking: {made.errors.strip()[-200:]}")
        return
    t.check("an environment has no wheeltap", t.execute([python, "-c", read]).status != 0)
    linked = t.execute([t.wheeltap, "python", "link", python])
    run = t.execute([python, "-c", read])
    t.equal("linked, it has", (linked.status, run.status, run.output), (0, 0, f"{home}/wheeltap False False Run\n"),
            linked.errors, run.errors)
    bad = [t.execute([t.wheeltap, "python", *words]) for words in (["link"], ["path", "x"], ["remove", "x"])]
    t.equal("words that make no sense", [run.status for run in bad], [2, 2, 2])


def test_not_python(t: Harness) -> None:
    """Whatever takes our words for something else is refused, before anything is done."""
    slow = t.folder / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 1000\n")
    slow.chmod(0o755)
    for word, said in (("/bin/ls", "is not a Python interpreter"), ("/bin/true", "is not a Python interpreter"),
                       (str(slow), "did not report its Python version within"), ("/no/such/python", "cannot run '/no/such/python'")):
        for verb in ("add", "link"):
            run = t.execute([t.wheeltap, "python", verb, word])
            t.check(f"{verb} {word} is refused", run.status not in (0, 1) and said in run.errors and not run.output,
                    run.status, run.output, run.errors)


def test_progress(t: Harness) -> None:
    """A command that takes minutes says what it does, as it does it."""
    wheeltap = str(copy_home(t, "progress") / "wheeltap")
    process = subprocess.Popen([wheeltap, "python", "add", t.python], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**t.env, "CC": "sleep"})
    assert process.stdout
    first = process.stdout.readline()
    process.communicate()
    if "Python.h" in first:
        print(f"# skip: {first.strip()}")
        return
    added = Path(wheeltap).parent / "python" / "wheeltap" / "added"
    shutil.rmtree(added, ignore_errors=True)
    added.write_text("in the way")
    stopped = t.execute([wheeltap, "python", "add", t.python])
    t.check("a folder that cannot be made is an error of one line", stopped.status and "cannot add" in stopped.errors
            and "Traceback" not in stopped.errors, stopped.errors)
    t.check("the first line names the interpreter, before it is built", "building the agent for CPython" in first
            and t.python in first, first)


if __name__ == "__main__":
    main(test_apart, test_import, test_not_python, test_progress)
