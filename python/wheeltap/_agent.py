# SPDX-License-Identifier: Apache-2.0
"""Starting the agent in a process: settings, the extension, and which libraries are hooked as they are imported."""

from __future__ import annotations

import atexit
import os
import sys
import sysconfig
from functools import partial
from types import ModuleType
from typing import Any, Callable

from . import _results
from ._configuration import actions as configuration_actions
from ._imports import Watcher
from ._noise import MODULES, Noise
from ._own import OWN, is_asked_for, watch
from ._select import ARGUMENTS, Needs, Selective
from ._thrown import part
from ._wanted import Wanted

DETAILS = {"lean": 0, "normal": 1, "full": 2}
OPERATORS = ("auto", "off", "backward", "all", "outputs")
TENSORS = {"off": 0, "digest": 1, "stats": 2, "full": 3}
# Larger arguments and returns of calls are described, not read. States are always read.
DIGEST_BYTES_MAX = {"lean": 4096, "normal": 65536, "full": 1 << 40}
NO_MAX = 1 << 40


class Settings:
    """What `wheeltap record` was asked for, from the lines that it leaves for its agents."""

    def __init__(self, text: str) -> None:
        self.detail = "normal"
        self.tensors = "digest"
        self.arguments = "on"
        self.operators = "auto"
        self.wants = Wanted()  # (module, function): whether it is to be hooked
        self.modules = ["torch"]
        self.noise = Noise()
        self.needs = Needs()
        self.budget = 0.0  # per cent; 0: none
        self.sample = ""  # every=N, warmup=K or steps=A-B
        for line in text.split("\n"):
            key, _, value = line.partition("=")
            self._set(key, value)
        if self.noise.is_on:
            self._set_for_noise(text)

    def _set_for_noise(self, text: str) -> None:
        """Numbers are compared between runs: all that is recorded of them is read."""
        if "\nmodules=" not in "\n" + text:
            self.modules = MODULES + self.modules[1:]
        if self.tensors == "digest":
            self.tensors = "stats"

    def _set(self, key: str, value: str) -> None:
        if key == "detail" and value in DETAILS:
            self.detail = value
        elif key == "tensors" and value in TENSORS:
            self.tensors = value
        elif key == "arguments":
            self.arguments = value
        elif key == "operators" and value in OPERATORS:
            self.operators = value
        elif key == "modules" and value:
            self.modules = value.split(",")
        elif key == "also" and value:
            self.modules += [name for name in value.split(",") if name not in self.modules]
        elif key == "budget":
            self.budget = float(value)
        elif key == "sample":
            self.sample = value
        elif not self.needs.set(key, value) and not self.noise.set(key, value):
            self.wants.set(key, value)

    def omitted(self) -> int:
        """What is never measured."""
        return self.needs.omitted() | (0 if self.arguments == "on" else ARGUMENTS)

    def sampled(self, how: str) -> int:
        """The number of every=N or warmup=K; 0: not so."""
        key, _, number = self.sample.partition("=")
        return int(number) if key == how else 0

    def window(self) -> tuple[int, int]:
        """The first step of steps=A-B and the one behind the last; 0, 0: not so."""
        key, _, steps = self.sample.partition("=")
        first, _, last = steps.partition("-")
        return (int(first), int(last) + 1) if key == "steps" else (0, 0)

    def told(self, core: Any) -> dict[str, int | float | str]:
        """What the trace says about how it was made."""
        told: dict[str, int | float | str] = {
            "python_version": sys.version.split()[0], "detail": self.detail, "tensors": self.tensors, "modules": ",".join(self.modules),
            "digest_bytes_max": DIGEST_BYTES_MAX[self.detail],
            "statistics_every": core.SPREAD if self.detail == "lean" else 1,
            "optimizer_state_every": 1 if self.detail == "full" else core.SPREAD}
        if self.budget:
            told["budget_percent"] = self.budget
        if self.sample:
            told["sample"] = self.sample
        if self.needs.count:
            told["invariants"] = self.needs.count
        if self.wants.only or self.wants.skip:
            told["picked"] = len(self.wants.only) + len(self.wants.skip)
        return {**told, **self.noise.told()}


