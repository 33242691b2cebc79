# SPDX-License-Identifier: Apache-2.0
"""The ground truth of a simulated run, computed once more from its rows by the most obvious means."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import reference_decoder

Row = dict[str, Any]
Interval = tuple[int, int]


def read(run: Path) -> list[Row]:
    """All rows of all streams; names, tracks and enumerations as text."""
    rows: list[Row] = []
    for index, path in enumerate(sorted(run.glob("*.wt"))):
        stream = reference_decoder.decode(str(path))
        assert not stream.notes, stream.notes
        assert stream.found_by == "index"
        strings = {0: b"", **stream.definitions.strings}
        kinds = {k.name.decode(): k for k in stream.kinds.values()}
        for row in stream.rows():
            for field in kinds[row["kind"]].fields:
                name = field.name.decode()
                if field.type == 6:
                    row[name] = strings[row[name]].decode(errors="replace")
                elif field.type == 10:
                    row[name] = field.enum_names[row[name]].decode()
            row["stream"] = index
            row["track_name"] = stream.definitions.tracks[row["track"]][3].decode(errors="replace")
            rows.append(row)
    return rows


def union(intervals: list[Interval]) -> int:
    total = 0
    reached = 0
    for started, ended in sorted(intervals):
        total += max(0, ended - max(started, reached))
        reached = max(reached, ended)
    return total


def overlap_max(intervals: list[Interval]) -> int:
    """Half open: at the same moment an end counts before a start."""
    moments = sorted([(s, 1) for s, e in intervals if e > s] + [(e, -1) for s, e in intervals if e > s])
    now = most = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return most


def total(ops: list[Row]) -> dict[str, int]:
    times = [o["ended"] - o["started"] for o in ops]
    return {"count": len(ops), "total_ns": sum(times), "min_ns": min(times), "max_ns": max(times),
            "bytes": sum(o["bytes"] for o in ops)}  # fmt: skip


def grouped(ops: list[Row], key: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for op in ops:
        groups[op[key]].append(op)
    return groups


def truth(rows: list[Row]) -> dict[str, Any]:
    """The same keys as truth.json, but for those that only the simulator knows."""
    ops = [r for r in rows if r["kind"] == "device_op"]
    spans = [(o["started"], o["ended"]) for o in ops]
    work = [s for s in spans if s[1] > s[0]]
    first, last = (min(s for s, _ in work), max(e for _, e in work)) if work else (0, 0)
    window = last - first

    def busy(some: list[Row]) -> dict[str, Any]:
        ns = union([(o["started"], o["ended"]) for o in some])
        return {"busy_ns": ns, "utilisation": ns / window if window else 0}

    devices = [
        {"device": d, "concurrency_max": overlap_max([(o["started"], o["ended"]) for o in some]), **busy(some)}
        for d, some in sorted(grouped(ops, "device").items())
    ]
    queues = {
        name: {"device": some[0]["device"], "operations": len(some), **busy(some)}
        for name, some in grouped(ops, "track_name").items()
    }
    return {
        "events": len(rows),
        "kinds": dict(Counter(r["kind"] for r in rows)),
        "window": {"from_ns": first, "to_ns": last},
        "concurrency_max": overlap_max(spans),
        **busy(ops),
        "devices": devices,
        "queues": queues,
        "ops": {name: total(some) for name, some in grouped(ops, "op").items()},
        "names": {name: total(some) for name, some in grouped(ops, "name").items()},
        "edges": dict(Counter(r["type"] for r in rows if r["kind"] == "edge")),
    }
