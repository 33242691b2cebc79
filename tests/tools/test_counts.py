#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tools/test must count exactly, whatever way a test ends, and never call nothing a success."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, Tap  # noqa: E402

TOOL = Path(__file__).resolve().parents[2] / "tools" / "test"

TESTS = {
    "good": ("exit 0", "exitcode"),
    "bad": ("echo the reason of bad; exit 3", "exitcode"),
    "skip": ("echo the reason of skip; exit 77", "exitcode"),
    "crash": ("kill -SEGV $$", "exitcode"),
    "slow": ("sleep 1000", "exitcode"),
    "tap_good": ("echo ok 1 - a; echo 'ok 2 - b # SKIP the reason of b'; echo ok 3; echo 1..3", "tap"),
    "tap_bad": ("echo ok 1; echo not ok 2 - x; echo not ok 3 - y; echo 1..3; exit 1", "tap"),
    "tap_cut": ("echo ok 1; echo 1..2", "tap"),
    "tap_none": ("echo '1..0 # SKIP the reason of none'", "tap"),
    "no_stdin": ("read line && exit 1; exit 0", "exitcode"),
}


def project(folder: Path, names: list[str]) -> Path:
    lines = ["project('sample')", "sh = find_program('sh')"]
    for name in names:
        script, protocol = TESTS[name]
        (folder / f"{name}.sh").write_text(script + "\n")
        lines.append(f"test('{name}', sh, args: files('{name}.sh'), protocol: '{protocol}', timeout: {1 if name == 'slow' else 60}, suite: 'x')")
    (folder / "meson.build").write_text("\n".join(lines) + "\n")
    subprocess.run(["meson", "setup", "build", "."], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "build"


def run(names: list[str]) -> tuple[int, list[str]]:
    with Scratch() as folder:
        build = project(folder, names)
        done = subprocess.run([TOOL, "--no-asan", build], stdout=subprocess.PIPE, timeout=PATIENCE, text=True,
                              env={**os.environ, "WHEELTAP_TEST_PATIENCE": "0.4"})  # two seconds for what hangs on purpose
        return done.returncode, done.stdout.splitlines()


SANITIZED = """
project('sample', 'c')
test('tested', executable('tested', 'tested.c'), suite: 'unit')
executable('other', 'other.c')
"""


def sanitized(tap: Tap) -> None:
    """The second build is of what its tests run, and of nothing else."""
    with Scratch() as folder:
        (folder / "meson.build").write_text(SANITIZED)
        (folder / "meson_options.txt").write_text("option('werror_dev', type: 'boolean', value: true)\n")
        (folder / "tested.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
        (folder / "other.c").write_text("#ifdef __SANITIZE_ADDRESS__\n#error not to be built\n#endif\nint main(void)\n{\n\treturn 0;\n}\n")
        (folder / "tools").mkdir()
        tool = Path(shutil.copy(TOOL, folder / "tools"))  # which sets up the sources beside it
        subprocess.run(["meson", "setup", "build", "."], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([tool, folder / "build"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, text=True)
        tap.equal("sanitized: what no test runs is not built", (done.returncode, done.stdout.splitlines()[-1]),
                  (0, "2 passed, 0 failed, 0 skipped"), done.stdout)


def refused(tap: Tap, patience: str) -> None:
    done = subprocess.run([TOOL, "--no-asan", "nowhere"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, text=True,
                          env={**os.environ, "WHEELTAP_TEST_PATIENCE": patience})
    good = done.returncode == 1 and f"WHEELTAP_TEST_PATIENCE is '{patience}'" in done.stderr and not done.stdout
    tap.check(f"a patience of '{patience}' is refused", good)


def expect(tap: Tap, names: list[str], status: int, last: str, *shown: str) -> None:
    actual_status, lines = run(names)
    missing = [text for text in shown if not any(text in line for line in lines)]
    good = actual_status == status and lines[-1] == last and not missing
    tap.check(" ".join(names) or "nothing", good, f"status {actual_status}, last line '{lines[-1]}', should be {status}, '{last}'; not shown: {missing}")


def main() -> int:
    tap = Tap()
    expect(tap, ["good", "no_stdin"], 0, "2 passed, 0 failed, 0 skipped")
    expect(tap, list(TESTS), 1, "6 passed, 6 failed, 3 skipped", "the reason of bad", "skipped plain skip: the reason of skip",
           "tap_good/b: the reason of b", "tap_none: the reason of none", "FAILED plain slow (timeout")
    expect(tap, ["skip"], 1, "0 passed, 0 failed, 1 skipped", "no test ran")
    expect(tap, [], 1, "0 passed, 0 failed, 0 skipped", "no test ran")
    sanitized(tap)
    refused(tap, "long")
    refused(tap, "-1")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
