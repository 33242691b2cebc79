#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Goldens of programs that start others, name files at random and change several files at once: what is unchanged is clean, and one
cause is one finding.

usage: test_causes.py WHEELTAP
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Case, need_system_calls  # noqa: E402

PYTHON = "/usr/bin/python3"
LEARN_RUNS = 2

TEMPORARY = """
import os, tempfile
for prefix, suffix in (("tmp", ""), ("ckpt-", ".pt"), ("part_", "")):
    fd, path = tempfile.mkstemp(dir=".", prefix=prefix, suffix=suffix)
    os.write(fd, b"x")
    os.close(fd)
    os.replace(path, "model.pt")
folder = tempfile.mkdtemp(dir=".", prefix="work-")
open(folder + "/training", "w").close()
os.unlink(folder + "/training")
os.rmdir(folder)
"""

SYNCING = """
import os, sys
with open("model.new", "w") as file:
    file.write("x" * 100)
    file.flush()
    os.fsync(file.fileno())
os.replace("model.new", "model")
fd = os.open(".", os.O_RDONLY)
if "no-folder" not in sys.argv:
    os.fsync(fd)
os.close(fd)
"""

DATABASE = """
import os, sqlite3, sys
for name in os.listdir("."):
    if name.startswith("app.db"):
        os.unlink(name)
db = sqlite3.connect("app.db")
db.execute("pragma journal_mode=" + (sys.argv[1] if len(sys.argv) > 1 else "delete"))
db.execute("create table t(a)")
for i in range(5):
    db.execute("insert into t values (?)", (i,))
    db.commit()
db.close()
"""

MAKEFILE = """
all: one.o two.o three.o
\tgcc -o all one.o two.o three.o
\tstrip all
%.o: %.c
\tgcc $(CFLAGS) -c -o $@ $<
"""


