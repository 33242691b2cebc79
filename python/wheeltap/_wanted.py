# SPDX-License-Identifier: Apache-2.0
"""Which functions are hooked: patterns over full names, and rules of a module and a function as Pytracer has them."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase


def _compile(expression: str) -> re.Pattern[str] | None:
    try:
        return re.compile(expression)
    except re.error:
        return None


class Rules:
    """Lines `module function`. A star stands for anything, the rest is a regular expression."""

    def __init__(self) -> None:
        self._rules: list[tuple[re.Pattern[str], str]] = []
        self._by_module: dict[str, re.Pattern[str] | None] = {}  # the functions of all rules that name it

    def add(self, rule: str) -> None:
        module, _, function = rule.replace("*", ".*").partition(" ")
        if function[:1].isupper():  # a class stands for its members as well
            function = rf"{function}(?:\..*)?"
        compiled = _compile(module)
        if compiled is not None and _compile(function) is not None:
            self._rules.append((compiled, function))

    def match(self, module: str, function: str) -> tuple[bool, bool]:
        """Whether the module is named, and whether the function is."""
        if module not in self._by_module:
            functions = [expression for pattern, expression in self._rules if pattern.fullmatch(module)]
            self._by_module[module] = _compile("|".join(f"(?:{item})" for item in functions)) if functions else None
        pattern = self._by_module[module]
        return pattern is not None, pattern is not None and pattern.fullmatch(function) is not None


class Wanted:
    """What `record` was told by --only, --skip, --include-file and --exclude-file."""

    def __init__(self) -> None:
        self.only: list[str] = []
        self.skip: list[str] = []
        self.include = Rules()
        self.exclude = Rules()

    def set(self, key: str, value: str) -> bool:
        """A line of the settings; False if it is about something else."""
        if key in ("only", "skip"):
            getattr(self, key).extend(value.split(",") if value else [])
        elif key in ("include", "exclude"):
            getattr(self, key).add(value)
        else:
            return False
        return True

    def __call__(self, module: str, function: str) -> bool:
        name = f"{module}.{function}"
        if self.only and not any(fnmatchcase(name, pattern) for pattern in self.only):
            return False
        if any(fnmatchcase(name, pattern) for pattern in self.skip):
            return False
        return self._by_rules(module, function)

    def _by_rules(self, module: str, function: str) -> bool:
        included, wanted = self.include.match(module, function)
        excluded, unwanted = self.exclude.match(module, function)
        if included and not wanted:
            return False
        return not unwanted if excluded else True
