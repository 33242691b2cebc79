# SPDX-License-Identifier: Apache-2.0
"""Runs: naming them, listing them, removing them."""

from __future__ import annotations

import fcntl
import json
import os
import re
from pathlib import Path

from bench import Bench


def hold(run: Path) -> int:
    """The lock that a recorder holds as long as it lives."""
    fd = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def test_naming(b: Bench) -> None:
    b.make_run("older", start="2026-01-01T00:00:00Z", command=["older"])
    b.make_run("newest", start="2026-01-03T00:00:00Z", command=["newest"])
    b.make_run("middle", start="2026-01-02T00:00:00Z", command=["middle"])
    for words, name in (([], "newest"), (["latest"], "newest"), (["older"], "older"),
                        (["wheeltap-runs/middle"], "middle"), (["./wheeltap-runs/middle/"], "middle"),
                        ([str(b.folder / "wheeltap-runs" / "older")], "older")):
        said = b.run("info", "--json", *words).json()
        assert (said["run"], said["command"]) == (name, name), (words, said["run"])
    said = b.run("info", "--json", "older/0001.wt", env={"WHEELTAP_HOME": "wheeltap-runs"}, code=3)
    assert b.run("info", "--json", "wheeltap-runs/older/0001.wt").json()["status"] == "unknown"
    os.rename(b.folder / "wheeltap-runs", b.folder / "elsewhere")
    assert b.run("info", "--json", env={"WHEELTAP_HOME": "elsewhere"}).json()["run"] == "newest"


def test_ls(b: Bench) -> None:
    b.make_run("a", start="2026-01-01T00:00:00Z", command=["./my train", "it's"], lost=3)
    b.make_run("c", start="2026-01-03T00:00:00Z", status="killed")
    b.make_run("b", start="2026-01-02T00:00:00Z", status="running")
    (b.folder / "wheeltap-runs" / "not-a-run").mkdir()
    (b.folder / "wheeltap-runs" / "file").write_text("x")
    rows = b.run("ls", "--json").json()["tables"]["runs"]
    assert [(r["name"], r["status"]) for r in rows] == [("c", "killed"), ("b", "abandoned"), ("a", "finished")], rows
    assert rows[2]["command"] == "'./my train' 'it'\\''s'" and rows[2]["lost"] == 3, rows[2]
    assert rows[0]["duration_ns"] == 1_500_000_000 and rows[0]["events"] == 17 and rows[0]["bytes"] > 100
    fd = hold(b.folder / "wheeltap-runs" / "b")
    assert b.run("ls", "--json").json()["tables"]["runs"][1]["status"] == "running"
    assert b.run("info", "--json", "b").json()["status"] == "running"
    os.close(fd)
    assert b.run("ls", "--names").out == "c\nb\na\n"


def test_elsewhere(b: Bench) -> None:
    """The lock of a recorder on another host is not seen here: its run is not called abandoned, nor removed."""
    here, boot = os.uname().nodename, Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    for name, host, status in (("far", {"name": "far-away", "boot": "another"}, "running"), ("old", {"name": "far-away"}, "running"),
                               ("container", {"name": "c0ffee", "boot": boot}, "abandoned"), ("rebooted", {"name": here, "boot": "another"}, "abandoned")):
        run = b.make_run(name, start="2026-01-01T00:00:00Z", status="running")
        content = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps({**content, "host": host}))
        said = b.run("info", "--json", name).json()
        assert said["status"] == status, (name, said["status"])
        assert ("recorded_on" in said) == (status == "running"), said
    rows = b.run("ls", "--json").json()["tables"]["runs"]
    assert sorted(r["name"] for r in rows if r["status"] == "running") == ["far", "old"], rows
    assert "running or abandoned: that can only be seen on 'far-away'" in b.run("info", "far").err
    assert b.run("doctor", "far", code=1).out.startswith("run ended, or is still being recorded, on 'far-away'")
    assert "may be running on 'far-away'" in b.run("clean", "--yes", "far", code=4).err
    b.run("clean", "--yes", "rebooted")
    assert "by name" in b.run("clean", "--yes", "--elsewhere", "--keep", "0", code=2).err
    said = b.run("clean", "--yes", "far", code=4).err
    b.run(*re.search("`wheeltap (clean --elsewhere .*)`", said)[1].split(), "--yes")
    assert not (b.folder / "wheeltap-runs" / "far").exists()
    fd = hold(b.folder / "wheeltap-runs" / "old")
    assert "it is running" in b.run("clean", "--yes", "--elsewhere", "old", code=4).err
    os.close(fd)


