# SPDX-License-Identifier: Apache-2.0
"""The inputs of the seeded programs."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness import Bench


def work_folder(bench: Bench) -> Path:
    """A folder with them, as new."""
    folder = bench.folder / "here"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "settings.txt").write_text("lr = 0.1\n")
    (folder / "data.bin").write_bytes(bytes(8192))
    (folder / "data2.bin").write_bytes(bytes(8192))
    return folder
