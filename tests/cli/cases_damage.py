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


def test_one_bad_stream_does_not_hide_the_others(b: Bench) -> None:
    run = b.make_run("mixed")
    (run / "0002.wt").write_bytes(b"not a trace")
    said = b.run("info", "--json", run, code=3).json()
    assert said["events"] == 18 and said["status"] == "finished", said
    assert any("0002.wt" in note for note in said["notes"]), said["notes"]