def test_set_elsewhere(b: Bench) -> None:
    """The same of a set: also between two of its runs."""
    for name, status in (("far", "running"), ("between", "finished")):
        run = b.make_run(f"{name}/01", status=status, host={"name": "far-away", "boot": "another"})
        (run.parent / "set.json").write_text(json.dumps({"set": 1, "status": "running", "runs_wanted": 5, "runs": [], "command": ["train"],
                                                         "start_ns": 1}))
        row, = (row for row in b.run("ls", "--json").json()["tables"]["runs"] if row["name"] == name)
        assert row["status"] == "running", row
        assert "may be running on 'far-away'" in b.run("clean", "--yes", name, code=4).err
        assert run.exists()
        b.run("clean", "--yes", "--elsewhere", name)
        assert not run.exists()


def test_sizes(b: Bench) -> None:
    """The same two for one run wherever they are printed: all streams, and all files."""
    run = b.make_run("a", start="2026-01-01T00:00:00Z")
    (run / "console.log").write_text("x" * 5000)
    (run / "blobs").mkdir()
    (run / "blobs" / "one.wt").write_bytes(bytes(7000))
    row, = b.run("ls", "--json").json()["tables"]["runs"]
    said = b.run("info", "--json", "a").json()
    files = [f for f in run.rglob("*") if f.is_file()]
    assert row["bytes"] == said["bytes"] == sum(f.stat().st_size for f in run.glob("*.wt")), (row, said["bytes"])
    assert row["disk_bytes"] == said["disk_bytes"] == sum(f.stat().st_size for f in files), (row, said)


def test_ls_without_runs(b: Bench) -> None:
    said = b.run("ls")
    assert said.out == "" and "no runs" in said.err
    assert b.run("ls", "--json").json()["tables"]["runs"] == []


def test_ls_odd_run_json(b: Bench) -> None:
    for name, text in (("broken", "{"), ("list", "[]"), ("types", '{"schema": 1, "status": 3, "command": 4}'), ("foreign", '{"status": "a", "command": ["b"]}'), ("none", ""),
                       ("deep", "[" * 100000)):
        folder = b.folder / "wheeltap-runs" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(text)
    assert b.run("ls", "--json").json()["tables"]["runs"] == []


def test_clean(b: Bench) -> None:
    runs = b.folder / "wheeltap-runs"
    for day in range(1, 6):
        b.make_run(f"r{day}", start=f"2026-01-0{day}T00:00:00Z")
    b.make_run("live", start="2026-01-01T00:00:00Z", status="running")
    fd = hold(runs / "live")
    (runs / "mine").mkdir()
    (runs / "mine" / "thesis.txt").write_text("do not lose this")
    outside = b.make_run("../outside")
    (runs / "link").symlink_to(outside)
    (runs / "r1" / "link").symlink_to(runs / "mine")
    assert "--keep" in b.run("clean", code=2).err
    assert "--yes" in b.run("clean", "--keep", "2", code=2).err
    assert len(list(runs.glob("[!.]*"))) == 8
    said = b.run("clean", "--keep", "2", "--dry-run", "--json").json()
    assert [r["name"] for r in said["tables"]["runs"]] == ["r3", "r2", "r1"], said
    assert len(list(runs.glob("[!.]*"))) == 8
    said = b.run("clean", "--keep", "2", "--yes", "--json").json()
    assert said["removed"] == 3, said
    assert {p.name for p in runs.glob("[!.]*")} == {"r4", "r5", "live", "mine", "link"}
    assert (runs / "mine" / "thesis.txt").exists() and (outside / "run.json").exists()
    os.close(fd)
    b.run("clean", "--keep", "0", "--yes")
    assert {p.name for p in runs.glob("[!.]*")} == {"mine", "link"}


def test_clean_older_than(b: Bench) -> None:
    b.make_run("old", start="2020-01-01T00:00:00Z")
    b.make_run("future", start="2199-01-01T00:00:00Z")
    said = b.run("clean", "--older-than", "7d", "--yes", "--json").json()
    assert [r["name"] for r in said["tables"]["runs"]] == ["old"], said
    assert [p.name for p in (b.folder / "wheeltap-runs").glob("[!.]*")] == ["future"]


def test_env(b: Bench) -> None:
    said = b.run("env", "--json", code=None)
    assert said.code in (0, 4)
    tables = said.json()["tables"]
    names = {row["name"] for row in tables["features"]}
    assert {"memfd", "membarrier", "wipe on fork", "time stamps", "perf events", "ptrace", "BPF",
            "cgroup freezer", "runs"} <= names, names
    assert any(row["group"] == "interpreter" for row in tables["features"])
    gaps = {row["name"] for row in tables["features"] if row["state"] == "missing"}
    assert gaps <= {row["name"] for row in tables["cures"]}, "a gap without a cure"
    assert all("\n" not in row["cure"] for row in tables["cures"])
    bare = b.run("env", "--json", env={"PATH": str(b.folder)}, code=None).json()
    assert any(row["name"] == "python" and row["state"] == "missing" for row in bare["tables"]["features"])


