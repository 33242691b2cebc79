# SPDX-License-Identifier: Apache-2.0
"""The program's configuration as the program resolved it: what argparse, click, absl, hydra and OmegaConf give it, its classes of
settings (dataclasses), and files of YAML, TOML and JSON that it reads.

Results are read, never called: values of Python's own types, and of types whose text is known to run nothing of the program's.
Anything else is shown by the name of its type. All that is done here happens after the call that gave the result.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from types import FunctionType, MemberDescriptorType
from typing import Any, Callable, Iterator, NamedTuple

NONE, BOOL, INT, FLOAT, TEXT = 0, 1, 2, 3, 5  # enum value_type of the schema
VALUES_MAX = 4096  # that a process emits: a program that resolves more does it in a loop
FILE_VALUES_MAX = 512  # in a file: one that has more is data
FILES_MAX = 16  # more are data, too
INSTANCES_MAX = 16  # of a class of settings
DEPTH_MAX = 8
TEXT_MAX = 240  # of a list
KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-/]{0,150}\Z")
SETTINGS_CLASS = re.compile(r"(config|configuration|args|arguments|options|settings|params|parameters|hparams)\Z", re.IGNORECASE)
# JSON is mostly data: only under a name like these is it taken for settings.
SETTINGS_FILE = re.compile(r"\.(ya?ml|toml)\Z|(conf|cfg|setting|param|arg|option|hyper|train).*\.json\Z", re.IGNORECASE)
REFERENCE = re.compile(r"\$\{([A-Za-z0-9_.]+)\}\Z")  # to another value of the same configuration
PRINTED = {"torch": ("device", "dtype"), "pathlib": ("PosixPath", "PurePosixPath"), "pathlib._local": ("PosixPath", "PurePosixPath")}


class Value(NamedTuple):
    key: str
    type: int
    text: str
    is_default: bool = False


def _attributes(thing: Any) -> dict[str, Any]:
    """Of an instance; nothing runs."""
    try:
        own = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return own if type(own) is dict else {}


def _plain(value: Any) -> tuple[int, str] | None:
    kind = type(value)
    if value is None:
        return NONE, "None"
    if kind is bool:
        return BOOL, "true" if value else "false"
    if kind is int:
        return INT, str(value) if value.bit_length() < 1024 else "<int>"
    if kind is float:
        return FLOAT, repr(value)
    if kind is str:
        return TEXT, value
    return None


def _other(value: Any) -> tuple[int, str]:
    """What has no value of its own that could be read, or one that its type's own code can print."""
    kind = type(value)
    if kind.__name__ in PRINTED.get(kind.__module__, ()):
        return TEXT, str(value)
    if isinstance(value, (FunctionType, type)):
        return TEXT, str(type.__getattribute__(value, "__qualname__") if isinstance(value, type) else value.__qualname__)
    name = _attributes(value).get("_name_")  # a member of an enumeration
    if type(name) is str:
        return TEXT, name
    return TEXT, f"<{kind.__name__}>"


def _sequence(value: Any) -> tuple[int, str]:
    parts = []
    for part in value:
        text = (_plain(part) or _other(part))[1]
        if sum(map(len, parts)) + len(text) > TEXT_MAX:
            parts.append("...")
            break
        parts.append(text)
    return TEXT, f"[{', '.join(parts)}]"


def _fields(value: Any, names: Any) -> list[tuple[str, Any]]:
    """Of a dataclass: attributes of the instance, or slots."""
    own = _attributes(value)
    found = []
    for name in names:
        slot = next((base.__dict__[name] for base in type(value).__mro__ if name in base.__dict__), None)
        if name in own:
            found.append((name, own[name]))
        elif isinstance(slot, MemberDescriptorType):
            try:
                found.append((name, slot.__get__(value)))
            except AttributeError:  # never set
                pass
    return found


def _children(value: Any) -> Iterator[tuple[Any, Any]] | None:
    kind = type(value)
    if issubclass(kind, dict):
        return iter(list(dict.items(value)))
    fields = next((base.__dict__["__dataclass_fields__"] for base in kind.__mro__ if "__dataclass_fields__" in base.__dict__), None)
    if type(fields) is dict:
        return iter(_fields(value, fields))
    if kind.__name__ == "Namespace":
        return iter(list(_attributes(value).items()))
    return None


