#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes C arrays of files: embed.py OUTPUT FILE... ; page.css becomes `wti_page_css`."""

import sys
from pathlib import Path


def array(path: Path) -> str:
    name = "wti_" + path.name.replace(".", "_")
    data = path.read_bytes()
    rows = [",".join(str(byte) for byte in data[i : i + 24]) for i in range(0, len(data), 24)]
    return f"static const unsigned char {name}[{len(data)}] = {{\n" + ",\n".join(rows) + "};\n"


Path(sys.argv[1]).write_text("/* Made by embed.py. */\n" + "".join(array(Path(name)) for name in sys.argv[2:]))
