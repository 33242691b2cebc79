# SPDX-License-Identifier: Apache-2.0
"""Numbers: what stat, timeline and info say about traces whose figures are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import Bench, near


def by(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    return {str(row[key]): row for row in rows}


def test_stat_self_and_recursion(b: Bench) -> None:
    rows = by(b.run("stat", "--json", b.trace("spans")).json()["tables"]["profile"], "name")
    assert set(rows) == {"train", "forward", "backward"}, rows
    train, forward, backward = rows["train"], rows["forward"], rows["backward"]
    assert (train["count"], train["total_ns"], train["self_ns"]) == (1, 1_000_000, 200_000), train
    # 300 us outside, 100 us of them in itself: counted once in total, twice in count and mean.
    assert (forward["count"], forward["total_ns"], forward["self_ns"]) == (2, 300_000, 300_000), forward
    assert forward["mean_ns"] == 200_000 and forward["min_ns"] == 100_000 and forward["max_ns"] == 300_000
    assert (backward["count"], backward["total_ns"], backward["self_ns"]) == (1, 500_000, 500_000), backward
    assert near(sum(row["share"] for row in rows.values()), 100)
    assert near(train["share"], 20)


def test_stat_counters_and_marks(b: Bench) -> None:
    tables = b.run("stat", "--json", b.trace("spans")).json()["tables"]
    loss = tables["counters"][0]
    assert loss["name"] == "loss" and loss["count"] == 4, loss
    assert (loss["first"], loss["last"], loss["min"], loss["max"], loss["mean"]) == (4, 2, 2, 4, 3), loss
    assert tables["marks"] == [{"name": "tick", "count": 2}]


def test_stat_by_step_kind_track(b: Bench) -> None:
    trace = b.trace("spans")
    steps = by(b.run("stat", "--json", "--by", "step", trace).json()["tables"]["profile"], "name")
    # A span belongs to the step in which it began.
    assert steps["0"]["count"] == 3 and steps["1"]["count"] == 1, steps
    kinds = b.run("stat", "--json", "--by", "kind", trace).json()["tables"]["profile"]
    assert [(row["name"], row["count"]) for row in kinds] == [("span", 4)], kinds
    tracks = b.run("stat", "--json", "--by", "track", b.trace("devices")).json()["tables"]["profile"]
    counts = {(row["name"], row["kind"]): row["count"] for row in tracks}
    assert counts[("device 0 compute", "kernel")] == 3 and counts[("device 1 compute", "kernel")] == 1, counts


def test_stat_by_function_module_and_site(b: Bench) -> None:
    trace = b.trace("calls")
    said = b.run("stat", "--json", "--by", "function", trace).json()
    rows = by(said["tables"]["profile"], "name")
    assert set(rows) == {"augment", "lib.a.f", "lib.b.g", "h"}, rows
    assert {key: rows["lib.a.f"][key] for key in ("count", "total_ns", "self_ns", "tensors")} == {
        "count": 2, "total_ns": 810_000, "self_ns": 510_000, "tensors": 3}, rows["lib.a.f"]  # the second never returned
    # g within g counts once in total, and not twice in self.
    assert (rows["lib.b.g"]["count"], rows["lib.b.g"]["total_ns"], rows["lib.b.g"]["self_ns"]) == (2, 300_000, 300_000)
    assert rows["lib.b.g"]["tensors"] == 0 and rows["lib.b.g"]["p99_ns"] == 300_000
    assert rows["augment"]["kind"] == "span" and rows["augment"]["self_ns"] == 200_000
    modules = by(b.run("stat", "--json", "--by", "module", trace).json()["tables"]["profile"], "name")
    assert {name: row["self_ns"] for name, row in modules.items()} == {
        "lib.a": 510_000, "lib.b": 300_000, "(no module)": 100_000}, modules
    sites = by(b.run("stat", "--json", "--by", "site", trace).json()["tables"]["profile"], "name")
    assert {name: row["count"] for name, row in sites.items()} == {
        "/src/train.py:10": 1, "/src/train.py:20": 2, "/src/train.py:30": 1, "(no call site)": 1}, sites
    assert sites["/src/train.py:30"]["self_ns"] == 10_000 and sites["/src/train.py:30"]["tensors"] == 1


def test_stat_weighs_every_event_once(b: Bench) -> None:
    trace = b.trace("calls")
    kinds = b.run("info", "--json", trace).json()["tables"]["kinds"]
    whole = sum(row["bytes"] for row in kinds)
    for what in ("function", "module", "site", "step"):
        said = b.run("stat", "--json", "--by", what, trace).json()
        rows = sum(row["bytes"] for row in said["tables"]["profile"])
        assert abs(rows + said["outside_bytes"] - whole) <= len(said["tables"]["profile"]) + 1, what
    functions = b.run("stat", "--json", "--by", "function", "--sort", "bytes", trace).json()["tables"]["profile"]
    assert [row["bytes"] for row in functions] == sorted((row["bytes"] for row in functions), reverse=True)
    assert functions[0]["name"] == "lib.a.f"
    steps = by(b.run("stat", "--json", "--by", "step", trace).json()["tables"]["profile"], "name")
    assert (steps["0"]["tensors"], steps["1"]["tensors"]) == (2, 2)


def test_stat_names_choose_rows_that_are_weighed(b: Bench) -> None:
    trace = b.trace("calls")
    rows = b.run("stat", "--json", "--by", "function", "--name", "lib.a.*", trace).json()["tables"]["profile"]
    assert [(row["name"], row["self_ns"], row["tensors"]) for row in rows] == [("lib.a.f", 510_000, 3)], rows
    assert b.run("stat", "--by", "function", "--top", "1", trace).out.count("\n") == 2


def test_stat_sort_and_limit(b: Bench) -> None:
    trace = b.trace("spans")
    for key, first in (("total", "train"), ("self", "backward"), ("count", "forward"), ("name", "backward")):
        rows = b.run("stat", "--json", "--sort", key, trace).json()["tables"]["profile"]
        assert rows[0]["name"] == first, (key, rows)
    said = b.run("stat", "--limit", "1", trace)
    assert "1 of 3 rows" in said.err and "backward" not in said.out, said


def test_stat_quantiles(b: Bench) -> None:
    said = b.run("stat", "--json", b.trace("quantiles")).json()
    row = said["tables"]["profile"][0]
    error = said["quantile_error_percent"] / 100
    assert row["count"] == 1000 and row["min_ns"] == 1000 and row["max_ns"] == 1_000_000
    assert row["mean_ns"] == 500_500 and row["total_ns"] == 500_500_000
    for key, exact in (("p50_ns", 500_000), ("p90_ns", 900_000), ("p99_ns", 990_000)):
        assert near(row[key], exact, error), (key, row[key], exact)


def test_stat_device_ops(b: Bench) -> None:
    rows = b.run("stat", "--json", b.trace("devices")).json()["tables"]["profile"]
    gemm = next(row for row in rows if row["name"] == "gemm")
    assert gemm["kind"] == "kernel" and gemm["count"] == 4, gemm
    assert gemm["total_ns"] == gemm["self_ns"] == 450_000, gemm
    kinds = {(row["name"], row["kind"]) for row in rows}
    assert ("synchronize", "sync") in kinds and ("synchronize", "span") in kinds, kinds


def test_stat_window(b: Bench) -> None:
    said = b.run("stat", "--json", "--from", "350us", "--to", "950us", b.trace("spans")).json()
    rows = by(said["tables"]["profile"], "name")
    assert set(rows) == {"backward"}, rows
    assert any("began before" in note for note in said["notes"]), said["notes"]


def test_stat_unmatched(b: Bench) -> None:
    said = b.run("stat", "--json", b.trace("unmatched")).json()
    rows = by(said["tables"]["profile"], "name")
    assert rows["outer"]["count"] == 1 and rows["outer"]["total_ns"] == 100_000, rows
    assert "inner" not in rows, rows
    notes = "\n".join(said["notes"])
    assert "spans that began before what was read, not counted: 1" in notes and "spans without an end of their own, not counted: 1" in notes, notes


def test_stat_nothing_is_not_measured(b: Bench) -> None:
    said = b.run("stat", "--json", b.trace("empty"), code=3).json()
    assert said["status"] == "not_measured" and said["notes"], said
    assert b.run("timeline", "--json", b.folder / "empty.wt", code=3).json()["status"] == "not_measured"


def test_info_counts(b: Bench) -> None:
    trace = b.trace("spans")
    said = b.run("info", "--json", trace).json()
    assert said["events"] == 18 and said["lost"] == 0 and said["status"] == "unknown", said
    assert said["bytes"] == trace.stat().st_size
    kinds = {row["kind"]: row["events"] for row in said["tables"]["kinds"]}
    assert kinds == {"span_begin": 4, "span_end": 4, "counter": 4, "context": 4, "mark": 2}, kinds
    assert [row["events"] for row in said["tables"]["tracks"]] == [18]
    assert said["tables"]["open_spans"] == []
    assert said["tables"]["streams"][0]["state"] == "complete"
    assert said["last_step"] == 1 and said["last_stage"] == "eval"


def test_info_killed(b: Bench) -> None:
    said = b.run("info", "--json", b.trace("killed")).json()
    assert said["lost"] == 50, said
    lost = {row["reason"]: row["events"] for row in said["tables"]["lost"]}
    assert lost == {"ring_full": 42, "disk": 8}, lost
    assert said["last_step"] == 3 and said["last_epoch"] == 1
    open_spans = [(row["name"], row["depth"], row["since_ns"]) for row in said["tables"]["open_spans"]]
    assert open_spans == [("train", 0, 0), ("forward", 1, 310_000)], open_spans
    said = b.run("stat", "--json", b.folder / "killed.wt")
    rows = {row["name"]: (row["count"], row["total_ns"], row["self_ns"]) for row in said.json()["tables"]["profile"]}
    assert rows == {"train": (1, 310_000, 160_000), "forward": (4, 150_000, 150_000)}, rows
    assert "50 events were lost" in said.err and "2 spans were still open at the end: counted up to the last" in said.err, said.err
    for words, total_ns in ((("--name", "train"), 310_000), (("--name", "train", "--to", "200us"), 200_000)):
        rows = b.run("stat", "--json", *words, b.folder / "killed.wt").json()["tables"]["profile"]
        assert [(row["name"], row["total_ns"]) for row in rows] == [("train", total_ns)], (words, rows)


def test_info_several_streams(b: Bench) -> None:
    b.trace("spans", "run/1.wt")
    b.trace("devices", "run/2.wt")
    said = b.run("info", "--json", b.folder / "run").json()
    assert said["events"] == 18 + 8, said["events"]
    assert len(said["tables"]["streams"]) == 2 and said["status"] == "unknown"
    assert sum(row["events"] for row in said["tables"]["tracks"]) == 26


def training_run(b: Bench, *names: str) -> Path:
    """A run whose processes are those traces of make_trace."""
    run = b.make_run("-".join(names), names[0])
    for number, name in enumerate(names[1:]):
        b.trace(name, run / f"{number + 2:04}.wt")
    return run


def test_stat_training_steps(b: Bench) -> None:
    """Where a step's time goes comes first; a worker that waits does no work, and the first step begins with its first batch."""
    run = training_run(b, "training", "worker1")
    said = b.run("stat", "--json", run).json()
    assert list(said["tables"])[:2] == ["steps", "speed"], list(said["tables"])
    rows = {row["part"]: row for row in said["tables"]["steps"]}
    totals = {part: row["total_ns"] for part, row in rows.items()}
    assert totals == {"whole step": 2_950_000, "data wait": 310_000, "forward": 910_000, "backward": 600_000,
                      "optimizer": 350_000, "other": 780_000}, totals
    assert all(row["steps"] == 3 and row["process"] == "main" for row in rows.values()), rows
    assert near(rows["backward"]["share"], 100 * 600 / 2950) and rows["backward"]["mean_ns"] == 200_000, rows
    assert near(rows["whole step"]["p50_ns"], 1_000_000, 0.01) and rows["optimizer"]["max_ns"] == 150_000, rows
    assert all(row[key] is not None for row in rows.values() for key in ("p50_ns", "p90_ns", "p99_ns")), rows
    names = {row["name"] for row in said["tables"]["profile"]}
    assert "DataLoader.fetch" in names and "DataLoader.worker" not in names, names
    assert said["workers_waited_ns"] == 700_000, said["notes"]
    text = b.run("stat", run)
    assert text.out.startswith("where a step's time goes\n"), text.out
    assert "1 worker of DataLoaders waited 700.0 us" in text.err, text.err
    assert b.run("stat", "--csv", run).out.startswith("name,")
    assert "steps" not in b.run("stat", "--json", b.trace("spans")).json()["tables"]