def library_prefixes() -> tuple[str, ...]:
    """Where code lies that is not the user's; our own comes first."""
    import site

    paths = {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    try:
        paths |= set(site.getsitepackages()) | {site.getusersitepackages()}
    except AttributeError:  # an old virtual environment has a site module of its own
        pass
    package = os.path.dirname(os.path.abspath(__file__))
    paths |= {os.path.realpath(path) for path in paths}
    return (package + "/",) + tuple(sorted(path.rstrip("/") + "/" for path in paths if path)) + ("<frozen ", "<__array_function__", "<pyopencl ")


class _State:
    core: ModuleType | None = None
    settings: Settings
    watcher: Watcher | None = None
    said = False  # the settings are in the trace


def _hooker() -> Any:
    """The extension, as those who hook something see it: settings are passed before the first hook."""
    core, settings = _State.core, _State.settings
    assert core is not None
    if not _State.said:
        _State.said = True
        core.settings(settings.told(core))
        core.omitted()
    return Selective(core, settings.needs, settings.detail) if settings.needs.count else core


def _hook_torch() -> None:
    core = _hooker()
    if "torch._C" not in sys.modules:  # nor is there anything else that the real one loads, and we would be the first to
        core.own_line(2, "not_measured: the module torch of this program is not PyTorch")
        return
    from ._torch import instrument

    instrument(core, _State.settings)


def _hook_library(name: str) -> None:
    from ._library import instrument

    hook = partial(instrument, name, _hooker(), _State.settings, set())
    hook()
    if _State.watcher is not None:
        _State.watcher.follow(name, hook)


def _hook_tests(core: ModuleType) -> None:
    from ._tests import hook

    hook(core)


def _in_turn(first: Callable[[], None], second: Callable[[], None]) -> None:
    """A module that the user asked for is recorded as asked for: what is hooked first stays as it is."""
    first()
    second()


def _actions(core: ModuleType, names: list[str], libraries: tuple[str, ...]) -> dict[str, Callable[[], None]]:
    actions: dict[str, Callable[[], None]] = {
        name: _hook_torch if name == "torch" else partial(_hook_library, name) for name in names}
    actions["_pytest.config"] = partial(_hook_tests, core)
    for name, action in configuration_actions(core, libraries).items():
        actions[name] = partial(_in_turn, actions[name], action) if name in actions else action
    if "torch" in names:
        from ._graphs import actions as graph_actions
        from ._generators import actions as generator_actions
        from ._saved import actions as saved_actions

        actions.update(graph_actions(core))
        actions.update(generator_actions(core, _hooker))
        actions.update(saved_actions(_hooker))
    return actions


def set_up(core: ModuleType, settings: Settings) -> dict[str, Callable[[], None]]:
    """Makes the extension ready. By library, what is to be done when it has been imported."""
    bytes_max = NO_MAX if settings.tensors in ("stats", "full") else DIGEST_BYTES_MAX[settings.detail]
    libraries = library_prefixes()
    core.configure(DETAILS[settings.detail], TENSORS[settings.tensors], bytes_max, libraries)
    core.set_thrown(part)
    settings.noise.set_up(core)
    core.pace(settings.budget / 100, settings.sampled("every"), settings.sampled("warmup"), *settings.window(), settings.omitted())
    _State.core, _State.settings = core, settings
    return _actions(core, [name for name in settings.modules if name != OWN], libraries)


def end(core: ModuleType, settings: str) -> None:
    """What the program holds, where elements of values are kept; then the end of the recording."""
    if any(line.startswith("elements=") for line in settings.splitlines()):
        try:
            _results.emit(core)
        except Exception as error:  # it is not the program's
            core.failed(error)
    core.end(not hasattr(sys, "last_type"))


def attach() -> ModuleType | None:
    """The extension, if this process is being recorded and it exists for this interpreter."""
    if _State.core is not None:
        return _State.core
    if "WHEELTAP_AGENT" not in os.environ:
        return None
    if hasattr(sys, "getobjects"):  # the name of an extension does not show that objects are laid out differently
        raise ImportError("this interpreter was built with Py_TRACE_REFS")
    from . import _wheeltap as core  # type: ignore[attr-defined]

    text = core.settings_text()
    if text is None:
        return None
    actions = set_up(core, Settings(text))
    core.start()
    atexit.register(end, core, text)  # the first one registered is the last one called
    _State.watcher = Watcher(actions, core.failed)
    _State.watcher.begin()
    if is_asked_for(_State.settings):
        watch(_hooker(), _State.settings)
    return core


def start() -> bool:
    """Goes on after a stop, and hooks what was imported before we came."""
    if _State.core is None or not _State.core.start():
        return False
    if _State.watcher is not None:
        _State.watcher.catch_up()
    if _State.core.missed() and "torch" in sys.modules:
        from ._torch import catch_up

        catch_up(_State.core)
    return True