# An interpreter of another version: /usr/bin/python3, which says so.
FAKE = """#!/usr/bin/python3
import sys
sys.version_info = {version!r}
sys.implementation.name = {name!r}
sys.executable = sys.argv[0]
exec(sys.argv[sys.argv.index("-c") + 1])
"""


def test_env_interpreters(b: Bench) -> None:
    """Only what runs, answers in time and is a version that the agent knows is ok."""
    folder = b.folder / "bin"
    folder.mkdir()
    fakes = {
        "python3.9": FAKE.format(version=(3, 9, 2), name="cpython"),
        "python3.14": FAKE.format(version=(3, 14, 0), name="cpython"),
        "python2.7": FAKE.format(version=(2, 7, 18), name="cpython"),
        "python3.6": FAKE.format(version=(3, 6, 15), name="cpython"),
        "python3.15": FAKE.format(version=(3, 15, 0), name="cpython"),
        "python3.10": FAKE.format(version=(3, 10, 0), name="pypy"),
        "python3.11": "#!/bin/sh\necho hello\n",
        "python3.12": f"#!/bin/sh\necho $$ >{b.folder}/hanging; /bin/sleep 1000; /bin/sleep 1000\n",
        "python3.7": "#!/bin/sh\nexec /bin/cat\n",
        "python3.8": "#!/nowhere/sh\n",
        "python3.5": "#!/bin/sh\nexec /usr/bin/yes\n",
    }
    for name, text in fakes.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "python").mkdir()
    os.mkfifo(folder / "python3.1", 0o755)
    (folder / "python3.2").symlink_to("nowhere")
    (folder / "python3.3").write_text("not executable")
    tables = b.run("env", "--json", env={"PATH": str(folder)}, code=None).json()["tables"]
    rows = {row["name"]: (row["state"], row["detail"]) for row in tables["features"] if row["group"] == "interpreter"}
    scripts = rows.pop("scripts")
    assert scripts[0] == "limited" and scripts[1].startswith("1 script starts no interpreter in this folder"), scripts
    assert scripts[1].endswith(": python3.7"), scripts
    fakes.pop("python3.7")
    assert sorted(rows) == sorted(fakes), rows
    assert {name for name, row in rows.items() if row[0] == "ok"} == {"python3.9", "python3.14"}, rows
    assert all(detail.startswith(f"{folder}/{name}: ") for name, (_, detail) in rows.items()), rows
    for name, words in {"python3.9": "CPython 3.9.2", "python2.7": "2.7.18 is not supported", "python3.6": "3.6.15 is not supported",
                        "python3.15": "3.15.0 is not supported", "python3.10": "pypy 3.10.0 is not supported",
                        "python3.11": "not a working Python interpreter", "python3.12": "no answer within",
                        "python3.8": "cannot be run", "python3.5": "not a working Python interpreter"}.items():
        assert words in rows[name][1], (name, rows[name])
    bad = {name for name, row in rows.items() if row[0] != "ok"}
    assert bad <= {row["name"] for row in tables["cures"]}, tables["cures"]
    hanging = int((b.folder / "hanging").read_text())
    assert not os.path.exists(f"/proc/{hanging}"), "it still runs"
    for name in ("python3.9", "python3.14"):
        (folder / name).unlink()
    rest = b.run("env", "--json", env={"PATH": str(folder)}, code=None).json()["tables"]["features"]
    assert ("python", "missing") in {(row["name"], row["state"]) for row in rest}, rest


def test_env_wrappers(b: Bench) -> None:
    """A script that starts an interpreter is none: what it starts is listed, once, under its own path."""
    folder = b.folder / "bin"
    folder.mkdir()
    (b.folder / "start").write_text('#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
    (b.folder / "start").chmod(0o755)
    for name in ("python", "python3", "python3.11"):
        (folder / name).write_text(f'#!/bin/sh\nexec {b.folder}/start "$@"\n')
        (folder / name).chmod(0o755)
    for name in ("python3.8", "python3.9"):
        (folder / name).write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")
        (folder / name).chmod(0o755)
    features = b.run("env", "--json", env={"PATH": f"{folder}:/usr/bin"}, code=None).json()["tables"]["features"]
    rows = [row for row in features if row["group"] == "interpreter"]
    assert [row["detail"].split(":")[0] for row in rows].count("/usr/bin/python3") == 1, rows
    assert not any(str(b.folder) in row["detail"] for row in rows), rows
    said, = [row["detail"] for row in rows if row["name"] == "scripts"]
    assert said.startswith("2 scripts start no interpreter") and said.endswith("nothing is wrong with these: python3.8, python3.9"), said


def test_json_everywhere(b: Bench) -> None:
    b.make_run("one")
    for words in (["ls"], ["info"], ["view"], ["stat"], ["timeline"], ["env"], ["help"], ["version"],
                  ["clean", "--keep", "1"]):
        said = b.run(*words, "--json", code=None).json()
        assert said["verb"] == words[0] and isinstance(said["status"], str) and "notes" in said, words
        json.dumps(said)