class Causes(Case):
    options = ("--syscalls",)

    def setUp(self) -> None:
        super().setUp()
        self.here = self.bench.folder / "here"
        self.here.mkdir()

    def script(self, text: str) -> tuple[str, ...]:
        (self.here / "program.py").write_text(text)
        return (PYTHON, "program.py")

    def learn(self, *program: str) -> None:
        runs = [str(self.bench.record(*program, cwd=self.here)) for _ in range(LEARN_RUNS)]
        done = self.bench.call("golden", "add", "it", *runs)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check(self, *program: str) -> list[str]:
        """Titles of all findings but notes."""
        run = self.bench.record(*program, cwd=self.here)
        code, result = self.bench.json("golden", "check", "it", str(run))
        found: list[dict[str, Any]] = [f for f in result["findings"] if f["severity"] != "note"]
        self.assertEqual(code, 1 if any(f["severity"] == "error" for f in found) else 0)
        return [f["title"] for f in found]

    def found(self, words: str, *program: str) -> None:
        titles = self.check(*program)
        self.assertEqual(len(titles), 1, titles)
        self.assertIn(words, titles[0])

    def test_random_names_outside_of_tmp(self) -> None:
        """However they are named: they are made as tempfile makes its files. Several runs, as names differ in which characters they have."""
        program = self.script(TEMPORARY)
        self.learn(*program)
        for _ in range(6):
            self.assertEqual(self.check(*program), [])
        runs = [str(self.bench.record(*program, cwd=self.here)) for _ in range(2)]
        done = self.bench.call("diff", *runs)
        self.assertEqual(done.returncode, 0, done.stdout)
        # A second line may say that counts which depend on timing differ.
        self.assertIn("did the same", done.stdout.splitlines()[0])

    def test_random_names_that_look_like_words(self) -> None:
        """Six letters that mkstemp() drew: the file was made as such files are, and is gone at the end."""
        program = self.script("import os, sys\nfor name, end in (('st' + sys.argv[1], os.unlink), ('in' + sys.argv[1], lambda n: os.rename(n, 'x'))):\n"
                              "    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))\n    end(name)\n")
        self.learn(*program, "vwmwwu")
        self.assertEqual(self.check(*program, "gwwrfv"), [])

    def test_random_names_with_other_permissions(self) -> None:
        """As git makes objects: looked for in a folder that is not there yet, made for all to read, and renamed."""
        program = self.script("import os, shutil, sys\nshutil.rmtree('objects', ignore_errors=True)\nname = 'objects/tmp_obj_' + sys.argv[1]\n"
                              "for _ in range(2):\n    try:\n        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o444))\n"
                              "        break\n    except FileNotFoundError:\n        os.mkdir('objects')\nos.rename(name, 'objects/it')\n")
        self.learn(*program, "WhbPrR")
        for word in ("rDd5BW", "abcdef", "142089"):
            self.assertEqual(self.check(*program, word), [])

    def test_files_that_are_not_synced(self) -> None:
        program = ("import os\ndef put(name):\n    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n    os.write(fd, b'x')\n    os.fsync(fd)\n"
                   "os.makedirs('sub', exist_ok=True)\nput('a.txt')\nput('sub/b')\nput('c.log')\n")
        self.learn(*self.script(program))
        self.found("'$CWD/a.txt' is not synced any more", *self.script(program.replace("    os.fsync(fd)\n", "")))

    def test_an_edited_source(self) -> None:
        """That the program is longer than it was is a note; what it does is what counts."""
        program = self.script("open('out', 'w').write('x')\n")
        self.learn(*program)
        self.assertEqual(self.check(*self.script("# longer\nopen('out', 'w').write('x')\n")), [])
        run = self.bench.record(*program, cwd=self.here)
        note, = self.bench.json("golden", "check", "it", str(run))[1]["findings"]
        self.assertRegex(note["title"], r"^'\$CWD/program.py' was edited: \d+ bytes of it are read instead of \d+$")
        self.assertEqual((note["where"]["op"], note["where"]["file"]), (None, None), note)
        self.assertIn("the source is not the one", note["means"])
        self.found("'$CWD/out' is written 2 bytes", *self.script("# longer\nopen('out', 'w').write('xy')\n"))

    def test_a_file_that_is_only_made(self) -> None:
        """Whether it was there before is not known, but nobody has read it."""
        program = "import os\nfor name in ['a']:\n    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))\n"
        self.learn(*self.script(program))
        self.found("the program opens for writing '$CWD/b', which it did not", *self.script(program.replace("['a']", "['a', 'b']")))

    def test_a_program_that_is_missing(self) -> None:
        both = "cp program.sh a\ncp a b\nrm a\n"
        self.learn(*self.shell(both))
        self.found("'sh > rm'", *self.shell(both.replace("rm a\n", "")))

    def test_words_are_no_random_names(self) -> None:
        """A private file with a name of eight letters keeps its name."""
        program = self.script("import os\nif os.path.exists('settings.json'):\n    os.unlink('settings.json')\n"
                              "os.close(os.open('settings.json', os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))\n")
        self.learn(*program)
        self.assertIn('"$CWD/settings.json"', (self.bench.folder / "goldens" / "it.toml").read_text())

    def test_sync_of_the_folder(self) -> None:
        program = self.script(SYNCING)
        self.learn(*program)
        self.assertEqual(self.check(*program), [])
        self.found("'$CWD/.'", *program, "no-folder")

    def shell(self, text: str) -> tuple[str, ...]:
        (self.here / "bin").mkdir(exist_ok=True)
        (self.here / "program.sh").write_text('PATH="$PWD/bin:/usr/bin:/bin"\n' + text)
        return ("/bin/sh", "program.sh")

    def test_search_for_a_program(self) -> None:
        """Where a program is looked for and not found is $PATH's matter, whether it is executed or not, now or before."""
        self.learn(*self.shell("command -v gzip >found\n"))
        titles = self.check(*self.shell("command -v gzip >found\ngzip <found >packed\n"))
        self.assertFalse([t for t in titles if "bin/gzip" in t], titles)
        self.assertTrue(titles)
        shutil.rmtree(self.bench.folder / "goldens")
        self.learn(*self.shell("command -v gzip >found\ngzip <found >packed\n"))
        titles = self.check(*self.shell("command -v gzip >found\n"))
        self.assertFalse([t for t in titles if "bin/gzip" in t], titles)
        self.assertTrue(titles)

    def test_another_program_of_that_name(self) -> None:
        program = self.shell("echo x | gzip >packed\n")
        self.learn(*program)
        self.assertEqual(self.check(*program), [])
        shutil.copy(shutil.which("gzip", path="/usr/bin:/bin") or "", self.here / "bin" / "gzip")
        titles = self.check(*program)
        self.assertTrue([t for t in titles if "executes '$CWD/bin/gzip' instead of 'gzip'" in t], titles)

    def test_goldens_of_format_1(self) -> None:
        """They have programs without folders: such a program in a folder of one's own is still the same."""
        program = self.shell("gzip -1 <program.sh >packed\n")
        shutil.copy(shutil.which("gzip", path="/usr/bin:/bin") or "", self.here / "bin" / "gzip")
        self.learn(*program)
        golden = self.bench.folder / "goldens" / "it.toml"
        text = golden.read_text()
        self.assertIn('[program."$CWD/bin/gzip"]', text)
        text = text.replace("format = 3", "format = 1").replace('[program."$CWD/bin/gzip"]', "[program.gzip]")
        golden.write_text(text.replace("execute $CWD/bin/gzip", "execute gzip"))
        self.assertEqual(self.check(*program), [])

    def test_a_database(self) -> None:
        program = self.script(DATABASE)
        self.learn(*program)
        self.assertEqual(self.check(*program), [])
        self.found("'$CWD/app.db'", *program, "wal")

    def build(self, flags: str) -> tuple[str, ...]:
        for name in ("one", "two", "three"):
            (self.here / f"{name}.c").write_text(f"int {name}(int x) {{ int y = 0; while (x--) y += x % 3; return y; }}\n"
                                                 + ("int main(void) { return 0; }\n" if name == "one" else ""))
        for made in [*self.here.glob("*.o"), *self.here.glob("*.d"), self.here / "all"]:
            made.unlink(missing_ok=True)
        (self.here / "Makefile").write_text(MAKEFILE)
        return ("make", f"CFLAGS={flags}")

    def test_a_build(self) -> None:
        """A flag of the compiler changes every file that is built."""
        self.learn_builds()
        self.assertEqual(self.check(*self.build("-O1")), [])
        for flags, words in (("-O1 -g", ".s'"), ("-O2", ".s'"), ("-O1 -MMD", ".d'"), ("-O1 -flto", "lto-wrapper'")):
            with self.subTest(flags):
                self.found(words, *self.build(flags))

    def learn_builds(self) -> None:
        runs = [str(self.bench.record(*self.build("-O1"), cwd=self.here)) for _ in range(LEARN_RUNS)]
        done = self.bench.call("golden", "add", "it", *runs)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_build_in_parallel(self) -> None:
        """That children run at once is seen where they ran one after the other; where they do, it may vary."""
        self.learn_builds()
        self.found("process 'make' runs 2 children at once", *self.build("-O1"), "-j2")
        shutil.rmtree(self.bench.folder / "goldens")
        runs = [str(self.bench.record(*self.build("-O1"), "-j2", cwd=self.here)) for _ in range(LEARN_RUNS)]
        self.assertEqual(self.bench.call("golden", "add", "it", *runs).returncode, 0)
        self.assertEqual(self.check(*self.build("-O1"), "-j2"), [])

    def test_children(self) -> None:
        """How they end, which umask they have, in which order they are started, and what follows from that."""
        (self.here / "words").write_text("one\ntwo\nthree\n")
        script = "umask 022\nsort words >a\ngrep -q two words\nwc a >b\ncut -c1 a | tr a b >c\ncp a d; chmod 600 d\n"
        self.learn(*self.shell(script))
        self.assertEqual(self.check(*self.shell(script)), [])
        for before, after, words in (("umask 022", "umask 077", "process 'sh' has umask 0077 instead of 0022"),
                                     ("umask 022\n", "", "process 'sh' does not set its umask any more (0022 before)"),
                                     ("-q two", "-q four", "process 'sh > grep' ends with status 1 once instead of never"),
                                     ("cut -c1 a", "sh -c 'kill -9 $$' | cut -c1 a", "'sh > sh'"),
                                     ("sort words >a\ngrep -q two words\n", "grep -q two words\nsort words >a\n", "another order"),
                                     ("wc a >b\n", "wc a >b & wait\n", "another order"),
                                     ("wc a >b\n", "wc a >b & ls a >/dev/null; wait\n", "'sh > ls'"),
                                     ("; chmod 600 d", "", "'sh > chmod'"),
                                     ("cp a d", "ln -f a d", "starts 'sh > ln' instead of 'sh > cp'")):
            with self.subTest(after or before):
                self.clear()
                self.found(words, *self.shell(script.replace(before, after)))

    def clear(self) -> None:
        for name in "abcd":
            (self.here / name).unlink(missing_ok=True)

    def test_files_that_belong_together(self) -> None:
        """One cause that shows in several files: numbered files, a folder, a copy, what is read to be written, the code for it."""
        program = ("import os, shutil, tempfile\nshutil.rmtree('out', ignore_errors=True)\nos.mkdir('out')\n"
                   "for i in range(3):\n    fd = os.open(f'out/m{i}.tmp', os.O_WRONLY | os.O_CREAT, 0o600)\n    os.write(fd, open('program.py', 'rb').read(64))\n"
                   "    os.close(fd)\n    os.rename(f'out/m{i}.tmp', f'out/m{i}')\n"
                   "os.chmod('out/m0', 0o640)\nshutil.copy('out/m0', 'copy')\nwork = tempfile.mkdtemp()\nopen(work + '/x', 'w').close()\n"
                   "shutil.copyfile('out/m1', work + '/y')\nshutil.rmtree(work)\nshutil.copyfile('out/m2', 'last')\nos.rename('last', 'final')\n"
                   "for name in ('copy', 'final'):\n    os.unlink(name)\n")
        self.learn(*self.script(program))
        self.assertEqual(self.check(*self.script(program)), [])
        for before, after, words in (("    os.rename(f'out/m{i}.tmp', f'out/m{i}')\n", "",
                                      "'$CWD/out/m0' is written in place"),
                                     ("0o640", "0o644", "'$CWD/out/m0' gets permissions 0644 instead of 0640"),
                                     ("shutil.rmtree(work)\n", "", "is left behind"),
                                     ("shutil.copyfile('out/m2', 'last')", "os.symlink('out/m2', 'last')", "symbolic link"),
                                     ("work = ", "import socket; socket.socket().connect_ex(('127.0.0.1', 9))\nwork = ", "'127.0.0.1:9'")):
            with self.subTest(after or before):
                changed = program.replace(before, after)
                if "in place" in words:
                    changed = changed.replace("f'out/m{i}.tmp'", "f'out/m{i}'")
                self.found(words, *self.script(changed))

    def test_names_that_vary_in_a_gate(self) -> None:
        """A gate compares with a golden as `golden check` does."""
        program = self.script("import os, time\nname = 'out-%s' % os.environ['RUN_NAME']\nopen(name, 'w').close()\nos.unlink(name)\n")
        runs = []
        for word in ("alpha", "bravo"):
            runs.append(str(self.bench.record("/usr/bin/env", f"RUN_NAME={word}", *program, cwd=self.here)))
        self.assertEqual(self.bench.call("golden", "add", "it", *runs).returncode, 0)
        self.assertTrue(re.search("out-<varies>", (self.bench.folder / "goldens" / "it.toml").read_text()))
        (self.bench.folder / "gate.toml").write_text('[[gate]]\nname = "as before"\ntype = "golden"\ngolden = "it"\n')
        run = self.bench.record("/usr/bin/env", "RUN_NAME=charlie", *program, cwd=self.here)
        done = self.bench.call("gate", "-c", "gate.toml", str(run))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def main() -> None:
    Case.wheeltap = os.path.abspath(sys.argv.pop(1))
    need_system_calls(Case.wheeltap)
    unittest.main(verbosity=0)


if __name__ == "__main__":
    main()
