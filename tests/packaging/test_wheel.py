#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A wheel, in a fresh environment of each interpreter, with no compiler in sight: installed, used, removed without a trace.

usage: test_wheel.py WHEEL PYTHON...

Nothing is fetched. Where an interpreter has torch, its packages are visible in the environment, and a training program is recorded
and judged. `make trywheel` runs it with every interpreter that is found.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

WHEEL = Path(sys.argv.pop(1)).resolve()
PYTHONS = [sys.argv.pop(1) for _ in sys.argv[1:]]
PATIENCE = 900

PROGRAM = """
import wheeltap
for n in range(5):
    wheeltap.step(n)
    wheeltap.log(loss=1.0 / (n + 1))
print("recording", wheeltap.recording(), wheeltap.__file__)
"""
READ = """
import sys, wheeltap
run = wheeltap.open(sys.argv[1])
print(run.status, [row["value"] for row in run.losses.rows()][:2])
"""
TRAIN = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(0)
for _ in range(6):
    model(torch.randn(16, 4)).pow(2).mean().backward()
    optimizer.step()
"""


class Environment:
    """A virtual environment that sees its own programs only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = str(folder / "bin" / "python")
        self.variables = {"PATH": str(folder / "bin"), "HOME": str(folder.parent / "home"), "LANG": "C",
                          "WHEELTAP_HOME": str(folder.parent / "runs"), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}

    @staticmethod
    def make(python: str, folder: Path, with_site: bool = False) -> Environment:
        subprocess.run([python, "-m", "venv", *(["--system-site-packages"] if with_site else []), str(folder)], check=True)
        return Environment(folder)

    @staticmethod
    def relocate(prefix: str, folder: Path) -> Environment:
        """As conda does: the interpreter itself, with its libraries beside it, in another place than it was made for."""
        shutil.copytree(prefix, folder, symlinks=True, ignore=shutil.ignore_patterns("test", "__pycache__", "config-*", "idlelib", "share"))
        moved = Environment(folder)
        moved.variables["LD_LIBRARY_PATH"] = str(folder / "lib")  # conda's interpreter finds it by itself
        return moved

    def run(self, *command: str, code: int = 0) -> str:
        done = subprocess.run(command, env=self.variables, cwd=self.folder.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def files(self) -> set[str]:
        """pip removes files; folders that others may share (share/man) it leaves empty."""
        return {str(path) for path in self.folder.rglob("*") if path.is_file() and "/pip" not in str(path) and "__pycache__" not in path.parts[-2]
                and path.name != "__pycache__"}


def prefix_of(python: str) -> str:
    return subprocess.run([python, "-c", "import sys; print(sys.base_prefix)"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="wheeltap-wheel-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)

    def environments(self, with_site: bool = False) -> list[Environment]:
        return [Environment.make(python, self.scratch / str(number) / "venv", with_site) for number, python in enumerate(PYTHONS)]

    def test_contents(self) -> None:
        """Licences of all that is linked in, type hints, and no file of this machine's paths."""
        with zipfile.ZipFile(WHEEL) as wheel:
            names = wheel.namelist()
            self.assertIn("wheeltap/py.typed", names)
            self.assertIn("wheeltap/bin/wheeltap", names)
            licences = [name for name in names if "dist-info/licenses/" in name]
            for package in ("LICENSE", "REBUILDING", "libzstd", "libsqlite3", "libsodium", "libdw", "zlib1g"):
                self.assertTrue(any(package in name for name in licences), licences)

    def test_life(self) -> None:
        for env in self.environments():
            self.live(env)

    def test_relocated(self) -> None:
        own = [prefix for prefix in map(prefix_of, PYTHONS) if prefix != "/usr" and os.path.exists(f"{prefix}/bin/python")]
        if not own:
            self.skipTest("none of the interpreters has a folder of its own")
        self.live(Environment.relocate(own[-1], self.scratch / "envs" / "moved"))

    def live(self, env: Environment) -> None:
        """Installed, used, removed."""
        before = env.files()
        env.run(env.python, "-m", "pip", "install", "-q", str(WHEEL))
        self.assertIn("wheeltap 0.", env.run("wheeltap", "version"))
        self.assertEqual(env.run(env.python, "-m", "wheeltap", "version"), env.run("wheeltap", "version"))
        about = json.loads(env.run("wheeltap", "version", "--verbose", "--json"))
        version = env.run(env.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        self.assertIn(version, about["agents"].split(", "))
        (env.folder.parent / "program.py").write_text(PROGRAM)
        said = env.run("wheeltap", "record", "-o", "run", "--", "python", "program.py")
        self.assertIn(f"recording True {env.folder}", said)
        self.assertIn("nothing lost", said)
        self.assertEqual(env.run(env.python, "-c", READ, "run"), "finished [1.0, 0.5]\n")
        env.run(env.python, "-m", "pip", "uninstall", "-q", "-y", "wheeltap")
        self.assertEqual(env.files() - before, set())

    def test_other_interpreter(self) -> None:
        """The recorder of one environment records the programs of another, and leaves nothing there."""
        recorder, *others = self.environments()
        before = recorder.files()
        recorder.run(recorder.python, "-m", "pip", "install", "-q", str(WHEEL))
        (recorder.folder.parent / "program.py").write_text(PROGRAM)
        for number, other in enumerate(others):
            said = recorder.run("wheeltap", "record", "-o", f"run{number}", "--", other.python, "program.py")
            self.assertIn(f"recording True {recorder.folder}", said)
        recorder.run(recorder.python, "-m", "pip", "uninstall", "-q", "-y", "wheeltap")
        self.assertEqual(recorder.files() - before, set())
        self.assertEqual(list(recorder.folder.rglob("*wheeltap*")), [])

    def test_torch(self) -> None:
        """`try` needs nothing but torch in the same environment; without a compiler the shim is said to be missing."""
        tried = 0
        for env in self.environments(with_site=True):
            if "True" not in env.run(env.python, "-c", "import importlib.util as u; print(u.find_spec('torch') is not None)"):
                continue
            tried += 1
            env.run(env.python, "-m", "pip", "install", "-q", str(WHEEL))
            said = env.run("wheeltap", "try", "left_in_eval")
            self.assertIn("No problems found", said)
            self.assertIn("evaluation mode", said)
            (env.folder.parent / "train.py").write_text(TRAIN)
            said = env.run("wheeltap", "record", "--detail", "full", "-o", "full", "--", "python", "train.py")
            self.assertTrue("no C++ compiler was found" in said or "shim" not in said, said)
            env.run("wheeltap", "doctor", "full", code=1)
        if not tried:
            self.skipTest("none of the interpreters has torch")


if __name__ == "__main__":
    unittest.main()
