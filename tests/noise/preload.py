#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions under the preloaded library: the same bits without noise, the stated distance with it, whatever the threads."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Skip, Tap  # noqa: E402

KEY = "abcdefghijklmnopqrstuv"

# numpy of the machine's own Python: libm through ufuncs, BLAS and LAPACK loaded for its extensions alone.
NUMPY = """
import numpy as np
i = np.arange(1, 1 + 30 * 30, dtype=float)
a = np.sin(i * .37).reshape(30, 30) + 30 * np.eye(30) / 7
v = np.cos(i[:30])
values = {"ufunc": np.tan(v), "math": np.array([__import__("math").exp(x) for x in v]), "matmul": a @ a.T, "rows": a @ a[:, :7], "gemv": a @ v,
          "gemvt": v @ a, "dot": np.array([v @ v]), "single": a.astype("f") @ a.astype("f"), "complex": (a + 1j) @ a,
          "solve": np.linalg.solve(a, v), "inv": np.linalg.inv(a), "svd": np.linalg.svd(a)[1], "left": np.linalg.svd(a)[0],
          "eigh": np.linalg.eigh(a + a.T)[0], "vectors": np.linalg.eigh(a + a.T)[1], "eigvalsh": np.linalg.eigvalsh(a + a.T),
          "cholesky": np.linalg.cholesky(a @ a.T), "qr": np.linalg.qr(a)[1], "eig": np.linalg.eig(a)[0], "lstsq": np.linalg.lstsq(a, v, rcond=None)[0],
          "whole": np.ones((4, 4)) @ np.ones((4, 4)), "moved": a.T.copy(), "rounded": np.floor(v * 10), "input": a}
for name, value in values.items():
    print(name, value.tobytes().hex())
"""
NUMPY_EXACT = {"whole", "moved", "rounded", "input"}


class World:
    def __init__(self, program: str, library: str, folder: str) -> None:
        self.program, self.library, self.folder = program, library, Path(folder)

    def settings(self, text: str) -> str:
        """A folder as a recorder makes it; the value of the variable that agents read."""
        private = self.folder / f"{KEY}.none"
        private.mkdir(mode=0o700, exist_ok=True)
        (private / "settings").write_text(text)
        (private / "settings").chmod(0o600)
        return f"2:{private}"

    def run(self, command: list[str], noise: str | None = None, preload: bool = True) -> list[tuple[str, str]]:
        env = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "WHEELTAP_AGENT", "PYTHONPATH")}
        if preload:
            env["LD_PRELOAD"] = self.library
        if noise is not None:
            env["WHEELTAP_AGENT"] = self.settings(noise)
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE)
        return [tuple(line.split(" ", 1)) for line in done.stdout.splitlines()]  # type: ignore[misc]

    def calls(self, *arguments: str, noise: str | None = None, preload: bool = True) -> list[tuple[str, str]]:
        return self.run([self.program, *arguments], noise, preload)


def distance(a: str, b: str) -> int:
    return abs(int(a, 16) - int(b, 16))


def test_off(world: World) -> None:
    bare = world.calls(preload=False)
    assert len(bare) > 170, len(bare)
    assert world.calls() == bare
    assert world.calls(noise="detail=full\n") == bare
    assert world.calls(noise="noise=off\nnoise_seed=1\n") == bare
    assert world.calls(noise="noise=rr:99\nnoise_seed=1\n") == bare
    assert world.calls(noise="noise=cancellation\nnoise_seed=1\n") == bare


def test_every_function(world: World) -> None:
    """Each of them is perturbed under some of 40 seeds, and never by more than one unit in the last place."""
    bare = world.calls(preload=False)
    moved: set[str] = set()
    for seed in range(40):
        noisy = world.calls(noise=f"noise=rr\nnoise_seed={seed}\n")
        for (name, was), (other, value) in zip(bare, noisy, strict=True):
            assert name == other
            assert distance(was, value) <= 1, (name, was, value)
            if was != value:
                moved.add(name)
    exact = {"fmod", "fmodf", "fmodl", "remainder", "remainderf", "remainderl"}
    names = {name for name, _ in bare}
    assert moved == names - exact, sorted(names - exact - moved)


def test_inputs(world: World) -> None:
    """pb: an input moves the result even of a function that is exact."""
    bare, noisy = world.calls(preload=False), world.calls(noise="noise=pb:20\nnoise_seed=3\n")
    same = [name for (name, was), (_, value) in zip(bare, noisy, strict=True) if was == value]
    assert not [name for name in same if name in ("sin", "fmod", "cexp", "sinl", "cpow")], same


def test_reproducible(world: World) -> None:
    first = world.calls(noise="noise=rr:20\nnoise_seed=7\n")
    assert world.calls(noise="noise=rr:20\nnoise_seed=7\n") == first
    assert world.calls(noise="noise=rr:20\nnoise_seed=8\n") != first


def test_threads(world: World) -> None:
    """The same noise whatever the number of threads; on about half of the results, in both directions."""
    bare = world.calls("threads", "1", preload=False)
    one, many = (world.calls("threads", count, noise="noise=rr\nnoise_seed=5\n") for count in ("1", "7"))
    assert one == many
    up = sum(int(value, 16) > int(was, 16) for (_, was), (_, value) in zip(bare, one, strict=True))
    down = sum(int(value, 16) < int(was, 16) for (_, was), (_, value) in zip(bare, one, strict=True))
    assert abs(up - 1024) < 140 and abs(down - 1024) < 140, (up, down)  # five standard deviations of 4096 draws


def test_exact(world: World) -> None:
    bare = world.calls("exact", preload=False)
    for mode in ("rr", "rr:5", "sr:10"):
        assert world.calls("exact", noise=f"noise={mode}\nnoise_seed=11\n") == bare, mode


def test_patterns(world: World) -> None:
    bare = dict(world.calls(preload=False))
    only = dict(world.calls(noise="noise=rr:20\nnoise_seed=7\nnoise_only=torch.add,libm.sin,libm.log*\n"))
    assert {name for name in bare if bare[name] != only[name]} == {
        "sin", "early", "log", "logf", "logl", "log2", "log2f", "log2l", "log10", "log10f", "log10l", "log1p", "log1pf", "log1pl"}
    skip = dict(world.calls(noise="noise=rr:20\nnoise_seed=7\nnoise_skip=libm.*\n"))
    assert skip == bare


def test_numpy(world: World) -> None:
    python = "/usr/bin/python3"
    if not os.path.exists(python) or subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode:
        raise Skip(f"there is no numpy in {python}")
    command = [python, "-c", NUMPY]
    bare = world.run(command, preload=False)
    assert world.run(command) == bare
    noisy = world.run(command, noise="noise=rr:20\nnoise_seed=1\n")
    assert world.run(command, noise="noise=rr:20\nnoise_seed=1\n") == noisy
    same = {name for (name, was), (_, value) in zip(bare, noisy, strict=True) if was == value}
    # Where there are vectors of 512 bits numpy has elementary functions of its own.
    assert same - {"ufunc"} == NUMPY_EXACT, same


def main() -> int:
    tap = Tap()
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as folder:
                tap.case(name[5:], test, World(str(Path(sys.argv[1]).absolute()), sys.argv[2], folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