def test_stat_closure(b: Bench) -> None:
    """What an optimizer's closure computes is forward and backward; what a data set or backward() computes stays theirs."""
    rows = b.run("stat", "--json", b.trace("closure")).json()["tables"]["steps"]
    assert {row["part"]: row["total_ns"] for row in rows} == {"whole step": 2_000_000, "data wait": 200_000, "forward": 800_000,
                                                              "backward": 400_000, "optimizer": 400_000, "other": 200_000}, rows


def test_stat_samples_a_second(b: Bench) -> None:
    """By the rows of the batches that were trained on; not those of an evaluation, and not guessed."""
    speed = lambda name: b.run("stat", "--json", b.trace(name)).json()["tables"]["speed"]  # noqa: E731
    assert speed("training") == [{"process": "main", "steps": 3, "steps_per_s": 1020, "samples": 20, "samples_per_s": 6780}]
    assert speed("own_batches") == [{"process": "main", "steps": 2, "steps_per_s": 1000, "samples": 20, "samples_per_s": 10000}]
    unknown = speed("unknown_batches")[0]
    assert (unknown["steps"], unknown["samples"], unknown["samples_per_s"]) == (2, None, None), unknown
    said = b.run("stat", b.folder / "unknown_batches.wt")
    assert "samples a second of main: not measured" in said.err and "how fast it trains" in said.out, said
    assert "not measured" not in b.run("stat", b.folder / "training.wt").err


