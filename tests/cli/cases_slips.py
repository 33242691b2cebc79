# SPDX-License-Identifier: Apache-2.0
"""What people type who do not know the program yet: options without values, names that are nearly right, several runs."""

from __future__ import annotations

import json
import re

from bench import Bench


def test_value_is_no_option(b: Bench) -> None:
    for words, option in ((["-o", "--", "true"], "output"), (["-n", "--", "true"], "name"),
                          (["--modules", "--syscalls", "--", "true"], "modules"), (["--name", "-q", "--", "true"], "name"),
                          (["--name", "--syscalls=%file", "--", "true"], "name"), (["--name", "--help"], "name")):
        said = b.run("record", *words, code=125)
        assert f"option '--{option}' needs a value" in said.err, (words, said.err)
    assert "'--sort' needs a value" in b.run("stat", "--sort", "--json", code=2).err
    assert not list(b.folder.iterdir())
    b.run("record", "-q", "--name=--syscalls", "--", "/bin/true")
    b.run("record", "-q", "-n", "-x1", "--", "/bin/true")
    assert {json.loads(f.read_text())["name"] for f in b.folder.glob("wheeltap-runs/*/run.json")} == {"--syscalls", "-x1"}


def test_record_fails_with_125(b: Bench) -> None:
    """As timeout and env: any other status may be the program's."""
    for words in (["--no-such-option"], ["--check=nope.json", "--", "true"], ["--on-full", "x", "--", "true"], [],
                  ["--directory", "nowhere", "--", "true"], ["--dry-run", "--", "/bin/ls"], ["-c", "nope.toml", "--", "true"]):
        b.run("record", *words, code=125)
    assert b.run("record", "-q", "--", "/bin/sh", "-c", "exit 2", code=2).err == ""


def test_suggestions(b: Bench) -> None:
    for words, near in ((["help", "doctr"], "doctor"), (["export", "--to", "perfeto"], "perfetto"), (["stat", "--sort", "tim"], "time"),
                        (["explain", "WT-GARD-001"], "WT-GRAD-001"), (["explain", "gard-001"], "WT-GRAD-001"),
                        (["explain", "WT-GRAD-999"], "WT-GRAD")):
        assert f"did you mean '{near}'?" in b.run(*words, code=2).err, words
    for words in (["explain", "zzz"], ["explain", "WT-XYZZY-001"], ["help", "zzz"], ["export", "--to", "zzz"]):
        assert "did you mean" not in b.run(*words, code=2).err, words


def test_folder_of_runs(b: Bench) -> None:
    b.run("record", "-q", "-o", "runs/first", "--", "/bin/true")
    assert "but 1 run: name it, such as 'runs/first'" in b.run("doctor", "runs", code=3).err
    b.run("record", "-q", "-o", "runs/second", "--", "/bin/true")
    assert "but 2 runs: name one of them, such as 'runs/second'" in b.run("info", "runs", code=3).err


def test_infer_from_failed_runs(b: Bench) -> None:
    b.run("record", "-q", "-o", "failed", "--", "/bin/false", code=1)
    b.run("record", "-q", "-o", "fine", "--", "/bin/true")
    shown = b.run("infer", "failed", "fine", "-o", "pack.json", code=3)
    assert "'failed': the run failed" in shown.out + shown.err and "'fine': the run" not in shown.out + shown.err, shown
    assert "nothing was learned: " in shown.out + shown.err, shown


def test_explain_spellings(b: Bench) -> None:
    text = b.run("explain", "WT-ROWS-002").out
    for word in ("wt-rows-002", "ROWS-002", "rows-002", "Wt-Rows-002"):
        assert b.run("explain", word).out == text, word
    for word in ("ROWS", "rows", "WT-ROWS", "wt-rows"):
        codes = [row["code"] for row in b.run("explain", "--json", word).json()["tables"]["rules"]]
        assert "WT-ROWS-002" in codes and all(code.startswith("WT-ROWS-") for code in codes), (word, codes)
    for word in ("gold", "gate", "learn"):
        assert b.run("explain", "--json", word).json()["tables"]["rules"], word


