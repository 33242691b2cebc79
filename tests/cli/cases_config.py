# SPDX-License-Identifier: Apache-2.0
"""Options of `record` from files: every option, other programs' configurations, and what mistakes get to hear."""

from __future__ import annotations

import json
import re

from bench import Bench

TRAINCHECK = """\
modules_to_instr:  # which libraries
- torch
- numpy
pyscript: sub/mnist.py
copy_all_files: true
models_to_track: [model]
model_tracker_style: proxy
output_dir: out
"""

PYTRACER = {
    "python_modules_path": "", "modules_to_load": ["numpy", "scipy"], "modules_to_exclude": ["numpy.testing"],
    "include_file": [], "exclude_file": ["skip.txt"],
    "logger": {"format": "logger", "output": "stdout", "color": True, "level": "info"},
    "io": {"type": "pickle", "backtrace": False, "trace": "mine", "cache": {"root": ".c", "traces": "t", "stats": "s"}},
    "numpy": {"ufunc": True},
}


def write(b: Bench, name: str, text: str) -> str:
    path = b.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


def settings(b: Bench, *words: str) -> dict[str, str]:
    """What stands in force in the file that --write-config prints."""
    text = b.run("record", "--write-config", *words).out
    return dict(re.findall(r"^([a-z-]+) = (.*)$", text, re.M))


def mistake(b: Bench, text: str, name: str = "c.toml") -> str:
    return b.run("record", "-c", write(b, name, text), "--write-config", code=125).err


def test_every_option_has_a_key(b: Bench) -> None:
    shown = b.run("record", "--help").out
    options = set(re.findall(r"^ {2,6}(?:-\w, )?--([a-z][a-z-]*)", shown, re.M)) - {"help", "config", "write-config"}
    text = b.run("record", "--write-config").out
    assert set(re.findall(r"^#([a-z-]+) = ", text, re.M)) - {"program"} == options
    # What it proposes is accepted, and comes out again as it went in.
    write(b, "all.toml", re.sub(r"^#([a-z-]+ = )", r"\1", text, flags=re.M))
    again = settings(b, "-c", "all.toml")
    assert again["output"] == again["directory"] == '"DIR"' and again["include-file"] == '["FILE"]', again
    assert again["program"] == '["python", "train.py"]'


def test_values_of_all_types(b: Bench) -> None:
    write(b, "c.toml", '[record]\nquiet = true\nmax_size = "1M"\nduration = "1.5s"\ndetail = "full"\n'
                       'modules = ["torch", "numpy"]\nexclude-file = ["a", "b"]\nring-size = 65536\n[view]\nwhat = 1\n')
    found = settings(b, "-c", "c.toml")
    assert found == {"quiet": "true", "max-size": "1048576", "duration": '"1.5s"', "detail": '"full"',
                     "modules": '"torch,numpy"', "exclude-file": '["a", "b"]', "ring-size": "65536"}, found


def test_command_line_wins(b: Bench) -> None:
    write(b, "c.toml", '[record]\nquiet = true\ndetail = "full"\nexclude-file = ["a", "b"]\nprogram = ["x", "y"]\n')
    found = settings(b, "--detail", "lean", "--exclude-file", "c", "--quiet=no", "-c", "c.toml", "--", "z")
    assert found == {"detail": '"lean"', "exclude-file": '["c"]', "program": '["z"]'}, found


def test_program_of_the_file_is_run(b: Bench) -> None:
    write(b, "c.toml", '[record]\nquiet = true\noutput = "run"\nprogram = ["sh", "-c", "echo $0 $1; exit 3", "a b", "c"]\n')
    assert b.run("record", "-c", "c.toml", code=3).out == "a b c\n"
    assert b.run("record", "-c", "c.toml", "-o", "run2", "--", "echo", "mine").out == "mine\n"
    assert "nothing to run" in b.run("record", "-q", code=125).err


def test_traincheck(b: Bench) -> None:
    write(b, "conf/c.yml", TRAINCHECK)
    found = settings(b, "-c", "conf/c.yml")
    assert found == {"modules": '"torch,numpy"', "output": '"out"', "program": '["python3", "mnist.py"]',
                     "directory": '"conf/sub"'}, found
    said = b.run("record", "-c", "conf/c.yml", "--write-config").err
    assert said.count("\n") == 1 and "TrainCheck" in said and "models_to_track, model_tracker_style" in said, said
    # Whoever names the program says where it runs.
    assert "directory" not in settings(b, "-c", "conf/c.yml", "--", "true")


def test_traincheck_runs_the_shell_script_in_its_folder(b: Bench) -> None:
    write(b, "conf/c.yml", "shscript: go.sh\npyscript: main.py\noutput_dir: out\n")
    write(b, "conf/go.sh", "pwd; cat beside\n")
    write(b, "conf/beside", "found\n")
    assert b.run("record", "-q", "-c", "conf/c.yml").out == f"{(b.folder / 'conf').resolve()}\nfound\n"
    assert (b.folder / "out" / "run.json").exists()


def test_traincheck_flags_and_words(b: Bench) -> None:
    write(b, "c.yml", "use_full_instr: yes\nonly_instr: false\ntensor_dump_format: hash\noutput_dir:\n")
    assert settings(b, "-c", "c.yml") == {"detail": '"full"'}
    write(b, "c.yml", "sampling_interval: 1\nwarm_up_steps: 10\nprofiling: false\n")
    assert settings(b, "-c", "c.yml") == {}
    assert "c.yml:1:1: bad value for 'use_full_instr'" in mistake(b, "use_full_instr: 3\n", "c.yml")


