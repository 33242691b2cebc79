# SPDX-License-Identifier: Apache-2.0
"""Tests of pytest as checks: a plugin of ours in every session, which only looks on.

It is registered where pytest makes its configuration, so that nothing has to be configured and no option, no variable and
no line of the output changes. Of a session inside another one (pytest testing its plugins) nothing is recorded, and with
workers (pytest-xdist) the process that collects their reports emits them.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from . import _check


class _Test:
    """What the reports of a test's phases add up to: setup, call, teardown."""

    def __init__(self) -> None:
        self.status = _check.PASSED
        self.detail = ""
        self.seconds = 0.0

    def add(self, report: Any) -> None:
        self.seconds += float(getattr(report, "duration", 0.0))
        if report.outcome == "failed" and self.status not in (_check.FAILED, _check.ERROR):
            self.status = _check.FAILED if report.when == "call" else _check.ERROR
            self.detail = _reason(report)
        elif report.outcome == "skipped" and self.status == _check.PASSED:
            self.status, self.detail = _check.SKIPPED, _reason(report)


def _reason(report: Any) -> str:
    expected = getattr(report, "wasxfail", None)
    if expected is not None:
        return f"expected to fail: {expected}" if expected else "expected to fail"
    long = report.longrepr
    crash = getattr(long, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    if isinstance(long, tuple) and len(long) == 3:  # file, line, reason of a skipped one
        return str(long[2])
    return str(long).strip().rpartition("\n")[2] if long else ""


class Plugin:
    """Gets what pytest reports, and passes it on to the extension."""

    depth = 0  # of sessions in this process

    def __init__(self, core: Any) -> None:
        self._core = core
        self._tests: dict[str, _Test] = {}
        self._is_ours = False

    def pytest_sessionstart(self, session: Any) -> None:
        self._is_ours = Plugin.depth == 0 and not hasattr(session.config, "workerinput")
        Plugin.depth += 1

    def pytest_sessionfinish(self) -> None:
        Plugin.depth -= 1

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not self._is_ours:
            return
        try:
            test = self._tests.setdefault(report.nodeid, _Test())
            test.add(report)
            if report.when == "teardown":
                del self._tests[report.nodeid]
                self._emit(report.nodeid, report.location, test)
        except Exception as error:  # a guest never fails its host
            self._core.failed(error)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected has tests that nobody could run."""
        if not self._is_ours or report.outcome != "failed":
            return
        try:
            test = _Test()
            test.status, test.detail = _check.ERROR, _reason(report)
            self._emit(report.nodeid, (report.nodeid, None, ""), test)
        except Exception as error:
            self._core.failed(error)

    def _emit(self, name: str, location: Any, test: _Test) -> None:
        verdict = _check.Verdict(test.status, "assertion", "", "", test.detail[:1000])
        line = location[1] + 1 if location[1] is not None else 0
        _check.emit(self._core, name, verdict, "", (str(location[0]), line), int(test.seconds * 1e9))


def hook(core: Any) -> None:
    """pytest is there: from now on each of its configurations has the plugin."""
    config = sys.modules["_pytest.config"]
    original = config.get_config

    @functools.wraps(original)
    def get_config(*arguments: Any, **options: Any) -> Any:
        made = original(*arguments, **options)
        try:
            made.pluginmanager.register(Plugin(core), "wheeltap")
        except Exception as error:
            core.failed(error)
        return made

    config.get_config = get_config  # type: ignore[attr-defined]

