#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is printed for people fits the terminal that it is printed to: through every verb, at several widths and locales.

usage: test_width.py WHEELTAP SOURCE [VERB...]

The runs have long texts everywhere: names of spans and functions, paths, commands (hostile.py makes them). What must hold of
each line: it is no wider than the terminal, unless it is one word, which is not broken; it ends in no space; where the
locale has no UTF-8 it is ASCII. And what somebody types into the next command is there as a whole.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import hostile  # noqa: E402
import models  # noqa: E402
from harness import PATIENCE, Scratch, environment, on_terminal  # noqa: E402

WIDTHS = (60, 80, 120)
LOCALES = {"C.UTF-8": {"LC_ALL": "C.UTF-8"}, "C": {"LC_ALL": "C"}, "POSIX in LANG": {"LANG": "POSIX"}, "none": {}}
PATH = "data/somebody/projects/translation/experiments/encoder_decoder.py"
TEXT = PATH + " of a long name, with words"
RUN = "a-run-with-a-name-that-somebody-made-rather-long-20260102-030405"
CODES = re.compile(r"\x1b\[\d*m")
RULE = "WT-GRAD-001"

# By verb: command lines, each with what has to be in the output as it is.
CASES: dict[str, list[tuple[str, list[str]]]] = {
    "ls": [("", [RUN]), ("--names", [RUN]), ("duration>=0 --sort events --all", []), ("stauts=failed", ["status"])],
    "trend": [("", ["duration"]), ("duration", []), ("events --by commit", []), ("no_such_metric_of_quite_a_long_name_that_is_not_cut", [])],
    "compare": [("RUN OTHER", []), ("RUN OTHER --all", [])],
    "tests": [("kinds", []), ("RUN", []), ("--history", [])],
    "tag": [("RUN", [RUN]), ("RUN a/rather/long.tag-that:somebody@gave_it", [RUN])],
    "info": [("RUN", [RUN, PATH]), ("kinds", []), ("sim", []), ("not-there-and-with-quite-a-long-name-that-is-not-cut", [])],
    "view": [("RUN", [PATH]), ("sim --limit 50", []), ("kinds --limit 200", [])],
    "stat": [("RUN", [PATH]), ("RUN --by module", [PATH]), ("RUN --by site", [PATH]), ("RUN --by track", [PATH]), ("RUN --by step", []),
             ("RUN --by kind", []), ("RUN --by function", [PATH]), ("RUN --syscalls", []), ("RUN --syscalls --by process", []),
             ("RUN --syscalls --percentiles", []), ("RUN --critical-path", []), ("sim", []), ("kinds", []),
             ("sim --device", []), ("sim --device --what-if *=1", []), ("kinds --device", [])],
    "timeline": [("RUN", []), ("sim", []), ("kinds", [])],
    "doctor": [("RUN", []), ("RUN --all", [RULE]), ("kinds", []), ("kinds --all", [RULE])],
    "check": [("-i pack.json RUN", []), ("-i pack.json --all RUN", [PATH]), ("-i imported.json theirs", [PATH])],
    "pack": [("show pack.json", [PATH]), ("lint pack.json", []), ("explain pack.json order-*", ["pack.json"])],
    "diff": [("calls other-calls", [PATH]), ("calls other-calls --all", [PATH]), ("other-calls calls --raw", [PATH]), ("RUN OTHER", [RUN]),
             ("RUN OTHER --tensors", [])],
    "rerun": [("RUN", [])],
    "digits": [("RUN OTHER --compare", []), ("RUN", []), ("RUN OTHER --compare --by site", []), ("kinds", [])],
    "golden": [("check kept other-calls", [PATH]), ("check kept calls", []), ("check kept RUN", []), ("show kept", [])],
    "gate": [("-c gate.toml RUN", [PATH]), ("-c not-there.toml RUN", [])],
    "dataset": [("inspect rows.csv", [PATH]), ("inspect rows.csv rows.csv", [PATH]), ("make no-such-set", []), ("inspect not-there", [])],
    "model": [("inspect model", [PATH]), ("verify model", [PATH]), ("diff model other", [PATH]), ("verify pack.json", []), ("inspect not-there", [])],
    "replay": [("kinds --mode dry-run", []), ("kinds", []), ("RUN", [])],
    "explain": [("", [RULE, "WT-OPT-001"]), (RULE, [RULE]), ("WT-DDP-001", []), ("WT-GRAD-0001", [RULE])],
    "clean": [("--keep 0 --dry-run", [RUN])],
    "env": [("", [])],
    "try": [("", ["left_in_eval"])],
    "help": [("", [])] + [(verb, []) for verb in ("record", "stat", "view", "doctor", "pack", "export", "infer")],
    "version": [("", [])],
}
# Columns of another tool (strace -c); names that are anything at all.
FIXED = ("--syscalls",)
FOREIGN = ("kinds",)
# They print no more than where something was written, or run a program; a report is Markdown for other programs.
SILENT = {"record", "python", "sim", "export", "infer", "import", "report"}