def test_timeline_beside_what_was_busy(b: Bench) -> None:
    trace = b.trace("spans")
    begins = [e["time_ns"] for e in b.run("view", "--json", trace).json()["events"] if e["kind"] == "span_begin"]
    said = b.run("timeline", "--from", "2s", "--to", "3s", trace, code=3).err
    assert "the nearest before it ends at " in said and "after it" not in said, said
    said = b.run("timeline", "--to", f"{min(begins) - 1}ns", "--from=-1s", trace, code=3).err
    assert re.search(r"the nearest after it begins at \d", said) and "before it" not in said, said


def test_how_a_run_ended(b: Bench) -> None:
    run = b.make_run("crashed", status="failed", exit_status=1, directory="/w")
    (run / "console.log").write_text('Traceback (most recent call last):\n  File "/w/train.py", line 7, in <module>\nValueError: no\n')
    words = "exit status 1, ValueError at train.py:7"
    assert words in b.run("doctor", "crashed", code=1).out
    assert re.search(rf"^ended by +{words}$", b.run("info", "crashed").out, re.M)
    assert b.run("info", "--json", "crashed").json()["ended_by"] == words
    for frames, place in (  # the program may lie outside of the folder that it was started in
        (("/home/me/net.py", "/usr/lib/python3/dist-packages/torch/nn/functional.py"), "/home/me/net.py:7"),
        (("<string>", "/usr/lib/python3/dist-packages/torch/nn/functional.py"), "<string>:7"),  # python -c
        (("/home/me/net.py", "<string>"), "/home/me/net.py:7"),  # of a dataclass
        (("<frozen runpy>", "/usr/lib/python3/dist-packages/torch/distributed/run.py"), "/usr/lib/python3/dist-packages/torch/distributed/run.py:8"),
    ):
        lines = "".join(f'  File "{frame}", line {7 + i}, in f\n' for i, frame in enumerate(frames))
        (run / "console.log").write_text(f"Traceback (most recent call last):\n{lines}ValueError: no\n")
        assert b.run("info", "--json", "crashed").json()["ended_by"] == f"exit status 1, ValueError at {place}", place
    cause = "Root Cause (first observed failure):\n[0]:\n  host      : a\n  rank      : 1 (local_rank: 1)\n  exitcode  : {}\n"
    for code, words in (("-6 (pid: 9)  (SIGABRT)", "rank 1 ended by signal 6 (Aborted)"), ("3 (pid: 9)", "rank 1 ended with exit status 3"),
                        ("-4294967290", "rank 1 ended with exit status -4294967290"), ("-99999999999999999999", f"rank 1 ended with exit status {-2**63}")):
        (run / "console.log").write_text('Traceback (most recent call last):\n  File "/v/lib/python3.12/site-packages/torch/launcher/api.py", line 3, in f\n'
                                         f"torch.errors.ChildFailedError: \ntrain.py FAILED\n{cause.format(code)}")
        assert b.run("info", "--json", "crashed").json()["ended_by"] == f"exit status 1, {words}"
    b.make_run("killed", status="killed", signal=9)
    assert b.run("info", "--json", "killed").json()["ended_by"] == "signal 9 (Killed)"
    b.make_run("good")
    assert "ended_by" not in b.run("info", "--json", "good").json()


def test_nothing_was_trained(b: Bench) -> None:
    b.run("record", "-q", "-o", "runs/plain", "--", "/bin/true")
    lines = b.run("doctor", "runs/plain", code=3).out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("run finished; no training step was recorded"), lines
    assert lines[1].startswith("Nothing could be judged: no training step was recorded"), lines
    assert "why not measured" in b.run("doctor", "--all", "runs/plain", code=3).out
    assert "nothing was judged: no training step was recorded" in b.run("report", "runs/plain").out


def test_where_a_run_ended(b: Bench) -> None:
    text = b.run("info", b.trace("spans")).out
    assert re.search(r"^ended in +step 1, stage eval \(counted from 0\)$", text, re.M) and "last step" not in text, text
    assert b.run("info", "--json", b.trace("own_steps")).json()["last_step"] == 9
    b.make_run("two", trace="two_optimizers", status="failed", exit_status=1)
    assert b.run("info", "--json", "two").json()["last_step"] == 2
    said = b.run("doctor", "--json", "two", code=None).json()
    assert (said["last_step"], said["ended_in_step"]) == (2, 3), said
    assert b.run("doctor", "two", code=None).out.startswith("run failed in step 3: exit status 1; "), said