RANKS = ("rank1", "rank0", "rank0_worker1", "rank1_worker1", "rank1_worker2")


def test_ranks_and_workers_have_their_names(b: Bench) -> None:
    run = training_run(b, *RANKS)
    said = b.run("stat", "--json", run).json()["tables"]
    assert [row["process"] for row in said["steps"]] == ["rank 0"] * 6 + ["rank 1"] * 6, said["steps"]
    assert [(row["process"], row["samples"]) for row in said["speed"]] == [("rank 0", 20), ("rank 1", 20)], said["speed"]
    names = ["rank 0", "rank 0 data worker 1", "rank 1", "rank 1 data worker 1"]
    tracks = [row["track"] for row in b.run("timeline", "--json", run).json()["tables"]["tracks"]]
    assert tracks == names, tracks
    assert {row["name"] for row in b.run("stat", "--json", "--by", "track", run).json()["tables"]["profile"]} == set(names)
    text = b.run("timeline", run).out
    assert all(f"\n{name} " in text for name in names), text


def test_info_groups_workers(b: Bench) -> None:
    """However many there were: a row for each that there was at once. Machines get all of them."""
    run = training_run(b, *RANKS)
    for number in range(100):
        b.trace("rank1_worker2", run / f"{number + 100:04}.wt", later_us=5000 + 500 * number)  # two or three at once
    said = b.run("info", "--json", run).json()["tables"]
    assert len(said["streams"]) == 105 and len(said["tracks"]) >= 105, said["tracks"]
    groups = {row["track"]: row for row in said["track_groups"]}
    workers = [f"rank 1 data worker {i}" for i in (1, 2, 3)]
    assert list(groups) == ["rank 1", "rank 0", "rank 0 data worker 1", *workers[:len(groups) - 3]], list(groups)
    assert sum(row["processes"] or 0 for row in groups.values()) == 103, groups
    assert sum(row["events"] for row in groups.values()) == sum(row["events"] for row in said["tracks"]), groups
    files = [row["file"] for row in said["stream_groups"]]
    assert files == ["0001.wt", "0002.wt", "103 files"], files
    assert sum(row["events"] for row in said["stream_groups"]) == sum(row["events"] for row in said["streams"])
    text = b.run("info", run).out
    assert "103 files  data workers" in text and "0005.wt" not in text, text


def test_info_of_damaged_worker(b: Bench) -> None:
    """What is not whole is not hidden in a group."""
    run = training_run(b, *RANKS)
    whole = (run / "0005.wt").read_bytes()
    (run / "0005.wt").write_bytes(whole[:len(whole) - 100])
    said = b.run("info", "--json", run, code=3).json()["tables"]
    assert [row["file"] for row in said["stream_groups"]] == ["0001.wt", "0002.wt", "0005.wt", "2 files"], said["stream_groups"]


def test_timeline_workers(b: Bench) -> None:
    """A worker is busy while it loads, and new workers of a later epoch take the rows of those that have ended."""
    run = b.make_run("workers")
    for number in (1, 2, 3):
        b.trace(f"worker{number}", run / f"000{number + 1}.wt")
    said = b.run("timeline", "--json", run).json()
    rows = {row["track"]: row["busy_ns"] for row in said["tables"]["tracks"]}
    assert set(rows) == {"main", "data worker 1", "data worker 2"}, rows
    assert rows["data worker 1"] == 620_000 and rows["data worker 2"] == 310_000, rows
