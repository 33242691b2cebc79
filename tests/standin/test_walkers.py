# SPDX-License-Identifier: Apache-2.0
"""Our table of record lengths against the walkers of real libraries of CUPTI, from NVIDIA's packages. Skipped where there is no index of
packages. usage: test_walkers.py BUILD"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE, Tap, environment, skip_all  # noqa: E402

BUILD = Path(sys.argv[1]).resolve()
KEPT = BUILD / "tests/standin/packages"  # over runs: each is 10 MB
PACKAGES = [("nvidia-cuda-cupti-cu11==11.8.87", 18), ("nvidia-cuda-cupti-cu12==12.9.79", 28), ("nvidia-cuda-cupti==13.0.85", 130001)]


def library(package: str) -> Path | None:
    """The library of this package, or None if the package cannot be had."""
    folder = KEPT / package.replace("==", "-")
    if not folder.exists():
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--timeout", "10", "--retries", "0",
                               "--only-binary", ":all:", "--dest", str(folder), package],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE, env=environment())
        if done.returncode:
            return None
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            for name in wheel.namelist():
                if Path(name).name.startswith("libcupti.so"):
                    wheel.extract(name, folder)
    return next(iter(sorted(folder.glob("**/libcupti.so*"))), None)


tap = Tap()
for package, version in PACKAGES:
    found = library(package)
    if not found:
        skip_all(f"{package} cannot be downloaded")
    done = subprocess.run([BUILD / "tests/standin/standin_walkers", found], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE)
    said = done.stdout.split()
    tap.equal(f"{package}: every record is where we expect it", done.returncode, 0, done.stdout, done.stderr)
    tap.equal(f"{package}: it is the version that the table has", said[1:2], [f"{version}:"], done.stdout)
    tap.check(f"{package}: many records were compared", len(said) > 2 and int(said[2]) > 10_000, done.stdout)
sys.exit(tap.finish())
