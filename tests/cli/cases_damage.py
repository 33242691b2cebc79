# SPDX-License-Identifier: Apache-2.0
"""Bad input: missing, empty, cut, flipped, foreign, newer. One line, a byte, exit 3, nothing hidden before it."""

from __future__ import annotations

import json
import re

from bench import Bench

READERS = (["info"], ["stat"], ["timeline"], ["view"])


def one_line(err: str) -> bool:
    return len(err.splitlines()) == 1 and err.startswith("wheeltap: ")


def test_missing(b: Bench) -> None:
    for words in READERS:
        said = b.run(*words, "nowhere", code=3)
        assert one_line(said.err) and "nowhere" in said.err, said.err
        said = b.run(*words, "--json", "nowhere", code=3)
        assert said.json()["status"] == "error" and said.json()["error"]["code"] == "missing"
    said = b.run("info", code=3)
    assert one_line(said.err) and "wheeltap record" in said.err, said.err


def test_empty_and_foreign(b: Bench) -> None:
    (b.folder / "empty.wt").write_bytes(b"")
    (b.folder / "foreign.wt").write_bytes(b"\x7fELF" + bytes(4096))
    (b.folder / "text.wt").write_text("hello\n" * 100)
    (b.folder / "folder").mkdir()
    for words in READERS:
        for name in ("empty.wt", "foreign.wt", "text.wt", "folder"):
            said = b.run(*words, name, code=3)
            assert one_line(said.err) and name.split(".")[0] in said.err, said.err
            if name != "folder":
                assert re.search(r"byte \d+", said.err), said.err


def test_newer_version(b: Bench) -> None:
    """The version of the format and that of the writer keep their places (docs/format.md)."""
    data = bytearray(b.trace("spans").read_bytes())
    data[8:10] = (7).to_bytes(2, "little")
    for writer, told in ((b"9.1.0", "read it with wheeltap 9.1.0 or later"), (b"", "use a newer wheeltap"),
                         (b"9.1\x1b[2J", "use a newer wheeltap"), (b"9" * 16, f"read it with wheeltap {'9' * 16} or later")):
        data[72:88] = writer.ljust(16, b"\0")
        (b.folder / "later.wt").write_bytes(data)
        said = b.run("info", "later.wt", code=3)
        assert one_line(said.err) and told in said.err and "format 7" in said.err, said.err


