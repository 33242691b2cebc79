# SPDX-License-Identifier: Apache-2.0
"""Recording a program that was not started by `wheeltap record`.

A recorder is started beside the program, over a child that does nothing but wait for our end: it closes when we do, however
that happens. The agent in this process then joins that recorder as it would have joined one above it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import Any, Optional

from ._program import program

# Leaves the variable, which the agent needs, and lives as long as its standard input is open.
CHILD = 'echo "$WHEELTAP_AGENT"; exec cat >/dev/null'
PATIENCE_S = 60.0


class Watch:
    """A recording of this process. `path` is the folder of the run; None where `wheeltap record` records, or nobody does."""

    def __init__(self, path: Optional[str] = None, recorder: Optional[subprocess.Popen[str]] = None, why: str = "") -> None:
        self.path = path
        self.why = why  # nothing is recorded: the reason
        self._recorder = recorder

    def __repr__(self) -> str:
        return f"<wheeltap.Watch {self.path or self.why or 'of the recorder that started this program'}>"

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *unused: object) -> None:
        self.finish()

    def finish(self) -> Optional[str]:
        """Ends the recording that was started here, and waits until the run is complete. Its folder."""
        if self._recorder is None:
            return self.path
        import wheeltap

        wheeltap.stop()
        recorder, self._recorder = self._recorder, None
        assert recorder.stdin is not None
        recorder.stdin.close()
        try:
            recorder.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.why = f"the recorder did not end within {PATIENCE_S:.0f} s"
        return self.path


def _folder(output: Optional[str]) -> str:
    if output is not None:
        return os.path.abspath(output)
    from . import _find

    name = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0] or "watched"
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return os.path.abspath(os.path.join(_find.home(), f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)}-{stamp}-{os.getpid()}"))


def _command(path: str, folder: str, options: dict[str, Any]) -> list[str]:
    words = [path, "record", "-q", "-o", folder]
    for key, value in options.items():
        words += [f"--{key.replace('_', '-')}={value}"]
    return [*words, "--", "sh", "-c", CHILD, *getattr(sys, "orig_argv", sys.argv)]


def _start_recorder(folder: str, options: dict[str, Any]) -> Watch:
    path = program()
    if path is None:
        return Watch(why="the program wheeltap is not installed beside its Python package")
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    # In a session of its own: an interrupt from the terminal is the program's, and the recorder ends when the program does.
    recorder = subprocess.Popen(_command(path, folder, options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, start_new_session=True)
    assert recorder.stdout is not None and recorder.stderr is not None
    variable = recorder.stdout.readline().strip()
    if not variable:
        said = recorder.stderr.read(4096).strip()
        return Watch(why=said or "the recorder did not start")
    os.environ["WHEELTAP_AGENT"] = variable
    return Watch(folder, recorder)


def watch(model: object, output: Optional[str], options: dict[str, Any]) -> Watch:
    import wheeltap

    if wheeltap.start():
        return Watch()
    if "WHEELTAP_AGENT" in os.environ:
        return Watch(why="there is no agent for this interpreter; build it with: wheeltap python add " + sys.executable)
    watched = _start_recorder(_folder(output), options)
    if watched.path is not None and not wheeltap.start():
        watched.finish()
        os.environ.pop("WHEELTAP_AGENT", None)
        return Watch(why="there is no agent for this interpreter; build it with: wheeltap python add " + sys.executable)
    return watched