def test_names_of_runs(b: Bench) -> None:
    b.make_run("my_run_1-20260101-000000", name="my run/1")
    b.make_run("my_run_1-20260102-000000-2", name="my run/1", start="2026-01-03T00:00:00Z")
    b.make_run("ok01-20260101-000000", name="ok01", start="2026-01-01T00:00:00Z")
    b.make_run("ok10-20260101-000000", name="ok10")
    for word in ("my run/1", "my_run_1"):
        assert b.run("info", "--json", word).json()["run"] == "my_run_1-20260102-000000-2", word
    for word, near in (("OK01", "ok01"), ("ok0", "ok01"), ("runs/ok01", "ok01"), ("my_run", "my_run_1")):
        said = b.run("info", word, code=3).err
        assert f"no run '{word}'; did you mean '{near}" in said, said
    for word in ("xyzzy", "runs/xyzzy"):
        said = b.run("info", word, code=3).err
        assert f"no run '{word}'" in said and "wheeltap ls" in said and "did you mean" not in said, said


def test_steps_that_are_not_there(b: Bench) -> None:
    trace = b.trace("spans")
    assert "it has steps 0 to 1" in b.run("view", "--step", "9999", trace).err
    assert "it has set no epoch" in b.run("view", "--epoch", "3", trace).err
    one, two = (b.run("view", "--json", "--step", step, trace).json()["events"] for step in ("0", "1"))
    both = b.run("view", "--json", "--step", "0-1", trace).json()["events"]
    assert one and two and len(both) == len(one) + len(two)
    assert b.run("view", "--json", "--step", "1-7", trace).json()["events"] == two
    for value in ("3-", "1-x", "-", "1-2-3"):
        assert "a range such as 3-5" in b.run("view", f"--step={value}", trace, code=2).err, value


def test_several_runs(b: Bench) -> None:
    b.make_run("one")
    b.make_run("two", trace="quantiles")
    for verb in ("stat", "info", "timeline"):
        text = b.run(verb, "one", "two").out
        assert text == f"== one\n{b.run(verb, 'one').out}\n== two\n{b.run(verb, 'two').out}", verb
        said = b.run(verb, "--json", "two", "one").json()
        assert [row["run"] for row in said["runs"]] == ["two", "one"] and said["verb"] == verb, said
        assert said["runs"][1]["result"] == b.run(verb, "--json", "one").json(), verb
    assert [b.run("doctor", name, code=None).code for name in ("one", "two", "nope")] == [1, 3, 3]
    text = b.run("doctor", "two", "nope", "one", code=1).out  # a finding weighs more than what was not measured
    assert re.findall("^== .*", text, re.M) == ["== two", "== nope", "== one"], text
    b.run("doctor", "two", "nope", code=3)
    said = b.run("stat", "--json", "one", "nope", code=3).json()
    assert said["runs"][1] == {"run": "nope", "result": None} and said["status"] == "not_measured", said
    assert "one table" in b.run("stat", "--csv", "one", "two", code=2).err


def test_ls_patterns(b: Bench) -> None:
    b.make_run("a-20260101-000000", name="lr/0.1", start="2026-01-01T00:00:00Z")
    b.make_run("b-20260101-000000", name="b", start="2026-01-02T00:00:00Z")
    b.make_run("c-20260101-000000", name="c", start="2026-01-03T00:00:00Z")
    assert b.run("ls", "--names", "lr*").out == "a-20260101-000000\n"
    assert b.run("ls", "--names", "b", "c-*").out == "c-20260101-000000\nb-20260101-000000\n"
    said = b.run("ls", "nix")
    assert said.out == "" and "none of the 3 runs" in said.err, said


def test_clean_without_anything_to_do(b: Bench) -> None:
    b.make_run("future", start="2199-01-01T00:00:00Z")
    said = b.run("clean", "--older-than", "7d")
    assert said.out == "" and "nothing to remove" in said.err, said
    assert "7d" in b.run("clean", "--older-than", "xyz", code=2).err


