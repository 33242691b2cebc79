#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs wheeltap on small traces with known figures. usage: test_cli.py WHEELTAP MAKE_TRACE SOURCE"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import cases_config
import cases_damage
import cases_figures
import cases_help
import cases_runs
import cases_slips
import cases_timeline
import cases_view
from bench import Bench
from harness import Scratch, Tap


def main() -> int:
    program, make_trace, source = (Path(word).resolve() for word in sys.argv[1:4])
    tap = Tap()
    for module in (cases_help, cases_config, cases_figures, cases_timeline, cases_view, cases_damage, cases_runs, cases_slips):
        for name in [n for n in vars(module) if n.startswith("test_")]:
            with Scratch() as folder:
                tap.case(name[5:], vars(module)[name], Bench(program, make_trace, source, folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
