#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small training program in Python that does on request one thing differently, for test_golden.py.

usage: seeded.py [FAULT], in a folder with settings.txt and data.bin
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
STEPS = 30


def batch(step: int) -> bytes:
    with open("data.bin", "rb", buffering=0) as data:
        data.seek(64 * step)
        return data.read(64)


def save(weights: list[float], step: int) -> None:
    """Written beside its place, then moved there: all of it or nothing."""
    text = json.dumps({"step": 0, "weights": [0.5] * len(weights)})
    name = "model.json" if FAULT == "in-place" else "model.json.new"
    with open(name, "w", encoding="utf-8") as file:
        file.write(text * (2 if FAULT == "doubled-writes" else 1))
        if FAULT != "no-fsync":
            file.flush()
            os.fsync(file.fileno())
    if FAULT != "in-place":
        os.replace(name, "model.json")
    if FAULT == "left-behind" and step == STEPS - 1:
        open("model.json.old", "w", encoding="utf-8").close()


def train() -> None:
    weights = [random.random() for _ in range(8)]
    with tempfile.TemporaryDirectory() as scratch, open("log.txt", "w", buffering=1, encoding="utf-8") as log:
        for step in range(STEPS):
            gradient = sum(batch(step)) / 64
            weights = [weight - 0.1 * gradient for weight in weights]
            with open(os.path.join(scratch, f"step-{step % 3}"), "w", encoding="utf-8") as file:
                file.write("x" * 100)
            print("step", step, file=log)
            if FAULT == "open-every-step":
                open("settings.txt", encoding="utf-8").close()
            if step % 10 == 9:
                save(weights, step)


def main() -> None:
    with open("settings.txt", encoding="utf-8") as file:
        file.read()
    train()
    if FAULT == "import":
        import wave  # noqa: F401
    subprocess.run(["/bin/true"], check=True)
    if FAULT == "program":
        subprocess.run(["/usr/bin/env", "true"], check=True)
    print("done")


main()
