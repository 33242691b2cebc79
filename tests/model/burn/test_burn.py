#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Burn itself and wheeltap, in both directions: what either writes the other reads, bit by bit.

usage: test_burn.py WHEELTAP FOLDER [VERSION...]

Builds peer.rs with each version of Burn (v0_17, v0_21), which takes minutes and a registry of crates; skipped with a word where cargo or the
registry is missing. FOLDER keeps what cargo built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# What each form is written as, and what that has to be equal to.
REWRITTEN = {"bin": "bin", "mpk": "mpk", "bin.gz": "bin", "mpk.gz": "mpk", "json": "mpk", "json.gz": "mpk"}


def call(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build(version: str, folder: Path) -> Path:
    """The peer, or the end of the program."""
    if not shutil.which("cargo"):
        print("skipped: there is no cargo")
        sys.exit(SKIPPED)
    manifest = HERE / version / "Cargo.toml"
    if call("cargo", "fetch", "--manifest-path", manifest).returncode:
        print("skipped: cargo cannot fetch Burn")
        sys.exit(SKIPPED)
    os.environ["CARGO_TARGET_DIR"] = str(folder / version)
    done = call("cargo", "build", "--release", "-j1", "--manifest-path", manifest)
    if done.returncode:
        sys.exit(f"{version}: Burn does not build:\n{done.stdout[-3000:]}")
    return folder / version / "release" / "peer"


class Both:
    def __init__(self, wheeltap: str, version: str, peer: Path, folder: Path) -> None:
        self.wheeltap, self.version, self.peer, self.folder = wheeltap, version, peer, folder
        self.good = self.bad = 0

    def check(self, what: str, done: subprocess.CompletedProcess[str] | bool) -> None:
        good = done if isinstance(done, bool) else done.returncode == 0
        self.good, self.bad = self.good + good, self.bad + (not good)
        if not good:
            print(f"not ok: {self.version}: {what}\n{'' if isinstance(done, bool) else done.stdout[-1000:]}")

    def read(self) -> None:
        for path in sorted(self.folder.iterdir()):
            self.check(f"{path.name} is read", call(self.wheeltap, "model", "inspect", path))

    def rewrite(self, module: str) -> None:
        """Each form to the one that it has to give again: Burn's own bytes, which Burn loads."""
        for form, to in REWRITTEN.items():
            source, original = self.folder / f"{module}-full.{form}", self.folder / f"{module}-full.{to}"
            output = self.folder / f"ours-{module}-{form.replace('.', '-')}.{to}"
            self.check(f"{source.name} is written as .{to}", call(self.wheeltap, "model", "convert", source, output))
            if output.exists():
                self.check(f"{output.name} is Burn's own bytes", output.read_bytes() == original.read_bytes())
                self.check(f"Burn loads {output.name}", call(self.peer, "same", module, output, original))

    def convert(self, module: str) -> None:
        """From one form to the other, with names and numbers of a file that has them."""
        for form, to in (("mpk", "bin"), ("bin", "mpk"), ("bpk", "mpk"), ("safetensors", "mpk")):
            source, original = self.folder / f"{module}-full.{form}", self.folder / f"{module}-full.{to}"
            output = self.folder / f"like-{module}-{form}.{to}"
            if not source.exists() or (module == "zoo" and form in ("bpk", "safetensors")):
                continue  # those have integers of another width
            self.check(f"{source.name} becomes .{to}", call(self.wheeltap, "model", "convert", source, output, "--like", original))
            if output.exists():
                self.check(f"Burn loads {output.name}", call(self.peer, "same", module, output, original))


def main() -> int:
    wheeltap, target = sys.argv[1], Path(sys.argv[2]).resolve()
    bad = 0
    for version in sys.argv[3:] or ["v0_17", "v0_21"]:
        peer = build(version, target)
        with tempfile.TemporaryDirectory(prefix="wheeltap-burn-") as name:
            both = Both(wheeltap, version, peer, Path(name))
            both.check("Burn writes", call(peer, "write", name))
            both.read()
            for module in ("tiny", "zoo"):
                both.rewrite(module)
                both.convert(module)
            print(f"{version}: {both.good} passed, {both.bad} failed")
            bad += both.bad
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
