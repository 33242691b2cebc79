#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Model files of the libraries that define the formats, read here, and ours read there.

usage: test_model_peers.py WHEELTAP

numpy and torch are Debian's. The packages safetensors, gguf and onnx are looked for in the interpreter that WHEELTAP_PEERS names, such as
that of a virtual environment; what it does not have is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, PYTHON, Scratch, environment, skip  # noqa: E402

HERE = Path(__file__).resolve().parent
PEERS = ("numpy", "torch", "safetensors", "gguf", "onnx")


def main() -> int:
    program = str(Path(sys.argv[1]).resolve())
    interpreters = [PYTHON, *filter(None, [os.environ.get("WHEELTAP_PEERS")])]
    tried, failed = 0, 0
    for peer in PEERS:
        able = [one for one in interpreters if subprocess.run([one, "-c", f"import numpy, {peer}"], capture_output=True, timeout=PATIENCE).returncode == 0]
        if not able:
            print(f"{peer}: skipped: no interpreter has it (WHEELTAP_PEERS names one)")
            continue
        with Scratch() as folder:
            done = subprocess.run([able[0], HERE / "model_peer.py", program, peer], cwd=folder, env=environment(), timeout=PATIENCE)
        tried += 1
        failed += done.returncode != 0
        print(f"{peer}: {'failed' if done.returncode else 'ok'}", flush=True)
    if not tried:
        skip("no interpreter has numpy")
    return failed


if __name__ == "__main__":
    sys.exit(main())