@dataclass
class Bench:
    program: Path
    folder: Path
    failures: int = 0
    lines: int = 0

    def environment(self, locale: dict[str, str]) -> dict[str, str]:
        clean = {k: v for k, v in environment().items() if k not in ("LANG", "LANGUAGE", "WHEELTAP_PYTHON") and not k.startswith("LC_")}
        return clean | {"TERM": "xterm", "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)} | locale

    def words(self, verb: str, line: str) -> list[str]:
        return [str(self.program), verb, *({"RUN": RUN, "OTHER": "other-run"}.get(word, word) for word in line.split())]

    def piped(self, verb: str, line: str, locale: dict[str, str]) -> bytes:
        done = subprocess.run(self.words(verb, line), stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder,
                              env=self.environment(locale), timeout=PATIENCE)
        return done.stdout + done.stderr

    def shown(self, verb: str, line: str, locale: dict[str, str], width: int) -> bytes:
        """What a terminal of that width gets, of both outputs."""
        return on_terminal(self.words(verb, line), width, cwd=self.folder, env=self.environment(locale)).replace(b"\r\n", b"\n")

    def fail(self, words: object, why: str) -> None:
        print(f"not ok: {words}: {why}", flush=True)
        self.failures += 1

    def look(self, case: str, data: bytes, must: list[str], width: int | None, ascii_only: bool) -> None:
        text = CODES.sub("", data.decode())
        if ascii_only and (found := re.search("[^\0-\x7f]", text)) and not any(word in case for word in FOREIGN):
            return self.fail(case, f"{found[0]!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}")
        text = re.sub(r"(?m)^.*\r\x1b\[K", "", text)  # a line of progress that was replaced
        for word in must:
            if word not in text:
                self.fail(case, f"{word!r} is not in {text[:3000]}")
        for line in text.splitlines():
            self.lines += 1
            if line != line.rstrip():
                return self.fail(case, f"it ends in a space: {line!r}")
            if width and columns(line) > width and len(line.split()) > 1:
                return self.fail(case, f"{columns(line)} columns: {line!r}")


def columns(line: str) -> int:
    """Of what a terminal shows. A character of two columns counts as such."""
    return sum(0 if unicodedata.combining(c) or unicodedata.category(c) == "Cf" else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def prepare(bench: Bench, schema: Path) -> None:
    folder = bench.folder
    hostile.say(TEXT, "some_program")
    hostile.write_run(folder / "wheeltap-runs" / RUN, schema)
    hostile.write_run(folder / "other-run", schema, extra=True)
    for run, text in (("other-calls", TEXT.replace("encoder_", "another_")), ("calls", TEXT)):  # a golden needs runs that lost nothing
        hostile.say(text, "some_program")
        hostile.system_calls(schema).write(folder / run / "syscalls.wt")
        (folder / run / "run.json").write_text((folder / "other-run" / "run.json").read_text().replace(f"/{TEXT}", "/elsewhere"))
    (folder / "pack.json").write_text(json.dumps(hostile.pack()))
    states = [hostile.their_state(rank, step, 7 * step + (rank if step > 3 else 0)) for step in range(8) for rank in range(2)]
    (folder / "trace_theirs.log").write_text("\n".join(states) + "\n")
    parameter = {"param_type": "VarTypeParam", "var_type": TEXT, "attr_name": "data"}
    (folder / "theirs.inv").write_text(hostile.their_invariant(parameter, "var") + "\n")
    model = {PATH: ("F32", [2, 2], models.floats(0, 0, 1, float("nan"))), "b": ("F32", [], models.floats(1))}
    (folder / "model").write_bytes(models.safetensors(model, {PATH: TEXT}))
    (folder / "other").write_bytes(models.small(PATH))
    (folder / "rows.csv").write_text(f"{PATH},b,class\n1,2,x\n1,2,y\n3,2,x\n")
    name = hostile.toml(TEXT)
    (folder / "gate.toml").write_text(
        f"[[gate]]\nname = {name}\ntype = 'count'\ncall = 'openat'\nmax = 0\n"
        f"[[gate]]\nname = {name}\ntype = 'count'\ncall = 'openat'\nmax = 100\n"
        f"[[gate]]\nname = {name}\ntype = 'golden'\ngolden = {name}\n")
    for line in ("sim -n 3000 -o sim", "sim -n 3000 --kinds all -o kinds", "import traincheck trace_theirs.log -o theirs",
                 "import traincheck theirs.inv -o imported.json", "golden add kept calls"):
        said = subprocess.run(bench.words(*line.split(" ", 1)), cwd=folder, env=bench.environment({}), capture_output=True, timeout=PATIENCE)
        assert said.returncode == 0, (line, said)


def main() -> int:
    program, source = (Path(word).resolve() for word in sys.argv[1:3])
    only = sys.argv[3:]
    with Scratch() as folder:
        bench = Bench(program, folder)
        prepare(bench, source / "schema" / "events.toml")
        verbs = {row["name"] for row in json.loads(bench.piped("help", "--json", {}))["tables"]["verbs"]}
        assert len(verbs) > 20, verbs
        for verb in sorted(verbs - SILENT - set(CASES)):
            bench.fail(verb, "cover this verb: CASES of test_width.py")
        for verb, cases in CASES.items():
            for line, must in cases if not only or verb in only else []:
                for locale, variables in LOCALES.items():
                    case, ascii_only = f"{verb} {line} ({locale})", locale != "C.UTF-8"
                    bench.look(case, bench.piped(verb, line, variables), must, None, ascii_only)
                for width in WIDTHS:
                    locale = "C" if width == 80 else "C.UTF-8"
                    case = f"{verb} {line} ({width} columns, {locale})"
                    bench.look(case, bench.shown(verb, line, LOCALES[locale], width), must, None if any(word in line for word in FIXED) else width,
                               locale == "C")
    assert bench.lines > 1000 or only, bench.lines
    print("ok" if not bench.failures else f"{bench.failures} failed")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
