# SPDX-License-Identifier: Apache-2.0
"""HTML for notebooks. What comes from a trace is escaped: a name in it must not become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from .table import printable

TEXT_MAX = 200  # characters of a cell


def text(value: object) -> str:
    """A value as it may stand between tags, or within quotes."""
    shown = "" if value is None else value if isinstance(value, str) else repr(value)
    if len(shown) > TEXT_MAX:
        shown = shown[:TEXT_MAX - 1] + "\u2026"
    return html.escape(printable(shown))


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = ["<table>"]
    if head:
        lines.append("<thead><tr>" + "".join(f"<th>{text(cell)}</th>" for cell in head) + "</tr></thead>")
    lines += ["<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])
