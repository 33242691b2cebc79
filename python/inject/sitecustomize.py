# SPDX-License-Identifier: Apache-2.0
"""The way into an interpreter: `wheeltap record` puts this folder first in PYTHONPATH.

Takes itself out of sys.path, starts the agent, and then does what the interpreter would have done without us:
runs the sitecustomize that stands behind this one, or says that there is none. Nothing here may fail.
"""


def _start() -> None:
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if "WHEELTAP_AGENT" not in os.environ:
        return
    package = os.path.join(os.path.dirname(here), "wheeltap")
    try:
        import importlib.util

        spec = importlib.util.spec_from_file_location(
            "wheeltap", os.path.join(package, "__init__.py"), submodule_search_locations=[package])
        if spec is None or spec.loader is None or "wheeltap" in sys.modules:
            return
        module = importlib.util.module_from_spec(spec)
        sys.modules["wheeltap"] = module
        spec.loader.exec_module(module)
        module._attach()
    except Exception as problem:  # a guest never fails its host
        sys.modules.pop("wheeltap", None)
        _complain(os.environ["WHEELTAP_AGENT"], problem)


def _complain(variable: str, problem: Exception) -> None:
    """Leaves a line that the recorder shows if nobody joins."""
    import os
    import platform
    import sys

    name = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if isinstance(problem, ImportError):
        line = f"there is no agent for {name}; make it with: wheeltap python add {sys.executable}"
    else:
        line = f"the agent failed in {name}: {type(problem).__name__}: {problem}"
    try:
        with open(os.path.join(variable.partition(":")[2], "trouble"), "w", encoding="utf-8") as file:
            file.write(line.replace("\n", " ")[:250] + "\n")
    except OSError:
        pass


def _chain(name: str) -> None:
    import importlib.util
    import sys
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


_start()
_chain(__name__)
