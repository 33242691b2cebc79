# SPDX-License-Identifier: Apache-2.0
"""Timelines of traces whose figures are known: rows, the picture in a terminal, and the lanes of a page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bench import Bench, near
from cases_figures import by


def test_timeline_union(b: Bench) -> None:
    said = b.run("timeline", "--json", b.trace("devices")).json()
    assert (said["device_window_from_ns"], said["device_window_to_ns"]) == (100_000, 700_000), said
    assert said["concurrency_max"] == 2 and said["concurrency_max_at_ns"] == 250_000, said
    tracks = by(said["tables"]["tracks"], "track")
    busy = {name: row["busy_ns"] for name, row in tracks.items()}
    assert busy == {"main (100)": 1_000_000, "device 0 compute": 300_000, "device 0 copy": 150_000,
                    "device 1 compute": 100_000} or busy.get("main") == 1_000_000, busy
    assert near(tracks["device 0 compute"]["utilisation"], 50) and near(tracks["device 0 copy"]["utilisation"], 25)
    devices = said["tables"]["devices"]
    assert [d["busy_ns"] for d in devices] == [400_000, 100_000], devices
    assert near(devices[0]["utilisation"], 100 * 400 / 600) and near(devices[1]["utilisation"], 100 / 6)
    assert [d["concurrency_max"] for d in devices] == [2, 1], devices
    assert [d["operations"] for d in devices] == [3, 1], devices


def test_timeline_zoom(b: Bench) -> None:
    trace = b.trace("devices")
    said = b.run("timeline", "--json", "--from", "200us", "--to", "400us", trace).json()
    devices = said["tables"]["devices"]
    assert devices[0]["busy_ns"] == 200_000 and near(devices[0]["utilisation"], 100), devices
    tracks = by(said["tables"]["tracks"], "track")
    assert tracks["device 0 copy"]["busy_ns"] == 50_000, tracks
    assert "device 1 compute" not in tracks
    # A span that covers the whole window counts although it neither begins nor ends in it.
    host = next(row for row in said["tables"]["tracks"] if row["type"] == "thread")
    assert host["busy_ns"] == 200_000 and near(host["utilisation"], 100), host
    assert b.run("timeline", "--from", "2s", trace, code=3).err.count("nothing to draw") == 1
    assert "the nearest before it ends at " in b.run("timeline", "--from", "2s", trace, code=3).err
    assert "window is empty" in b.run("timeline", "--from", "2s", "--to", "1s", trace, code=2).err


def test_timeline_series(b: Bench) -> None:
    said = b.run("timeline", "--json", "--from", "0", "--to", "1ms", "--width", "132", b.trace("devices")).json()
    series = said["series"]["device_0"]
    assert len(series["y"]) == 100 and series["x_step"] == 10_000, series
    # Drawn out of 2048 pieces: at a border that is none of theirs a little is given to the neighbour.
    assert all(abs(y - (100 if 10 <= i < 50 else 0)) < 1 for i, y in enumerate(series["y"])), series["y"]
    assert near(sum(series["y"]), 4000, 1e-6)


def test_timeline_picture(b: Bench) -> None:
    for width in (80, 120):
        said = b.run("timeline", "--width", str(width), b.trace("devices", f"{width}.wt"), env={"LC_ALL": "C.UTF-8"})
        lines = said.out.splitlines()
        assert any("█" in line for line in lines)
        assert max(map(len, lines)) <= width, (width, said.out)


def test_timeline_open_span_reaches_the_end(b: Bench) -> None:
    said = b.run("timeline", "--json", b.trace("killed")).json()
    assert said["tables"]["tracks"][0]["busy_ns"] == 310_000, said["tables"]["tracks"]


def test_timeline_syscalls(b: Bench) -> None:
    """A row a thread, below that of its spans although they are in another stream; those of guests do not count."""
    run = b.make_run("both", "devices")
    b.trace("syscalls", run / "syscalls.wt")
    rows = b.run("timeline", "--json", run).json()["tables"]["tracks"]
    assert [(row["track"], row["type"], row["count"], row["busy_ns"]) for row in rows[:3]] == [
        ("main", "thread", 1, 1_000_000), ("main system calls", "system calls", 2, 200_000),
        ("helper (101) system calls", "system calls", 1, 700_000)], rows
    assert near(rows[1]["utilisation"], 20) and near(rows[2]["utilisation"], 70), rows
    lines = b.run("timeline", run).out.splitlines()[1:4]
    assert [line[:21].rstrip() for line in lines] == ["main", "  system calls", "helper (101) system c"], lines
    assert lines[1].endswith(" 20.0%") and lines[1].count("█") > 5, lines
    assert "system calls" not in b.run("timeline", b.trace("devices")).out
    alone = b.run("timeline", "--json", b.trace("syscalls")).json()
    assert [row["busy_ns"] for row in alone["tables"]["tracks"]] == [200_000, 700_000], alone
    assert alone["window_to_ns"] - alone["window_from_ns"] == 800_000, alone


def test_timeline_devices_of_processes(b: Bench) -> None:
    """The device 0 of one process is not that of another."""
    run = b.make_run("several", "devices")
    b.trace("other_devices", run / "0002.wt", later_us=100)
    said = b.run("timeline", "--json", run).json()
    devices = [(row["device"], row["process"], row["operations"], row["busy_ns"]) for row in said["tables"]["devices"]]
    assert devices == [(0, "known (100)", 3, 400_000), (0, "known (120)", 3, 400_000), (1, "known (100)", 1, 100_000),
                       (1, "known (120)", 1, 100_000)], devices
    assert [key for key in said["series"] if key.startswith("device")] == ["device_0_0", "device_1_0", "device_0_1", "device_1_1"]
    text = b.run("timeline", run).out
    assert "\nknown (120) device 1 " in text and "process" in text, text
    one = b.run("timeline", b.trace("devices")).out
    assert "\ndevice 1 " in one and "process" not in one, one


def page_data(b: Bench, run: Path, *words: str) -> Any:
    page = b.run("export", "--to", "html", "-o", "-", *words, run).out
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_page_lanes(b: Bench) -> None:
    """Every lane of a page: calls, system calls and kernels of one run, with names and times."""
    run = b.make_run("picture", "devices")
    b.trace("syscalls", run / "syscalls.wt")
    data = page_data(b, run)["tables"]
    lanes = [(lane["track"], lane["type"], lane["depth"]) for lane in data["lanes"]]
    assert lanes == [("main", "thread", 0), ("main system calls", "system calls", 0),
                     ("helper (101) system calls", "system calls", 0), ("device 0 compute", "queue", 0),
                     ("device 0 copy", "queue", 0), ("device 1 compute", "queue", 0)], lanes
    bars = [(bar["lane"], bar["name"], bar["from_ns"], bar["to_ns"], bar["count"]) for bar in data["bars"]]
    assert bars == [(0, "synchronize", 0, 1_000_000, 1), (1, "read", 0, 50_000, 1), (1, "fsync", 200_000, 350_000, 1),
                    (2, "futex", 100_000, 800_000, 1), (3, "gemm", 100_000, 300_000, 1), (3, "gemm", 250_000, 400_000, 1),
                    (4, "upload", 350_000, 500_000, 1), (5, "gemm", 600_000, 700_000, 1)], bars
    cut = page_data(b, run, "--from", "300us", "--until", "320us")["tables"]["bars"]
    assert [(bar["name"], bar["from_ns"], bar["to_ns"]) for bar in cut] == [
        (name, 300_000, 320_000) for name in ("synchronize", "fsync", "futex", "gemm")], cut


def test_page_lanes_are_bounded(b: Bench) -> None:
    """However many there are: what is too near together is one bar, and nothing is left out of the sums."""
    run = b.make_run("long", "steps")
    data = page_data(b, run)["tables"]
    assert [(lane["track"], lane["depth"]) for lane in data["lanes"]] == [("main", 0), ("main", 1), ("main", 2)], data["lanes"]
    for lane, name, length in ((1, "step", 8_000), (2, "forward", 2_000)):
        bars = [bar for bar in data["bars"] if bar["lane"] == lane]
        assert 100 <= len(bars) <= 1000, len(bars)
        assert sum(bar["count"] for bar in bars) == 20_000 and {bar["name"] for bar in bars} == {name}
        assert sum(bar["busy_ns"] for bar in bars) == 20_000 * length
        assert all(a["to_ns"] <= z["from_ns"] for a, z in zip(bars, bars[1:]))
        assert max(bar["to_ns"] - bar["from_ns"] for bar in bars) <= 200_000_000 / 100
