#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages: a copy of the sources goes through dpkg-buildpackage, what comes out goes to dist/, and lintian judges it.

usage: packaging/deb.py [--output dist] BUILD

The copy is below BUILD: dpkg-buildpackage writes into its folder and beside it, and nothing of that belongs among the sources. Debug
packages are left away unless DEB_BUILD_OPTIONS is set. ccache is used where it is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from portable import ROOT, run  # noqa: E402

CCACHE = "/usr/lib/ccache"


def sources() -> "list[str]":
    """What git knows or would; without git, all but what is made by building."""
    asked = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    if asked.returncode == 0:
        return [name for name in asked.stdout.split("\0") if name and (ROOT / name).is_file()]
    made = [path for pattern in ("build*", "dist") for path in ROOT.glob(pattern)]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and not any(path.is_relative_to(folder) for folder in made)]


def copy_sources(target: Path) -> None:
    for name in sources():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)


def environment() -> "dict[str, str]":
    variables = {**os.environ, "DEB_BUILD_OPTIONS": os.environ.get("DEB_BUILD_OPTIONS", "noautodbgsym")}
    if os.path.isdir(CCACHE):
        variables["PATH"] = f"{CCACHE}:{variables['PATH']}"
        variables.setdefault("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))  # debhelper gives its programs a HOME of their own
    return variables


def judge(changes: Path) -> bool:
    """Prints what lintian finds; overrides are in debian/, each with its reason."""
    if not shutil.which("lintian"):
        print("lintian is not installed: the packages are not judged")
        return True
    done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", "--tag-display-limit", "0", changes], stdin=subprocess.DEVNULL)
    print("lintian: no errors, no warnings" if done.returncode == 0 else "lintian: see above")
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="make the Debian packages")
    parser.add_argument("--output", default="dist")
    parser.add_argument("build")
    options = parser.parse_args()
    build, output = Path(options.build).resolve(), Path(options.output)
    shutil.rmtree(build, ignore_errors=True)
    copy_sources(build / "wheeltap")
    log = build / "log"
    with log.open("w") as out:
        done = subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc"], cwd=build / "wheeltap", env=environment(), stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.STDOUT)
    if done.returncode:
        run("tail", "-n", "30", log)
        sys.exit(f"packaging: dpkg-buildpackage failed; all that it printed is in '{log}'")
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted(build.glob("*.deb")):
        print(f"{output / path.name}: {path.stat().st_size / 1e6:.2f} MB")
        shutil.copyfile(path, output / path.name)
    return 0 if judge(next(build.glob("*.changes"))) else 1


if __name__ == "__main__":
    sys.exit(main())
