# SPDX-License-Identifier: Apache-2.0
"""Tables: columns of equal length that libraries take without copying."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, overload

from ._reader import Column, table_schema, table_stream

__all__ = ["Column", "Table"]

HTML_ROWS = 20


class Table:
    """Columns by name. `table["time_ns"]` is a column, `table[:10]` the first ten rows; nothing is copied.

    numpy.asarray(column) shares a column's memory. pyarrow.table(table), polars.from_arrow(table) and duckdb share all of
    it through Arrow's PyCapsule interface. `table.to_pandas()` needs pandas alone.
    """

    def __init__(self, name: str, columns: list[Column]) -> None:
        self.name = name
        self.columns = {column.name: column for column in columns}

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, without the texts."""
        return sum(column.nbytes for column in self.columns.values())

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: slice) -> Table: ...

    def __getitem__(self, key: str | slice) -> Column | Table:
        if isinstance(key, slice):
            return Table(self.name, [column[key] for column in self.columns.values()])
        try:
            return self.columns[key]
        except KeyError:
            raise KeyError(f"no column '{key}' in '{self.name}'; there are {', '.join(self.columns)}") from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Row by row, as dictionaries; None where there is no value."""
        names = self.names
        for begin in range(0, len(self), 4096):
            piece = [column[begin:begin + 4096].to_list() for column in self.columns.values()]
            for values in zip(*piece):
                yield dict(zip(names, values))

    def to_pandas(self, suffix: str = "") -> Any:
        """A pandas.DataFrame. Numbers share the table's memory, texts are categories, missing whole numbers are <NA>.

        Columns keep their names: frame["count"] and frame["shape"] are columns, while frame.count and frame.shape are what
        every DataFrame has. suffix: is appended to such names, so that frame.count_ and frame.shape_ are the columns.
        """
        pandas: Any = import_module("pandas")
        frame = {self._renamed(name, suffix, pandas.DataFrame): _pandas_column(column)
                 for name, column in self.columns.items()}
        return pandas.DataFrame(frame, copy=False)

    def _renamed(self, name: str, suffix: str, frame: type) -> str:
        renamed = name
        while suffix and (hasattr(frame, renamed) or (renamed != name and renamed in self.columns)):
            renamed += suffix
        return renamed

    def __arrow_c_schema__(self) -> object:
        return table_schema(list(self.columns.values()))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return table_stream(list(self.columns.values()))

    def _repr_html_(self) -> str:
        from . import _html

        rows = [list(row.values()) for row in self[:HTML_ROWS].rows()]
        more = f"{len(self)} rows" + (f", the first {HTML_ROWS} are shown" if len(self) > HTML_ROWS else "")
        return _html.table(self.names, rows) + f"\n<p>{more}</p>"

    def __repr__(self) -> str:
        shown = ", ".join(f"{printable(column.name)} {column.type}" for column in self.columns.values())
        return f"<wheeltap.Table {printable(self.name)}: {len(self)} rows: {shown}>"


def printable(text: str) -> str:
    """A text of a trace for people: what a terminal would obey is escaped, as repr() does it."""
    return text if text.isprintable() else repr(text)[1:-1]


def _pandas_column(column: Column) -> Any:
    numpy: Any = import_module("numpy")
    pandas: Any = import_module("pandas")
    if column.type == "text":
        return pandas.Categorical.from_codes(numpy.asarray(column.codes), categories=column.categories)
    values = numpy.asarray(column)
    if column.null_count and column.type != "float64":
        return pandas.arrays.IntegerArray(values, ~numpy.asarray(column.valid), copy=False)
    return values
