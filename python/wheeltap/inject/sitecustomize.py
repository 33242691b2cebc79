# SPDX-License-Identifier: Apache-2.0
"""The way into an interpreter: `wheeltap record` puts this folder first in PYTHONPATH.

Takes itself out of sys.path, starts the agent, and then does what the interpreter would have done without us:
runs the sitecustomize that stands behind this one, or says that there is none. Nothing here may fail, in any
interpreter that finds its way here: this file is understood by Python 2 as well.
"""

import os
import sys


def _start():
    # type: () -> None
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if "WHEELTAP_AGENT" not in os.environ:
        return
    limit = _limit()
    if limit:
        _leave(os.environ["WHEELTAP_AGENT"], "its limit of %s is too small to share it with an agent" % limit)
        return
    refusal = _refusal()
    if refusal:  # before anything of the package is imported
        _leave(os.environ["WHEELTAP_AGENT"], refusal)
        return
    try:
        _attach(os.path.dirname(here))
    except Exception as problem:  # a guest never fails its host
        _complain(os.environ["WHEELTAP_AGENT"], problem)


# What the program must have for itself before we take a part of it: see src/collect/rlimits.c.
_LEAST = {"Max address space": 1 << 30, "Max data size": 1 << 30, "Max stack size": 1 << 20, "Max open files": 64}


def _limit():
    # type: () -> str
    """The limit that leaves no room for us. Nothing is imported to find it."""
    try:
        with open("/proc/self/limits") as file:
            for line in file:
                soft = line[26:].split()[0]
                if soft.isdigit() and int(soft) < _LEAST.get(line[:26].strip(), 0):
                    return line[4:26].strip()
    except (OSError, IOError, IndexError):
        pass
    return ""


def _name():
    # type: () -> str
    import platform

    return "%s %s (%s)" % (platform.python_implementation(), platform.python_version(), sys.executable)


def _refusal():
    # type: () -> str
    """Why there can be no agent for this interpreter."""
    kind = getattr(getattr(sys, "implementation", None), "name", "cpython")
    if kind != "cpython" or not (3, 9) <= sys.version_info[:2] <= (3, 14):
        return "%s is not supported: CPython 3.9 to 3.14 are" % _name()
    if "t" in getattr(sys, "abiflags", ""):
        return "%s is not supported: it is free-threaded, and the agent relies on the global interpreter lock" % _name()
    return ""


def _attach(package):
    # type: (str) -> None
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        "wheeltap", os.path.join(package, "__init__.py"), submodule_search_locations=[package])
    if spec is None or spec.loader is None or "wheeltap" in sys.modules:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["wheeltap"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["wheeltap"]
        raise
    module._attach()  # without an agent it can still be imported, and does nothing


def _complain(variable, problem):
    # type: (str, Exception) -> None
    """Leaves a line that the recorder shows if nobody joins."""
    if isinstance(problem, ImportError):
        line = "there is no agent for %s; build it with: wheeltap python add %s" % (_name(), sys.executable)
    else:
        line = "the agent failed in %s: %s: %s" % (_name(), type(problem).__name__, problem)
    _leave(variable, line)


def _leave(variable, line):
    # type: (str, str) -> None
    """Says to the recorder why there is no agent; nobody hears it if that fails, too."""
    try:
        _write(variable.partition(":")[2], line.replace("\n", " ")[:250].encode("utf-8", "replace") + b"\n")
    except (OSError, IOError, UnicodeError):
        pass


def _write(folder, line):
    # type: (str, bytes) -> None
    """The variable may outlive the recorder, and somebody else may make a folder of that name: the folder must be our
    own and closed to others, and the file must not be there yet, whatever it is."""
    here = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0))
    try:
        about = os.fstat(here)
        if about.st_uid != os.geteuid() or about.st_mode & 0o77:
            return
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        if sys.version_info[0] < 3:
            file = os.open("/proc/self/fd/%d/trouble" % here, how, 0o600)
        else:
            file = os.open("trouble", how, 0o600, dir_fd=here)
        try:
            os.write(file, line)
        finally:
            os.close(file)
    finally:
        os.close(here)


def _chain(name):
    # type: (str) -> None
    if sys.version_info[0] < 3:
        import imp

        imp.load_module(name, *imp.find_module("sitecustomize", sys.path))
        return
    import importlib.util
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


_start()
_chain(__name__)