def flatten(thing: Any, prefix: str = "") -> Iterator[Value]:
    """Its values, in order. A list of plain values is one; what is in a list of tables has a number in its key."""
    waiting: list[tuple[str, Any, int]] = [(prefix, thing, 0)]
    while waiting:
        key, value, depth = waiting.pop()
        children = _children(value) if depth < DEPTH_MAX else None
        plain = _plain(value)
        if type(value) in (list, tuple) and depth < DEPTH_MAX and any(_children(part) is not None for part in value):
            children = iter([(number, part) for number, part in enumerate(value)])
        if children is not None:
            inner = [(f"{key}.{name}" if key else str(name), part, depth + 1)
                     for name, part in children if type(name) in (str, int) and KEY.match(str(name))]
            waiting.extend(reversed(inner))
        elif key:
            yield Value(key, *(plain or (_sequence(value) if type(value) in (list, tuple) else _other(value))))


def _resolved(container: Any) -> Iterator[Value]:
    """Of OmegaConf's, in which a value may refer to another one."""
    values = {value.key: value for value in flatten(container)}
    for value in values.values():
        at = value
        for _ in range(DEPTH_MAX):
            reference = REFERENCE.match(at.text)
            if not reference or reference[1] not in values:
                break
            at = values[reference[1]]
        yield value._replace(type=at.type, text=at.text)


def printable(text: str) -> str:
    """What a text of C can hold."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _same(value: Any, default: Any) -> bool:
    return value is default or (_plain(value) is not None and _plain(value) == _plain(default))


def _is_default(action: Any, value: Any) -> bool:
    """argparse converts defaults that are texts, as it does arguments."""
    own = _attributes(action)
    default = own.get("default")
    if type(default) is str and own.get("type") in (int, float):
        try:
            default = own["type"](default)
        except ValueError:
            return False
    return _same(value, default)


def _declared(parser: Any, depth: int = 0) -> Iterator[Any]:
    for action in _attributes(parser).get("_actions", ()):
        yield action
        choices = _attributes(action).get("_name_parser_map")  # of commands with parsers of their own
        if type(choices) is dict and depth < DEPTH_MAX:
            for below in choices.values():
                yield from _declared(below, depth + 1)


class Resolved:
    """Gets what libraries have resolved, and passes it on to the extension."""

    def __init__(self, core: Any, libraries: tuple[str, ...]) -> None:
        self._core = core
        self._libraries = libraries  # prefixes of files that are not the program's own
        self._count = 0
        self._instances: dict[str, int] = {}
        self._files: set[str] = set()

    def take(self, callee: str, first: Any, result: Any, in_library: bool) -> None:
        """After a hooked call; `first` is its first argument."""
        if self._count < VALUES_MAX:
            getattr(self, "_" + callee)(first, result, in_library)

    def emit(self, source: str, values: Iterator[Value]) -> None:
        for value in values:
            if self._count >= VALUES_MAX:
                break
            self._count += 1
            self._core.configuration(value.key, source, value.type, value.is_default, printable(value.text))

    def _argparse(self, parser: Any, result: Any, in_library: bool) -> None:
        if type(parser).__module__.startswith("_pytest") or (in_library and "hydra._internal.utils" in sys.modules):
            return  # options of the library itself, and of hydra only words that it has yet to resolve
        namespace = result[0] if type(result) is tuple else result
        defaults = {_attributes(action).get("dest"): action for action in _declared(parser)}
        own = _attributes(namespace)
        self.emit("argparse", (value._replace(is_default=value.key in defaults and _is_default(defaults[value.key], own.get(value.key)))
                               for value in flatten(own)))

    def _click(self, command: Any, result: Any, in_library: bool) -> None:
        own = _attributes(result)
        given = own.get("_parameter_source", {})
        name = {key: getattr(given[key], "_name_", "") for key in given} if type(given) is dict else {}
        self.emit("click", (value._replace(is_default=name.get(value.key) in ("DEFAULT", "DEFAULT_MAP"))
                            for value in flatten(own.get("params", {}))))

    def _absl(self, flags: Any, result: Any, in_library: bool) -> None:
        """Those of the libraries themselves are left out."""
        for module, declared in dict.items(flags.flags_by_module_dict()):
            if not str(module).startswith("absl."):
                for flag in declared:
                    own = _attributes(flag)
                    self.emit("absl", (value._replace(is_default=flag.using_default_value is True)
                                       for value in flatten({own.get("name"): own.get("_value")})))

    def _contents(self, result: Any) -> Any:
        omegaconf = sys.modules.get("omegaconf")
        return omegaconf.OmegaConf.to_container(result, resolve=False) if omegaconf is not None else {}

    def _hydra(self, loader: Any, result: Any, in_library: bool) -> None:
        container = self._contents(result)
        self.emit("hydra", _resolved({key: value for key, value in container.items() if key != "hydra"}))

    def _omegaconf(self, first: Any, result: Any, in_library: bool) -> None:
        if not in_library and type(result).__name__ == "DictConfig":
            self.emit("omegaconf", _resolved(self._contents(result)))

    def _file(self, stream: Any, result: Any, in_library: bool) -> None:
        """The answer to load(file), if it looks like settings rather than data."""
        name = getattr(stream, "name", None) if type(stream).__module__ == "_io" else None
        if in_library or type(name) is not str or type(result) is not dict or not SETTINGS_FILE.search(name):
            return
        self._files.add(name)
        if len(self._files) > FILES_MAX:
            return
        values = []
        for value in flatten(result):
            values.append(value)
            if len(values) > FILE_VALUES_MAX:
                return
        self.emit(name.rpartition("/")[2], iter(values))

    def _dataclass(self, made: Any, result: Any, in_library: bool) -> None:
        """A class was declared: if it looks like one of settings of the program's own, its instances are looked at."""
        kind = result if isinstance(result, type) else None
        module = sys.modules.get(getattr(kind, "__module__", ""), None)
        file = str(getattr(module, "__file__", None) or "")
        if kind is None or not SETTINGS_CLASS.search(kind.__name__) or module is None or file.startswith(self._libraries):
            return
        init = kind.__dict__.get("__init__")
        if isinstance(init, FunctionType):
            self._core.hook(init, kind.__module__, "instance", self._core.ALWAYS | self._core.QUIET, self._core.CONFIGURED)

    def _instance(self, thing: Any, result: Any, in_library: bool) -> None:
        name = type(thing).__name__
        self._instances[name] = self._instances.get(name, 0) + 1
        self.emit(name, flatten(thing, name))
        if self._instances[name] == INSTANCES_MAX:  # so many are no settings of the whole program
            self._core.unhook(type(thing).__init__)


