#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that a trace, a file or an argument holds is obeyed by a terminal: through every verb and every format.

usage: test_hostile.py WHEELTAP SOURCE

Every verb of the program is run on texts that are hostile (hostile.py), and what it prints and writes is looked at. A verb
that CASES has nothing for fails: cover it there. Options are found in the help of each verb, and get hostile values.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]
from harness import PATIENCE, Scratch, environment, on_terminal  # noqa: E402
import models  # noqa: E402
from hostile import (EVIL, EVIL_TEXT, EVIL_UTF8, harm, pack, shows, their_invariant, their_state, toml, write_run)  # noqa: E402

Word = str | bytes
NAME = EVIL.replace(b"/", b"").replace(b"\0", b"")  # of a file
# What comes out of a run or a file must be seen there, escaped: S. Else the case would prove nothing.
S = True

# By verb: command lines, each with whether the hostile text is shown. "RUN" and "OTHER" are runs; "-" is standard output.
CASES: dict[str, list[tuple[str, bool]]] = {
    "record": [("--write-config -n EVIL -- EVIL EVIL", S), ("-o EVIL -- EVIL", S), ("-o quiet -n EVIL -- sh -c true", False),
               ("-o EVILnew --syscalls=getpid -- ./EVIL", S), ("-c EVIL.toml -- true", S), ("-c EVIL.yaml -- true", S),
               ("--dry-run -- EVIL", S), ("--json -o EVILjson -- ./EVIL", S), ("-o other --report EVIL.md -- true", False),
               ("-o checked --check=EVIL -- true", S)],
    "python": [("add EVIL", False), ("link EVIL", False), ("path", False), ("EVIL", S), ("add EVIL --json", False)],
    "sim": [("-n 100 -o EVILsim", S), ("-n 100 -o EVILsim", S), ("-c EVIL.toml -o simulated", S),
            ("-n 3000 --kinds all -o kinds", False), ("-n 100 -o EVILsim2 --json", S)],
    "ls": [("", S), ("--json", S), ("--names", S), ("--csv", S), ("name=EVIL", False), ("EVILx>1", S), ("status=EVIL", False), ("duration>EVIL", S),
           ("since=EVIL", S), ("--sort EVIL", S)],
    "trend": [("duration", S), ("duration --json", S), ("duration --csv", S), ("EVIL", S), ("check:EVIL", S), ("", False),
              ("duration --by commit", S)],
    "compare": [("RUN OTHER --all", S), ("RUN OTHER --json", S), ("RUN OTHER --csv", S), ("EVIL-not-there RUN", S)],
    "tests": [("RUN", S), ("kinds", False), ("kinds --json", False), ("--history", False), ("EVIL", S), ("--history EVILx=1", S)],
    "tag": [("RUN EVIL", S), ("RUN", S), ("EVIL x", S), ("RUN --remove EVIL", S), ("RUN --json", S)],
    "info": [("RUN", S), ("RUN --json", S), ("EVIL", S), ("kinds", False), ("kinds --json", False)],
    "report": [(f"RUN {how}", S) for how in ("", "--md", "--html", "--json", "--junit", "--intoto")] + [("RUN OTHER --html", S), ("RUN OTHER", S),
               ("EVIL", S), ("RUN -o EVIL.html", False), ("RUN -o EVIL.md", False), ("RUN -o EVIL.xml", False), ("kinds", False), ("kinds --html", False)],
    "view": [("RUN", S), ("RUN --json", S), ("RUN --jsonl", S), ("RUN --csv", S), ("RUN --csv -k log", S),
             ("RUN --csv -k syscall", S), ("RUN -k EVIL", S), ("RUN --tail 5", S), ("kinds", False), ("kinds --csv", False)],
    "stat": [("RUN", S), ("RUN --json", S), ("RUN --csv", S), ("RUN --markdown", S), ("RUN --by module", S),
             ("RUN --by site --markdown", S), ("RUN --by site", S), ("RUN --by track", S), ("RUN --by step", False),
             ("RUN --by kind", False), ("RUN --by function", S), ("RUN --syscalls", False), ("RUN --syscalls --by process", S),
             ("RUN --syscalls --by thread --json", S), ("RUN --syscalls --by process --markdown", S),
             ("RUN --syscalls --by process --csv", S), ("RUN --critical-path", False), ("kinds", False),
             ("kinds --device", False), ("kinds --device --dot", False), ("kinds --device --critical-path --json", False)],
    "timeline": [("RUN", S), ("RUN --json", S), ("kinds", False)],
    "export": [(f"RUN --to {to} -o -", S) for to in ("chrome", "jsonl", "csv", "strace", "renacer-json", "html", "strace -y")]
    + [(f"RUN --to {to} -o EVIL.{to}", S) for to in ("chrome", "jsonl", "csv", "strace", "renacer-json", "html", "sqlite", "perfetto")]
    + [("RUN --to csv -o folder/", False), ("kinds --to csv -o -", False), ("RUN --to jsonl -o EVIL.jsonl", S)],
    "doctor": [("RUN", False), ("RUN --json", False), ("RUN --all", False), ("EVIL", S), ("kinds", False)],
    "replay": [("kinds --mode dry-run", False), ("kinds --mode dry-run --json", False), ("kinds", False), ("RUN --order EVIL", S), ("EVIL-not-there", S)],
    "infer": [("RUN OTHER -o -", False), ("theirs theirs -o - --steps 1 --examples 1", False), ("EVIL-not-there -o -", S),
              ("--merge EVIL.json -o -", S), ("theirs -o EVIL.pack", False), ("--partial theirs -o -", S)],
    "check": [("-i EVIL.json RUN", S), ("-i EVIL.json --all RUN", S), ("-i EVIL.json --all --json RUN", S),
              ("-i imported.json theirs", S), ("-i imported.json theirs --json", S), ("-i EVIL RUN", S)],
    "pack": [("show EVIL.json", S), ("show EVIL.json --json", S), ("lint EVIL.json", S), ("explain EVIL.json order-*", S),
             ("explain EVIL.json EVIL", S), ("merge EVIL.json -o -", S), ("filter EVIL.json --match EVIL -o -", S),
             ("suppress EVIL.json order-* --reason EVIL -o -", S), ("export EVIL.json --to traincheck -o -", False),
             ("EVIL EVIL", S), ("show EVIL", S), ("show imported.json", False)],
    "digits": [("RUN OTHER", False), ("RUN OTHER --json", S), ("RUN OTHER --compare --by tensor", S), ("RUN EVIL", S)],
    "diff": [("RUN OTHER", S), ("RUN OTHER --json", S), ("RUN OTHER --all", S), ("RUN OTHER --raw", S), ("RUN EVIL", S),
             ("RUN OTHER --tensors", False), ("RUN OTHER --tensors --json", S)],
    "rerun": [("RUN", S), ("EVIL", S), ("RUN --yes EVIL", S), ("RUN --json", S)],
    "golden": [("add EVIL RUN", S), ("check EVIL RUN", S), ("check EVIL OTHER", S), ("check EVIL OTHER --json", S),
               ("show EVIL", S), ("show EVIL --json", S), ("accept EVIL OTHER", S), ("add /dev/stdout.toml RUN", False),
               ("check EVIL.toml RUN", S), ("EVIL EVIL", S)],
    "gate": [("--init RUN -c /dev/stdout", False), ("-c gate.toml RUN", S), ("-c gate.toml RUN --json", S), ("-c gate.toml --junit EVIL.xml RUN", S),
             ("-c EVIL.toml RUN", S), ("-c EVIL RUN", S), ("-c renacer.toml RUN", S)],
    "dataset": [("inspect EVIL.rows", S), ("inspect EVIL.rows --json", S), ("inspect EVIL.rows other.rows", S), ("inspect other.rows --label EVIL", S),
                ("inspect other.rows --labels EVIL.rows", S), ("inspect EVIL", S), ("make EVIL", S), ("EVIL EVIL", S), ("make tiny -o EVILdata", S), ("make tiny --seed EVIL", S)],
    "model": [("inspect EVIL.model", S), ("inspect EVIL.model --json", S), ("verify EVIL.model", S), ("verify EVIL.model --json", S),
              ("diff EVIL.model other.model", S), ("diff other.model EVIL.model --json", S), ("manifest EVIL.model -o EVIL.manifest", S),
              ("verify other.model --manifest EVIL.manifest", S), ("convert EVIL.model EVIL.safetensors", S), ("convert EVIL.model x --to EVIL", S),
              ("inspect EVIL", S), ("inspect EVIL.json", S), ("EVIL EVIL", S), ("inspect EVIL.model --html EVIL.html", S), ("key EVILkey", S), ("sign other.model --key EVIL", S),
              ("verify other.model --key EVIL", S)],
    "try": [("", False), ("EVIL", S), ("left_in_eval --python EVIL", S)],
    "explain": [("", False), ("EVIL", S), ("EVIL --json", S)],
    "import": [("traincheck trace_EVIL.log -o EVILtheirs", False), ("traincheck EVIL.inv -o EVILimported.json", False), ("EVIL EVIL -o x", S),
               ("traincheck EVIL -o EVILx", S), ("traincheck broken_EVIL.log -o EVILy", S), ("traincheck trace_EVIL.log -o EVILz --json", False)],
    "clean": [("--keep 0 --dry-run", S), ("--keep 0 --dry-run --json", S), ("--keep 0", False)],
    "env": [("", False), ("--json", False)],
    "help": [("", False), ("EVIL", S), ("--man EVIL", S)],
    "version": [("", False), ("EVIL", S)],
}
# Words that let a verb end soon, or run at all, while its options get hostile values.
BASE = {"sim": ["-n", "10", "-o", "EVILbase"], "record": [], "infer": ["RUN"], "pack": ["show", "EVIL.json"],
        "golden": ["show", "EVIL"], "diff": ["RUN", "OTHER"], "digits": ["RUN", "OTHER"], "rerun": ["RUN"], "import": ["traincheck", "EVIL.inv"], "model": ["verify", "other.model"], "dataset": ["inspect", "other.rows"], "python": ["path"]}
