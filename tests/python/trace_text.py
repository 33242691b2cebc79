# SPDX-License-Identifier: Apache-2.0
"""A decoded trace as text: the canonical form that tests/golden/canonical.c prints too, and a few lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from trace_model import Block, Definitions, Kind, Stream


def hexed(text: bytes) -> str:
    """Texts are marked, so that an empty one is seen."""
    return "x" + text.hex()


PROBED_IDS = 4096  # canonical.c can ask for a stack or a site only by number


def canonical_definitions(definitions: Definitions) -> Iterator[str]:
    last = max(definitions.strings, default=0)
    for id_ in range(1, last + 1):
        yield f"string {id_} {hexed(definitions.strings.get(id_, b'?'))}"
    for id_, (type_, tid, device, name) in sorted(definitions.tracks.items()):
        yield f"track {id_} {type_} {tid} {device} {hexed(name)}"
    for id_, frames in sorted(definitions.stacks.items()):
        if frames and id_ < PROBED_IDS:
            yield f"stack {id_} {' '.join(map(str, frames))}"
    for base, size, build_id, path in sorted(definitions.modules.values()):
        yield f"module {base} {size} {hexed(build_id)} {hexed(path)}"
    for id_, (file, function, line) in sorted(definitions.sites.items()):
        if id_ < PROBED_IDS:
            yield f"site {id_} {file} {function} {line}"


def canonical_kinds(kinds: dict[int, Kind]) -> Iterator[str]:
    for number, kind in sorted(kinds.items()):
        yield f"kind {number} {len(kind.fields)} {hexed(kind.name)} {hexed(kind.doc)}"
        for f in kind.fields:
            head = f"field {f.type} {f.transform} {f.relative_to} {hexed(f.name)} {hexed(f.unit)} {hexed(f.doc)}"
            yield " ".join([head, *map(hexed, f.enum_names)])


def canonical_block(block: Block) -> Iterator[str]:
    h = block.header
    yield (f"block {h.offset} {h.end - h.offset} {h.rows} {h.kind} {h.time_min} {h.time_max} "
           f"{h.track_filter} {h.name_filter}")  # fmt: skip
    as_text = [map(hexed if column and isinstance(column[0], bytes) else str, column) for column in block.columns]
    prefix = f"event {h.kind} "
    for row in zip(*as_text):
        yield prefix + " ".join(row)


def canonical(stream: Stream) -> Iterator[str]:
    h = stream.header
    yield f"stream {h.boot.hex()} {h.pid} {h.exec} {h.start_time} {h.segment} {h.clock} {hexed(h.command)}"
    yield from canonical_kinds(stream.kinds)
    yield from canonical_definitions(stream.definitions)
    for block in stream.blocks:
        yield from canonical_block(block)
    yield f"end {'finished' if stream.found_by == 'index' else 'unfinished'} {'damaged' if stream.notes else 'sound'}"


def summary(stream: Stream) -> Iterator[str]:
    d = stream.definitions
    yield f"{stream.event_count} events in {len(stream.blocks)} blocks, found by {stream.found_by}"
    yield f"{len(stream.kinds)} kinds, {len(d.strings)} strings, {len(d.tracks)} tracks, {len(d.stacks)} stacks"
