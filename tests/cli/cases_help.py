# SPDX-License-Identifier: Apache-2.0
"""Help, manual pages, completion, and what a wrong command line gets to hear."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess

from bench import PATIENCE, Bench, Skip


def verbs(b: Bench) -> list[str]:
    return [row["name"] for row in b.run("help", "--json").json()["tables"]["verbs"]]


def options_of_help(text: str) -> set[str]:
    return set(re.findall(r"^ {2,6}(?:-\w, )?--([a-z][a-z-]*)", text, re.M))


def test_help_lists_every_verb(b: Bench) -> None:
    text = b.run("help").out
    for verb in verbs(b):
        assert re.search(rf"^  {verb} +\S", text, re.M), verb
    assert b.run("--help").out == text
    assert b.run(code=2).out == text


def test_help_and_manual_agree(b: Bench) -> None:
    for verb in verbs(b):
        text = b.run(verb, "--help").out
        assert text == b.run("help", verb).out
        assert text.startswith(f"usage: wheeltap {verb} [OPTIONS]")
        assert all(len(line) <= 100 for line in text.splitlines()), verb
        manual = b.run("help", "--man", verb).out
        in_manual = set(re.findall(r"^(?:\*-\w\*, )?\*--([a-z-]+)\*", manual, re.M))
        assert in_manual == options_of_help(text), verb
        assert "json" in in_manual, f"{verb} has no --json"
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"):
            assert f"# {section}\n" in manual, (verb, section)


def test_manual_pages_are_installed(b: Bench) -> None:
    pages = {page.name for page in (b.program.parent / "docs").glob("*.1")}
    if not shutil.which("scdoc"):
        raise Skip("scdoc is not installed")
    assert pages == {"wheeltap.1"} | {f"wheeltap-{verb}.1" for verb in verbs(b)}, pages


def test_every_option_is_explained(b: Bench) -> None:
    for verb in verbs(b):
        text = b.run(verb, "--help").out.split("options:\n", 1)[1].split("\nexamples:", 1)[0]
        for block in re.split(r"\n(?= {2,6}-)", text.strip("\n")):
            words = re.sub(r"^ *(-\w, )?--\S+( [A-Z][^ ]*)?", "", block).split()
            assert len(words) >= 2, (verb, block)


def test_exit_status_names_severity(b: Bench) -> None:
    """A warning alone is 0, so "1 findings" would be wrong."""
    for verb in ("doctor", "check"):
        text = " ".join(b.run(verb, "--help").out.split())
        assert "0 no findings at or above --fail-on" in text.split("Exit status:")[1], verb


def test_manual_pages_are_valid(b: Bench) -> None:
    scdoc = shutil.which("scdoc")
    if not scdoc:
        raise Skip("scdoc is not installed")
    for verb in [None, *verbs(b)]:
        source = b.run("help", "--man", *([verb] if verb else [])).raw
        done = subprocess.run([scdoc], input=source, capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0, (verb, done.stderr)
        assert b".TH" in done.stdout
        assert b"\n'" not in done.stdout, f"{verb}: roff would take that line for a request and leave it away"


def test_completion(b: Bench) -> None:
    script = b.run("help", "--completion", "bash").out
    file = b.folder / "completion.bash"
    file.write_text(script)
    ask = 'source completion.bash; COMP_WORDS=({}); COMP_CWORD={}; _wheeltap; printf "%s\\n" "${{COMPREPLY[@]}}"'

    def complete(words: str, at: int) -> set[str]:
        done = subprocess.run(["bash", "-c", ask.format(words, at)], cwd=b.folder, capture_output=True, text=True,
                              timeout=PATIENCE, env=os.environ | {"PATH": f"{b.program.parent}:{os.environ['PATH']}"})
        assert done.returncode == 0 and not done.stderr, done.stderr
        return set(done.stdout.split())

    assert complete('wheeltap ""', 1) == set(verbs(b))
    assert complete("wheeltap sta", 1) == {"stat"}
    assert "--sort" in complete("wheeltap stat --", 2)
    assert complete('wheeltap stat --by ""', 3) == {"name", "kind", "track", "step", "module", "function", "site", "process", "thread"}
    b.make_run("my-run")
    assert complete("wheeltap info m", 2) == {"my-run"}
    for shell in ("zsh", "fish"):
        text = b.run("help", "--completion", shell).out
        assert all(verb in text for verb in verbs(b)), shell
        if shutil.which(shell):
            assert subprocess.run([shell, "-n", "-c", text], timeout=PATIENCE).returncode == 0


def test_unknown_verb_and_option(b: Bench) -> None:
    said = b.run("stats", code=2)
    assert said.err == "wheeltap: unknown verb 'stats'; did you mean 'stat'?\n", said.err
    assert "'wheeltap help' lists them" in b.run("xyzzy", code=2).err
    assert "did you mean --sort?" in b.run("stat", "--srt", "x", code=2).err
    assert "takes no value" in b.run("info", "--json=1", code=2).err
    assert "needs a value" in b.run("view", "--kind", code=2).err
    assert "one of name|kind" in b.run("stat", "--by", "colour", code=2).err
    assert "unexpected argument" in b.run("view", "a", "b", code=2).err
    for words in (["view", "--from", "x"], ["view", "-n", "-1"], ["stat", "--limit", "many"], ["info", "-q"],
                  ["help", "nothing"], ["view", "--tail", "99999999999999999999999"]):
        said = b.run(*words, code=2)
        assert len(said.err.splitlines()) == 1, (words, said.err)
    assert b.run("info", "--json", "--wrong", code=2).json()["error"]["code"] == "argument"


def test_version(b: Bench) -> None:
    version = re.search(r"version: '([^']+)'", (b.source / "meson.build").read_text())
    assert version and b.run("version").out == f"wheeltap {version[1]}\n" == b.run("--version").out


def on_terminal(b: Bench, words: list[str], env: dict[str, str]) -> str:
    """What the program writes when standard output is a terminal of 80 columns."""
    master, slave = pty.openpty()
    subprocess.run(["stty", "cols", "80", "rows", "24"], stdin=slave, check=True, timeout=PATIENCE)
    child = subprocess.Popen([str(b.program), *words], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, cwd=b.folder,
                             env={k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")} | env)
    os.close(slave)
    data = b""
    while select.select([master], [], [], 20)[0]:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        data += more
    os.close(master)
    assert child.wait(timeout=PATIENCE) == 0
    return data.decode("utf-8").replace("\r\n", "\n")


def test_terminal_colour_and_width(b: Bench) -> None:
    trace = str(b.trace("devices"))
    for words in (["stat", trace], ["info", trace], ["timeline", trace]):
        coloured = on_terminal(b, words, {"TERM": "xterm"})
        assert "\x1b[" in coloured, words
        plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        table = [line for line in plain.splitlines() if not line.startswith(("path", "run "))]
        assert max(map(len, table)) <= 80, (words, plain)
        assert "\x1b[" not in on_terminal(b, words, {"TERM": "xterm", "NO_COLOR": "1"}), words
        assert "\x1b[" not in on_terminal(b, words, {"TERM": "dumb"}), words
        assert "\x1b[" not in b.run(*words, env={"TERM": "xterm"}).out, words


def test_explain_lists_rules_by_code(b: Bench) -> None:
    codes = [row["code"] for row in b.run("explain", "--json").json()["tables"]["rules"]]
    assert codes == sorted(codes) and len(codes) > 100, codes


def test_explain_ends_lines_without_spaces(b: Bench) -> None:
    for code in ("WT-NUM-001", "WT-OPT-005", "WT-GATE-013"):
        lines = b.run("explain", code).out.splitlines()
        assert len(lines) > 5 and not [line for line in lines if line.endswith(" ")], lines