# By module: (the object that has the function, or "" for the module; the function; who takes the result).
PLACES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "argparse": (("ArgumentParser", "parse_known_args", "argparse"), ("ArgumentParser", "parse_known_intermixed_args", "argparse")),
    "click.core": (("BaseCommand", "make_context", "click"), ("Command", "make_context", "click")),
    "absl.flags._flagvalues": (("FlagValues", "__call__", "absl"),),
    "hydra._internal.config_loader_impl": (("ConfigLoaderImpl", "load_configuration", "hydra"),),
    "omegaconf.omegaconf": (("OmegaConf", "create", "omegaconf"), ("OmegaConf", "load", "omegaconf"), ("OmegaConf", "merge", "omegaconf"),
                            ("OmegaConf", "from_cli", "omegaconf"), ("OmegaConf", "structured", "omegaconf")),
    "dataclasses": (("", "_process_class", "dataclass"),),
    "yaml": (("", "load", "file"), ("", "safe_load", "file"), ("", "full_load", "file")),
    "tomllib": (("", "load", "file"),),
    "tomli": (("", "load", "file"),),
    "json": (("", "load", "file"),),
}


def _hook(core: Any, module: str) -> None:
    for owner, name, taker in PLACES[module]:
        holder: Any = getattr(sys.modules[module], owner, None) if owner else sys.modules[module]
        function = holder.__dict__.get(name) if holder is not None else None
        function = getattr(function, "__func__", function)  # of a static method
        if isinstance(function, FunctionType):
            core.hook(function, module, taker, core.ALWAYS | core.QUIET, core.CONFIGURED)


def actions(core: Any, libraries: tuple[str, ...]) -> dict[str, Callable[[], None]]:
    """What is to be done when these modules are imported."""
    core.set_configured(Resolved(core, libraries).take)
    return {module: partial(_hook, core, module) for module in PLACES}