def test_pytracer(b: Bench) -> None:
    write(b, "conf/c.json", json.dumps(PYTRACER))
    found = settings(b, "-c", "conf/c.json")
    assert found == {"modules": '"numpy,scipy"', "skip": '"numpy.testing.*"', "exclude-file": '["conf/skip.txt"]',
                     "name": '"mine"'}, found
    said = b.run("record", "-c", "conf/c.json", "--write-config").err
    assert "Pytracer" in said and "logger.color" in said and "numpy.ufunc" in said and "io.cache.root" in said, said


def test_format_is_told_by_content(b: Bench) -> None:
    for name in ("c.txt", "c.toml", "c"):
        write(b, name, TRAINCHECK)
        assert settings(b, "-c", name)["output"] == '"out"'
        write(b, name, json.dumps(PYTRACER, indent=1))
        assert settings(b, "-c", name)["name"] == '"mine"'
    for name in ("c.yml", "c.json", "c"):
        write(b, name, "# ours\n\n  [record]\ndetail = 'lean'\n")
        assert settings(b, "-c", name) == {"detail": '"lean"'}
    write(b, "c.yaml", "{pyscript: a.py}")
    assert settings(b, "-c", "c.yaml")["program"] == '["python3", "a.py"]'


def test_mistakes_say_where_and_what_was_meant(b: Bench) -> None:
    assert "c.toml:2:1: unknown key 'detial'; did you mean 'detail'?" in mistake(b, "[record]\ndetial = 'full'\n")
    assert "c.toml:1:2: unknown key 'recrod'; did you mean 'record'?" in mistake(b, "[recrod]\n")
    assert "c.toml:1:1: 'detail' is outside of a table; write [record]" in mistake(b, "detail = 'full'\n")
    assert "c.toml:2:1: bad value 'huge' for --detail; it takes one of states" in mistake(b, "[record]\ndetail='huge'\n")
    assert "c.toml:2:1: bad value for 'name'" in mistake(b, "[record]\nname = {a = 1}\n")
    assert "c.toml:2:1: bad value for 'program'" in mistake(b, "[record]\nprogram = 'x'\n")
    assert "c.toml:2:1: unknown key 'config'" in mistake(b, "[record]\nconfig = 'x'\n")
    assert "c.toml:2:8: " in mistake(b, "[record]\nname = ")
    assert "c.yml:2:1: unknown key 'modles_to_track'; did you mean 'models_to_track'?" in mistake(
        b, "pyscript: a.py\nmodles_to_track: [m]\n", "c.yml")
    assert "c.json:2:11: unknown key 'io.cache.rot'; did you mean 'io.cache.root'?" in mistake(
        b, '{"modules_to_load": [], "io": {"cache":\n         {"rot": 1}}}', "c.json")
    assert "c.json:1:22: " in mistake(b, '{"modules_to_load": [}', "c.json")
    assert "not a configuration" in mistake(b, "- a\n- b\n", "c.yml")
    assert "no-such" in b.run("record", "-c", "no-such", "--write-config", code=125).err


def test_lists_and_rules_from_files(b: Bench) -> None:
    for text, said in (("numpy linalg x\n", "r.txt:1: 'numpy linalg x' is not a rule"),
                       ("# c\n\nnumpy\n", "r.txt:3: 'numpy' is not a rule"),
                       ("numpy f(\n", "r.txt:1: 'numpy f(' is not a pattern")):
        write(b, "r.txt", text)
        assert said in b.run("record", "--exclude-file", "r.txt", "--", "true", code=125).err
    write(b, "m.txt", "torch  # one\nnumpy scipy\n")
    assert "m.txt:2: expected one name per line" in b.run("record", "--modules", "@m.txt", "--", "true", code=125).err
    assert "nothing.txt" in b.run("record", "--only", "@nothing.txt", "--", "true", code=125).err


def test_hostile_files(b: Bench) -> None:
    for name, text in (("c.json", "[" * 100000), ("c.yml", "a: " + "[" * 5000), ("c.toml", "a = " + "[" * 5000),
                       ("c.yml", "a: &a [1]\nb: *a\n"), ("c.yml", "a: !!python/object/apply:os.system ['true']\n"),
                       ("c.json", '{"a": 1'), ("c.json", "{" + '"a":{' * 80)):
        assert "\n" not in mistake(b, text, name).rstrip("\n"), text[:20]
    write(b, "big.toml", "# " + "x" * (2 << 20))
    assert "big.toml" in b.run("record", "-c", "big.toml", "--write-config", code=125).err


def test_options_without_an_effect_are_refused(b: Bench) -> None:
    write(b, "empty.txt", "# nothing\n")
    for words, why in ((["--on-finding", "stop"], "give --check, too"), (["--backend", "ptrace"], "give --syscalls, too"),
                       (["--stacks"], "give --syscalls or --opencl, too"), (["--backend", "bpf", "--syscalls=no"], "give --syscalls, too"),
                       (["--name", ""], "'--name' is empty"), (["--modules", ""], "'--modules' is empty"),
                       (["--only", ""], "'--only' is empty"), (["--skip", ""], "'--skip' is empty"),
                       (["--sample", ""], "'--sample' is empty"), (["--budget", ""], "'--budget' is empty"),
                       (["--only", " "], "bad value ' ' for --only"), (["--only", "torch.*,,numpy.*"], "is empty"),
                       (["--skip", "a,"], "bad value 'a,' for --skip"), (["--only", "@empty.txt"], "no names in 'empty.txt'")):
        said = b.run("record", *words, "--", "/bin/true", code=125)
        assert why in said.err, (words, said.err)
    assert not (b.folder / "wheeltap-runs").exists()
    written = b.run("record", "--write-config").out
    (b.folder / "c.toml").write_text(written)
    b.run("record", "-c", "c.toml", "-q", "--", "/bin/true")