def test_page_of_any_run(b: Bench) -> None:
    b.make_run("one")
    said = b.run("export", "--to", "html", "one", "--json").json()
    page = (b.folder / "one.html").read_text()
    assert said["bytes"] == len(page.encode()) and "<dd>one</dd>" in page and "forward" in page, said
    assert "<tbody></tbody>" not in page and "<dt></dt>" not in page
    assert b.run("export", "--to", "html", "one", code=4).err
    assert b.run("export", "--to", "html", "-o", "-", "one").out == page
    assert "no filter but" in b.run("export", "--to", "html", "--force", "--kind", "mark", "one", code=2).err


def test_env_lists_added_agents(b: Bench) -> None:
    """Those for these sources, in the user's folder: a stand-in file is enough to be listed."""
    if not (b.program.parent / "python" / "wheeltap" / "inject" / "sitecustomize.py").exists():
        return  # a build for sanitizers, without what lets agents into interpreters
    sources = b.program.parent / "python" / "wheeltap" / "source" / "identity"
    identity = sources.read_text().strip()
    for name in (identity, "other"):
        folder = b.folder / "data" / "wheeltap" / "python" / "added" / name / "cpython-312" / "opt" / "py"
        folder.mkdir(parents=True)
        (folder / "_wheeltap.cpython-312-x86_64-linux-gnu.so").write_bytes(b"")
    said = b.run("env", "--json", env={"XDG_DATA_HOME": str(b.folder / "data")}, code=None).json()
    rows = [row for row in said["tables"]["features"] if row["group"] == "agent" and "/opt/py " in row["detail"]]
    assert [row["name"] for row in rows] == ["cpython-312"], rows


def test_report_of_no_format(b: Bench) -> None:
    b.run("record", "-q", "-o", "run", "--", "/bin/true")
    for name in ("x.pdf", "x.htm", "folder.d/x.txt"):
        assert "stands for no format: use .md, .html" in b.run("report", "run", "-o", name, code=2).err, name
    assert not (b.folder / "x.pdf").exists()
    b.run("report", "run", "-o", "x.txt", "--md")
    b.run("report", "run", "-o", "plain")
    assert (b.folder / "plain").read_text() and "give one format" in b.run("report", "run", "--md", "--html", code=2).err


def test_rerun_of_standard_input(b: Bench) -> None:
    """The program is not in the run: nothing is run, and nobody is asked."""
    for number, words in enumerate((["-"], [], ["-u", "-X", "utf8", "-", "argument"])):
        b.run("record", "-q", "-o", f"run{number}", "--", "/usr/bin/python3", *words)
        said = b.run("rerun", f"run{number}", code=3).err
        assert "read its program from standard input, which is not recorded" in said and "would be run" not in said, said
    b.run("record", "-q", "-o", "code", "--", "/usr/bin/python3", "-c", "pass")
    (b.folder / "python_wrapper").write_text("#!/bin/sh\n")
    (b.folder / "python_wrapper").chmod(0o755)
    (b.folder / "code.py").write_text("")
    file = b.folder / "code" / "run.json"
    recorded, python = json.loads(file.read_text()), "/usr/bin/python3"
    for command, code, wanted in (
            ([python, "-c", "pass"], 2, "would be run"), ([python, "-cpass"], 2, "would be run"), ([python, "-mthis"], 2, "would be run"),
            ([python, "-um", "this"], 2, "would be run"), ([python, "-IBc", "pass"], 2, "would be run"), ([python, "--version"], 2, "would be run"),
            ([python, "-V"], 2, "would be run"), ([python, "-h"], 2, "would be run"), (["./python_wrapper"], 2, "would be run"),
            ([python, "-Xutf8", "-uW", "ignore", "code.py", "-"], 2, "would be run"), ([python, "--", "code.py"], 2, "would be run"),
            ([python, "-uX", "utf8", "none.py"], 3, "script 'none.py' is missing"), ([python, "-Wignore", "none.py"], 3, "script 'none.py'"),
            ([python, "--check-hash-based-pycs", "always", "none.py"], 3, "script 'none.py'"), ([python, "--", "none.py"], 3, "script 'none.py'"),
            ([python, "-uX", "utf8"], 3, "standard input"), ([python, "-Xutf8", "-"], 3, "standard input"), ([python, "--"], 3, "standard input")):
        file.write_text(json.dumps({**recorded, "command": command}))
        assert wanted in b.run("rerun", "code", code=code).err, command