LINES_OF_THEIR_OWN = ("--csv", "csv")  # of CSV: newlines stand within quotes


@dataclass
class Bench:
    program: Path
    folder: Path
    failures: int = 0

    def fail(self, words: object, why: object) -> None:
        print(f"not ok: {words}: {why}", flush=True)
        self.failures += 1

    def words(self, line: str) -> list[Word]:
        return [os.fsencode(word).replace(b"EVIL", NAME) if "EVIL" in word else {"RUN": b"wheeltap-runs/" + NAME, "OTHER": "other-run"}.get(word, word)
                for word in line.split()]

    def environment(self) -> dict[str, str]:
        return environment(TERM="xterm", HOME=str(self.folder), XDG_DATA_HOME=str(self.folder))

    def run(self, verb: str, words: list[Word]) -> tuple[int, bytes, bytes]:
        done = subprocess.run([str(self.program), verb, *words], stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder,
                              env=self.environment(), timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr

    def run_coloured(self, verb: str, words: list[Word]) -> bytes:
        """What a terminal gets, of both outputs."""
        data = on_terminal([str(self.program), verb, *words], cwd=self.folder, env=self.environment())
        return data.replace(b"\r\r\n", b"\r\n")  # what CSV ends lines with is translated once more

    def look(self, verb: str, words: list[Word], must_show: bool = False) -> None:
        code, out, err = self.run(verb, words)
        is_csv = any(word in LINES_OF_THEIR_OWN for word in words)
        if code < 0 or code > 125 and verb != "record":
            self.fail((verb, words), f"exit {code}")
        for name, data in (("standard output", out), ("standard error", err)):
            binary = name == "standard output" and "perfetto" in words and "-" in words
            why = "" if binary else harm(data, forging=not is_csv)
            if why:
                self.fail((verb, words), f"{name}: {why}")
        if must_show and not shows(out + err):
            self.fail((verb, words), f"the hostile text is not shown at all: {(out + err)[:500]!r}")
        if "--json" in words or "chrome" in words and "-" in words:
            self.parse(verb, words, err if verb == "record" else out)
        if "--jsonl" in words or "jsonl" in words and "-" in words:
            for line in out.splitlines():
                json.loads(line)

    def parse(self, verb: str, words: list[Word], out: bytes) -> None:
        try:
            if verb == "record":  # behind what else is said there
                out = out[out.index(b"{"):] if b"{" in out else b"{}"
            json.loads(out or b"{}")
        except ValueError as error:
            self.fail((verb, words), f"not JSON: {error}: {out[:200]!r}")


def prepare(folder: Path, schema: Path) -> None:
    home = folder / "wheeltap-runs"
    home.mkdir()
    write_run(Path(os.fsdecode(bytes(home) + b"/" + NAME)), schema)
    write_run(folder / "other-run", schema, extra=True)
    name = lambda text: folder / os.fsdecode(text.encode().replace(b"EVIL", NAME))  # noqa: E731
    name("EVIL.json").write_text(json.dumps(pack()))
    states = [their_state(rank, step, 7 * step + (rank if step > 3 else 0)) for step in range(8) for rank in range(2)]
    name("trace_EVIL.log").write_text("\n".join(states) + "\n")
    name("broken_EVIL.log").write_text(states[0] + "\n{" + EVIL_TEXT)
    parameters = [{"param_type": "VarTypeParam", "var_type": EVIL_TEXT, "attr_name": "data"},
                  {"param_type": "APIParam", "api_full_name": EVIL_TEXT}]
    name("EVIL.inv").write_text("".join(their_invariant(parameter, group) + "\n" for parameter in parameters for group in ("var", EVIL_TEXT)))
    spoken = EVIL_TEXT.replace("\0", "")
    evil_model = {spoken: ("F32", [2, 2], models.floats(0, 0, 1, float("nan"))), "b": ("F32", [], models.floats(1))}
    name("EVIL.model").write_bytes(models.safetensors(evil_model, {spoken: spoken}))
    (folder / "other.model").write_bytes(models.small("b"))
    quoted = spoken.replace('"', '""').replace("\n", " ").replace("\r", " ")
    name("EVIL.rows").write_text(f'"{quoted}",b,class\n1,2,"{quoted}"\n1,2,y\n3,2,"{quoted}"\n')
    (folder / "other.rows").write_text("a,b,class\n1,2,y\n")
    evil = toml(EVIL_TEXT)
    name("EVIL.toml").write_text(f"[record]\nname = 3\n{evil} = {evil}\n")
    name("EVIL.yaml").write_bytes(b"pytorch_path: 3\n" + json.dumps(EVIL_TEXT).encode() + b": 1\n" + EVIL_UTF8)
    # Held, violated, and not measured; what is found is not suppressed, and the suppression has a reason.
    (folder / "gate.toml").write_text(
        f"[[gate]]\nname = {evil}\ntype = 'count'\ncall = 'openat'\nmax = 0\n"
        f"[[gate]]\nname = {evil}\ntype = 'forbidden'\neffect = 'network'\nallow = [{evil}]\n"
        f"[[gate]]\nname = {evil}\ntype = 'count'\nfile = {evil}\nmax = 1\n"
        f"[[gate]]\nname = {evil}\ntype = 'golden'\ngolden = {evil}\n")
    (folder / "renacer.toml").write_text(f"[[assertion]]\nname = {evil}\ntype = 'critical_path'\nmax_duration_ms = 1\n")
    (folder / "wheeltap.toml").write_text(f"[[suppress]]\ncode = {evil}\nreason = {evil}\n")


def options_of(bench: Bench, verb: str) -> list[str]:
    """The long options that take a value, by the verb's own help."""
    text = bench.run("help", [verb])[1].decode()
    return re.findall(r"^  (?:-\w, |    )--([\w-]+) (?=[A-Z\[]|\S+\|)", text, re.M)


def sweep(bench: Bench, verb: str) -> None:
    """Arguments, options and values that are hostile: what is said about them quotes them."""
    base = bench.words(" ".join(BASE.get(verb, [])))
    bench.look(verb, [b"--" + NAME], must_show=True)
    bench.look(verb, [b"-" + NAME], must_show=True)
    options = options_of(bench, verb)
    for option in options:
        bench.look(verb, [*base, b"--" + option.encode() + b"=" + NAME])
        if "--json" not in base:
            bench.look(verb, [*base, b"--" + option.encode() + b"=" + NAME, "--json"])


def written(bench: Bench) -> int:
    """Files that were written are read in terminals, too."""
    count = 0
    for path in sorted(bench.folder.iterdir()):
        end = os.fsencode(path.suffix)
        if end in (b".chrome", b".jsonl", b".strace", b".renacer-json", b".html", b".xml", b".md", b".csv", b".pack"):
            count += 1
            why = harm(path.read_bytes(), forging=end != b".csv")
            if why:
                bench.fail(path, why)
            if end not in (b".md", b".pack") and not shows(path.read_bytes()):
                bench.fail(path, "the hostile text is not in it")
        if end == b".xml":
            ElementTree.parse(path)
        if end in (b".chrome", b".renacer-json"):
            json.loads(path.read_bytes())
        if end == b".sqlite":
            count += 1
            database = sqlite3.connect(path)
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            texts = [row[0] for row in database.execute("SELECT text FROM strings")]
            assert any("\x1b[31m" in text for text in texts), texts  # bytes are kept there: it is no text for people
    for path in (bench.folder / "folder").iterdir():
        count += 1
        why = harm(path.read_bytes(), forging=False)
        if why:
            bench.fail(path, why)
    return count


def main() -> int:
    program, source = (Path(word).resolve() for word in sys.argv[1:3])
    only = sys.argv[3:]
    with Scratch() as folder:
        bench = Bench(program, folder)
        prepare(bench.folder, source / "schema" / "events.toml")
        bench.run("sim", ["-n", "3000", "--kinds", "all", "-o", "kinds"])
        verbs = [row["name"] for row in json.loads(bench.run("help", ["--json"])[1])["tables"]["verbs"]]
        assert len(verbs) > 20, verbs
        for line in ("trace_EVIL.log -o theirs", "EVIL.inv -o imported.json"):
            code, _, err = bench.run("import", ["traincheck", *bench.words(line)])
            assert code == 0, err
        for verb in verbs:
            if verb not in CASES:
                bench.fail(verb, "cover this verb: CASES of test_hostile.py")
                continue
            for line, must_show in CASES[verb] if not only or verb in only else []:
                bench.look(verb, bench.words(line), must_show)
                if "-o" in line.split() and "-o -" not in line:
                    continue  # it would be there already
                why = harm(bench.run_coloured(verb, bench.words(line)), colours=True, forging="csv" not in line)
                if why:
                    bench.fail((verb, line), f"terminal: {why}")
            if not only or verb in only:
                sweep(bench, verb)
            print(f"# {verb}: {len(CASES[verb])} cases", flush=True)
        if not only:
            count = written(bench)
            assert count > 20, count
    print("ok" if not bench.failures else f"{bench.failures} failed")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
