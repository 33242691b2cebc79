# SPDX-License-Identifier: Apache-2.0
"""view: formats, filters, names that try to break them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from bench import Bench, csv_text


def events(b: Bench, *words: Any) -> list[dict[str, Any]]:
    return b.run("view", "--json", *words).json()["events"]


def test_view_order_and_fields(b: Bench) -> None:
    all_events = events(b, b.trace("spans"))
    assert len(all_events) == 18
    assert [e["time_ns"] for e in all_events] == sorted(e["time_ns"] for e in all_events)
    assert [e["seq"] for e in all_events] == list(range(18))
    first, stage = all_events[0], all_events[1]
    assert first["kind"] == "context" and first["fields"]["key"] == "step", first
    assert first["fields"]["type"] == "int" and first["fields"]["value"] == 0
    assert stage["fields"]["value"] is None and stage["fields"]["text"] == "train"
    values = [e["fields"]["value"] for e in all_events if e["kind"] == "counter"]
    assert values == [4, 3, "nan", 2], values


def test_view_filters(b: Bench) -> None:
    trace = b.trace("spans")
    assert len(events(b, "--kind", "mark", trace)) == 2
    assert len(events(b, "--kind", "mark,counter", trace)) == 6
    assert len(events(b, "--kind", "mark", "--kind", "counter", trace)) == 6
    assert len(events(b, "--name", "*ward", trace)) == 6
    assert len(events(b, "--name", "forward", "--kind", "span_begin", trace)) == 2
    assert [e["time_ns"] for e in events(b, "--from", "900us", "--to", "930us", trace)] == [900_000, 900_000, 910_000, 920_000]
    for verb in (["view"], ["stat"], ["timeline"]):
        assert b.run(*verb, "--until", "930us", trace).out == b.run(*verb, "--to", "930us", trace).out
    assert len(events(b, "--track", "main", trace)) == 18
    assert len(events(b, "--track", "0:1", trace)) == 18
    assert events(b, "--track", "other", trace) == []
    assert len(events(b, "-n", "3", trace)) == 3 and len(events(b, "--head", "3", trace)) == 3


def test_view_context(b: Bench) -> None:
    trace = b.trace("spans")
    step1 = events(b, "--step", "1", trace)
    assert step1 and all(e["time_ns"] >= 400_000 for e in step1)
    spans = [e["fields"]["name"] for e in step1 if e["kind"] == "span_begin"]
    assert spans == ["backward"], spans
    both = events(b, "--step", "1", "--stage", "train", trace)
    assert both and all(400_000 <= e["time_ns"] <= 900_000 for e in both), both
    assert {e["seq"] for e in both} == {e["seq"] for e in step1} & {e["seq"] for e in events(b, "--stage", "train", trace)}
    assert events(b, "--step", "1", "--stage", "nowhere", trace) == []


def test_view_words_of_flags(b: Bench) -> None:
    """A line has the names of bits, and the number of those that have none; JSON has the number."""
    trace = b.trace("flags")
    lines = b.run("view", trace).out.splitlines()
    assert "flags=last,dumped,1048576" in lines[-3], lines
    assert "flags=stopped" in lines[-2] and "flags=eval,grad" in lines[-1], lines
    assert [e["fields"]["flags"] for e in events(b, trace)] == [3 | 1 << 20, 1, 5]


def test_view_tail(b: Bench) -> None:
    trace = b.trace("quantiles")
    everything = events(b, trace)
    for count in (1, 7, 1999, 2000, 5000):
        assert events(b, "--tail", str(count), trace) == everything[-count:], count
    assert events(b, "--tail", "2", "--kind", "span_begin", trace) == [e for e in everything
                                                                     if e["kind"] == "span_begin"][-2:]
    assert events(b, "--tail", "3", "--to", "100us", trace) == [e for e in everything if e["time_ns"] < 100_000][-3:]


def test_view_text(b: Bench) -> None:
    lines = b.run("view", b.trace("devices")).out.splitlines()
    assert len(lines) == 8
    op = next(line for line in lines if "upload" in line)
    assert op.split() == ["0.000500000", "main", "device_op", "upload", "op=copy", "device=0", "queue=3",
                          "correlation=7", "started=0.000350000", "ended=0.000500000", "bytes=4096"], op


def test_view_hostile(b: Bench) -> None:
    trace = b.trace("hostile")
    text = b.run("view", trace)
    assert len(text.out.splitlines()) == 46, len(text.out.splitlines())
    assert "\x1b" not in text.out and "\r" not in text.out and "two\\nlines" in text.out
    assert max(map(len, text.out.splitlines())) < 2000
    said = b.run("view", "--json", trace).json()["events"]
    names = [e["fields"]["name"] for e in said if e["kind"] == "span_begin"]
    assert names[0] == "two\nlines" and names[1] == 'quote"and,comma' and names[3] == "bad\ufffd\ufffd utf8", names
    assert names[6] == "café 漢" and names[9] == "cr\rlf"
    assert said[-3]["fields"]["level"] == 77 and said[-2]["fields"]["text"] == "t" * (1 << 20)
    tensor = said[-1]["fields"]
    assert tensor["hash"] == "00000000deadbeef" and tensor["dtype"] == "f32", tensor
    lines = b.run("view", "--jsonl", trace).raw.splitlines()
    assert [json.loads(line) for line in lines] == said


def test_view_csv(b: Bench) -> None:
    csv.field_size_limit(1 << 30)
    trace = b.trace("hostile")
    rows = list(csv.reader(io.StringIO(b.run("view", "--csv", trace).raw.decode("utf-8"), newline="")))
    assert len(rows) == 47 and all(len(row) == 8 for row in rows), {len(row) for row in rows}
    said = b.run("view", "--json", trace).json()["events"]
    for row, event in zip(rows[1:], said):
        assert json.loads(row[7]) == event["fields"] and row[5] == event["kind"] and int(row[0]) == event["time_ns"]
    one = list(csv.DictReader(io.StringIO(b.run("view", "--csv", "--kind", "mark", trace).raw.decode("utf-8"), newline="")))
    marks = [e for e in said if e["kind"] == "mark"]
    assert [row["name"] for row in one] == [csv_text(e["fields"]["name"]) for e in marks]
    assert one[0]["value"] == str(2**64 - 1)


def test_hostile_everywhere(b: Bench) -> None:
    trace = b.trace("hostile")
    for words in (["stat"], ["info"], ["timeline"], ["stat", "--markdown"], ["stat", "--csv"]):
        said = b.run(*words, trace)
        assert "\x1b" not in said.out, words
        said.raw.decode("utf-8")
    for verb in ("stat", "info", "timeline"):
        b.run(verb, "--json", trace).json()
    rows = list(csv.reader(io.StringIO(b.run("stat", "--csv", trace).raw.decode("utf-8"), newline="")))
    assert len({len(row) for row in rows}) == 1 and len(rows) == 11
    assert sum("\n" in row[0] for row in rows) == 1


def test_view_usage(b: Bench) -> None:
    trace = b.trace("spans")
    assert "did you mean 'counter'" in b.run("view", "--kind", "countr", trace, code=2).err
    for words in (["--head", "1", "--tail", "1"], ["--csv", "--json"], ["--tail", "1", "--follow"]):
        assert "cannot be combined" in b.run("view", *words, trace, code=2).err, words


def test_view_follow_finished_run_ends(b: Bench) -> None:
    run = b.make_run("done")
    assert b.run("view", "--follow", run).out == b.run("view", run).out


def test_view_recorders_own(b: Bench) -> None:
    """Text leaves out what the recorder writes for itself; machines, and who asks for it, get it."""
    run = b.make_run("own", trace="watermarks")
    kinds = [line.split()[2] for line in b.run("view", run).out.splitlines()]
    assert kinds == ["mark", "mark"], kinds
    assert [line.split()[2] for line in b.run("view", "--tail", "2", run).out.splitlines()] == ["mark", "mark"]
    everything = b.run("view", "--all", run).out.splitlines()
    assert len(everything) == 6 and sum("watermark" in line for line in everything) == 3, everything
    assert len(b.run("view", "--kind", "watermark", run).out.splitlines()) == 3
    assert len(b.run("view", "--track", "main", run).out.splitlines()) == 6
    assert len(events(b, run)) == 6


def test_view_unread_tensor(b: Bench) -> None:
    """What was not read is null, and not a zero that somebody might believe."""
    trace = b.trace("tensors")
    read, unread, hashed = (e["fields"] for e in events(b, "--kind", "tensor", trace))
    statistics = ("nan", "inf", "zeros", "min", "max", "mean", "m2")
    assert read["hash"] == "000000000000beef" and read["min"] == 1.5 and read["nan"] == 0, read
    assert unread["hash"] is None and all(unread[key] is None for key in statistics) and unread["count"] == 6, unread
    assert hashed["hash"] == "000000000000beef" and all(hashed[key] is None for key in statistics), hashed
    lines = b.run("view", "--kind", "tensor", trace).out.splitlines()
    assert " min=1.5" in lines[0] and not any(f" {key}=" in lines[1] for key in (*statistics, "hash")), lines
    rows = list(csv.DictReader(io.StringIO(b.run("view", "--csv", "--kind", "tensor", trace).out)))
    assert [row["hash"] for row in rows] == ["000000000000beef", "", "000000000000beef"], rows
    assert [row["min"] for row in rows] == ["1.5", "", ""], rows


def test_view_numbers(b: Bench) -> None:
    trace = b.trace("spans")
    for verb in (["view"], ["export", "--to", "jsonl", "-o", "-"]):
        for option in ("--step", "--epoch"):
            for value in ("x", "", "1.5", "-"):
                said = b.run(*verb, f"{option}={value}", trace, code=2)
                assert not said.out and f"for {option}; it takes a whole number" in said.err, said.err
    said = b.run("view", "--step", "77", trace)
    assert not said.out and "no event of this run matches" in said.err, said.err
    assert b.run("view", "--step", "1", trace).err == ""


def test_not_the_file_that_is_needed(b: Bench) -> None:
    trace = b.trace("spans")
    (b.folder / "train.py").write_text("import torch\n")
    said = b.run("gate", "-c", "nope.toml", trace, code=2).err
    assert "'nope.toml' does not exist" in said and "[[gate]]" in said, said
    said = b.run("gate", trace, code=2).err
    assert "'wheeltap.toml' does not exist" in said and "-c FILE" in said, said
    said = b.run("gate", "-c", "train.py", trace, code=None).err
    assert "not a gate file: train.py:1:" in said and "[[gate]]" in said, said
    for words in (["check", "-i"], ["pack", "show"]):
        said = b.run(*words, "nope.json", code=None).err
        assert "'nope.json' does not exist" in said and "wheeltap infer" in said, said
        said = b.run(*words, "train.py", code=None).err
        assert "not a pack: train.py:1:" in said and "wheeltap infer" in said, said
        assert "not a pack: " in b.run(*words, ".", code=None).err


def test_try_keeps_quotes(b: Bench) -> None:
    rows = {row["name"]: row["about"] for row in b.run("try", "--json").json()["tables"]["programs"]}
    assert rows["plateau_waits_for_a_rise"].startswith('ReduceLROnPlateau(mode="max") is given')
    for name, about in rows.items():
        assert about and '"""' not in about and about.count('"') % 2 == 0, (name, about)
