#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What campaigns have found, each by hand and as small as it goes: the verb has to end well, with a word that says why.

usage: test_found.py WHEELTAP MUTATOR sanitized|plain
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import amplify  # noqa: E402
import watch  # noqa: E402
from cases import SEEDS, environment  # noqa: E402
from harness import Case  # noqa: E402

WHEELTAP, MUTATOR = (str(Path(word).resolve()) for word in sys.argv[1:3])
PROGRAM = watch.Program(WHEELTAP, sys.argv[3] == "sanitized", 60, 300)


class Found(Case):
    def ends_well(self, line: str, how: str = "text") -> watch.Ended:
        ended = watch.execute(PROGRAM, line.split(), self.folder, environment(self.folder))
        wrong = watch.wrong_end(PROGRAM, ended, watch.STATUSES) or watch.wrong_output(ended, how)
        self.assertEqual(wrong, "", ended.stderr.decode(errors="replace"))
        return ended

    def test_suppressed_findings_are_freed(self) -> None:
        (self.folder / "wheeltap.toml").write_text('[[suppress]]\ncode = "WT-*"\nreason = "known"\n')
        ended = self.ends_well(f"doctor {SEEDS}/ddp")
        self.assertIn(b"suppressed in wheeltap.toml: known", ended.stderr)

    def test_a_variable_on_each_of_many_tracks(self) -> None:
        (self.folder / "many.wt").write_bytes(amplify.stream([amplify.Part("context", 4, {"track"})]))
        self.ends_well("export --to chrome -o chrome many.wt")
        self.ends_well("export --to perfetto -o perfetto many.wt")

    def test_an_imported_extent_is_the_greatest_number(self) -> None:
        trace = (SEEDS / "trace.jsonl").read_text().replace("[2,3]", "[9223372036854775807,3]")
        self.assertIn("[9223372036854775807,3]", trace)
        (self.folder / "trace.jsonl").write_text(trace)
        self.assertEqual(self.ends_well("import traincheck trace.jsonl -o run").status, 0)
        self.assertIn(b"9223372036854775807x3", self.ends_well("view --json run", "json").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
