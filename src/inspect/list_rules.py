#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the register of rules: every row of the files given, by code.

usage: list_rules.py OUT.c FILE...

A rule is a row, `const struct wti_rule wti_rule_NAME = {`, with a `.code`; nothing else has to know of it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROW = re.compile(r'^const struct wti_rule (wti_rule_\w+) = \{\n\t\.code = "([A-Z0-9-]+)",$', re.MULTILINE)
DECLARED = re.compile(r"^const struct wti_rule \w+ =", re.MULTILINE)


def rows_of(path: str) -> list[tuple[str, str]]:
    text = Path(path).read_text()
    rows = [(code, name) for name, code in ROW.findall(text)]
    if len(rows) != len(DECLARED.findall(text)):
        raise SystemExit(f"list_rules.py: '{path}': a row has to begin with its code")
    return rows


def main() -> None:
    target, *sources = sys.argv[1:]
    rows = sorted(row for path in sources for row in rows_of(path))
    twice = {code for code, _ in rows if sum(code == other for other, _ in rows) > 1}
    if twice:
        raise SystemExit(f"list_rules.py: two rules have the code {sorted(twice)[0]}")
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* Made from the rules by src/inspect/list_rules.py; do not edit. */",
           '#include "inspect/judge/rule.h"', ""]
    out += [f"extern const struct wti_rule {name};" for _, name in rows]
    out += ["", "const struct wti_rule *const wti_rules[] = {"]
    out += [f"\t&{name}," for _, name in rows]
    Path(target).write_text("\n".join([*out, "\t0,", "};", ""]))


if __name__ == "__main__":
    main()