def test_truncated(b: Bench) -> None:
    data = b.trace("quantiles").read_bytes()
    whole = b.run("view", "quantiles.wt").out.splitlines()
    shown = set()
    for size in range(0, len(data), max(1, len(data) // 60)):
        (b.folder / "cut.wt").write_bytes(data[:size])
        said = b.run("view", "cut.wt", code=3)
        assert said.err.startswith("wheeltap: ") and re.search(r"byte \d+", said.err), (size, said.err)
        lines = said.out.splitlines()
        assert set(lines) <= set(whole), size
        shown.add(len(lines))
    assert max(shown) > 0, "nothing before the damage was shown"


def test_bit_flips(b: Bench) -> None:
    data = b.trace("spans").read_bytes()
    whole = {json.dumps(e) for e in b.run("view", "--json", "spans.wt").json()["events"]}
    partly = 0
    for at in range(0, len(data), max(1, len(data) // 120)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        (b.folder / "flipped.wt").write_bytes(changed)
        said = b.run("view", "--json", "flipped.wt", code=None)
        assert said.code in (0, 3), (at, said.code, said.err)
        document = said.json()
        if said.code == 3:
            assert said.err.startswith("wheeltap: "), (at, said.err)
        if "events" in document:
            partly += said.code == 3
            assert bool(document["notes"]) == (said.code == 3), (at, document["notes"])
    assert partly > 0 and whole


def test_damage_shows_what_is_before(b: Bench) -> None:
    data = b.trace("quantiles").read_bytes()
    (b.folder / "cut.wt").write_bytes(data[:-20])
    for words in (["info"], ["stat"], ["timeline"]):
        said = b.run(*words, "--json", "cut.wt", code=3)
        document = said.json()
        assert document["status"] == ("unknown" if words == ["info"] else "damaged"), document["status"]
        assert document["notes"] and re.search(r"byte \d+", document["notes"][0]), document["notes"]
        assert said.err.startswith("wheeltap: ")
    assert b.run("info", "--json", "cut.wt", code=3).json()["events"] == 2000


def test_a_cut_run_is_not_called_good(b: Bench) -> None:
    """What is left of it has no problems: that is said of what is left, and not of the run."""
    run = b.make_run("short", "training")
    whole = b.run("doctor", run, code=None)
    assert "damaged" not in whole.out, whole.out
    stream = run / "0001.wt"
    stream.write_bytes(stream.read_bytes()[:-20])
    said = b.run("doctor", run, code=None)
    assert "its trace is damaged" in said.out and "not judged" in said.out, said.out
    assert "No problems found. " not in said.out and "run finished after" not in said.out, said.out
    report = b.run("report", "--md", "-o", "-", run, code=3).out
    assert "**not judged**" in report and "only part of it could be read" in report and "**good**" not in report, report[:400]


def test_a_stream_that_is_gone(b: Bench) -> None:
    """run.json knows which streams there were; a flight recording names its files by a pattern."""
    streams = [{"file": name, "command": "python3", "events": 70, "bytes": 900, "lost": 0} for name in ("0001.wt", "0002.wt", "0003.*.wt")]
    run = b.make_run("gone", streams=streams)
    for verb, code in (("info", 3), ("stat", 3), ("doctor", 1)):  # a finding weighs more than what is missing
        said = b.run(verb, run, code=code)
        assert "0002.wt' is missing: 70 events of 'python3'" in said.err and "0003" not in said.err, said.err
    (run / "0002.wt").write_bytes((run / "0001.wt").read_bytes())
    assert "missing" not in b.run("info", run).err


def test_one_bad_stream_does_not_hide_the_others(b: Bench) -> None:
    run = b.make_run("mixed")
    (run / "0002.wt").write_bytes(b"not a trace")
    said = b.run("info", "--json", run, code=3).json()
    assert said["events"] == 18 and said["status"] == "finished", said
    assert any("0002.wt" in note for note in said["notes"]), said["notes"]


def test_cut_between_kinds(b: Bench) -> None:
    """Blocks of one kind follow those of another: steps whose calls are gone are not counted as time without calls."""
    data = b.trace("training").read_bytes()
    whole = b.run("stat", "--json", "training.wt").json()["tables"]
    seen = set()
    for size in range(len(data) - 1, len(data) // 2, -16):
        (b.folder / "cut.wt").write_bytes(data[:size])
        said = b.run("stat", "--json", "cut.wt", code=None)
        if said.json()["status"] in ("error", "not_measured"):
            continue
        tables = said.json()["tables"]
        shares = [(row["part"], row["mean_ns"]) for row in tables.get("steps", [])]
        calls = {row["name"]: row["count"] for row in tables.get("profile", [])}
        is_whole = shares and tables["steps"][0]["steps"] == 3 and calls["Net.forward"] == 8
        assert is_whole or "'cut.wt' is cut: its calls could be read up to " in said.err, (size, said.err)
        assert not shares or calls.get("Tensor.backward", 0) >= tables["steps"][0]["steps"], (size, shares, calls)
        assert calls.get("Net.forward", 0) in (0, 8), (size, calls)
        seen.add(len(shares))
    assert seen, whole


def test_damage_within_is_no_cut(b: Bench) -> None:
    """The index of a stream says where all its blocks are: one that is damaged ends nothing."""
    data = b.trace("training").read_bytes()
    damaged = 0
    for at in range(256, len(data) // 2, 100):
        (b.folder / "flipped.wt").write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1:])
        said = b.run("stat", "--json", "flipped.wt", code=None)
        assert "is cut" not in said.err, (at, said.err)
        damaged += "damaged" in said.err
    assert damaged


def test_cut_within_a_flush(b: Bench) -> None:
    """What was flushed before is all there, also of a kind that has not happened since, or never ends."""
    seen = set()
    for trace in ("flushed", "flushed_load"):
        data = b.trace(trace).read_bytes()
        for size in range(len(data) // 3, len(data), 48):
            (b.folder / "cut.wt").write_bytes(data[:size])
            said = b.run("stat", "--json", "cut.wt", code=None)
            kinds = {row["kind"]: row["events"] for row in b.run("info", "--json", "cut.wt", code=None).json()["tables"]["kinds"]}
            whole = kinds["clock"] - 1  # the last may be that of the flush that is cut
            if whole < 1:
                continue
            calls = {row["name"]: (row["count"], row["total_ns"]) for row in said.json()["tables"]["profile"]}
            assert calls["work"][0] in (10 * whole, 10 * whole + 10), (trace, size, whole, calls)
            assert calls["main"][1] > (whole - 0.1) * 1e9, (trace, size, whole, calls)
            assert trace == "flushed" or whole < 2 or calls["load"] == (1, 1_000_000), (size, whole, calls)
            assert "began before what was read" not in said.err, (trace, size, said.err)
            seen.add(whole)
    assert seen >= {2, 3, 4}, seen


def test_full_disk(b: Bench) -> None:
    """The run went on, and its recording did not: what came later is not judged."""
    b.make_run("late", trace="killed")
    said = b.run("doctor", "late", code=3)
    assert said.out.startswith("run finished\nits trace is damaged: "), said.out
    assert re.search(r"the disk was full: 8 events from .* on are missing", said.err), said.err
    report = b.run("report", "late", code=3).out
    assert "**not judged**" in report and "**good**" not in report, report[:400]


def test_a_full_queue_ends_no_recording(b: Bench) -> None:
    """What an agent loses of one kind, as its own queue is full, cuts nothing off."""
    b.make_run("whole", trace="training")
    b.make_run("queue", trace="training_full_queue")
    said = b.run("doctor", "queue", code=b.run("doctor", "whole", code=None).code)
    assert "damaged" not in said.out and "are missing" not in said.err, (said.out, said.err)
