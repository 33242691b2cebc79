# SPDX-License-Identifier: Apache-2.0
"""The programs that the tests of `wheeltap record` run, and what check_sequences reads in a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness import BUILD, PATIENCE

PROGRAMS = BUILD / "tests" / "record"
PUBLISHER = str(PROGRAMS / "record_publisher")
FAMILY = str(PROGRAMS / "record_family")
TALKER = str(PROGRAMS / "record_talker")
NEWER = str(PROGRAMS / "record_newer")
CLIENT = str(BUILD / "src" / "agents" / "client" / "libwheeltap-client.so")
CASES = str(BUILD / "tests" / "programs" / "cases")
CHECK = str(PROGRAMS / "check_sequences")


def tracks(run: Path, *how: str) -> list[dict[str, str]]:
    """One entry a track, after the proof that no sequence number is missing ("cut": but at the end)."""
    done = subprocess.run([CHECK, str(run), *how], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"check_sequences: {done.stdout}"
    found = []
    for line in done.stdout.splitlines():
        words = line.split()
        found.append({"file": words[0], **dict(zip(words[1::2], words[2::2])), "broken": str(words[-1] == "broken")})
    return found
