#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What run.json says of a git repository is what git says; and nothing that a repository names is run for it.

usage: test_git.py BUILD [NAME...]
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
ENVIRONMENT.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_COMMITTER_NAME="t",
                   GIT_AUTHOR_EMAIL="t@example.org", GIT_COMMITTER_EMAIL="t@example.org", HOME="/nonexistent")
OLD = 1_500_000_000  # a time long before any index


class Repository(harness.Case):
    def setUp(self) -> None:
        super().setUp()
        self.tree = self.folder / "tree"
        self.tree.mkdir()

    def git(self, *words: str, where: Path | None = None) -> str:
        done = subprocess.run(["git", "-c", "protocol.file.allow=always", *words], cwd=where or self.tree, env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True,
                              stderr=subprocess.DEVNULL, timeout=harness.PATIENCE)
        return done.stdout.strip()

    def begin(self, *how: str, **files: str) -> None:
        self.git("init", "-q", *how)
        for name, text in (files or {"file": "one\n"}).items():
            (self.tree / name).write_text(text)
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def seen(self, where: Path | None = None) -> dict[str, object]:
        """What is said if there is time enough; on a busy machine two seconds may not be."""
        for _ in range(10):
            said = self.said(where)
            if said and said["dirty"] is not None:
                break
        return said

    def said(self, where: Path | None = None, **more: str) -> dict[str, object]:
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        done = harness.record(run, "true", cwd=where or self.tree, env={**ENVIRONMENT, **more}, options=("-q",))
        self.assertEqual(done.returncode, 0, done.stderr)
        return harness.described(run)["git"]

    def clean(self) -> dict[str, object]:
        return {"commit": self.git("rev-parse", "HEAD"), "branch": self.branch(), "dirty": False, "diff_hash": None}

    def branch(self) -> str | None:
        name = self.git("rev-parse", "--abbrev-ref", "HEAD")
        return None if name == "HEAD" else name

    def assert_dirty(self) -> str:
        seen = self.seen()
        self.assertEqual((seen["commit"], seen["dirty"]), (self.git("rev-parse", "HEAD"), True))
        self.assertRegex(str(seen["diff_hash"]), "^[0-9a-f]{32}$")
        return str(seen["diff_hash"])


class Answers(Repository):
    def test_each_change(self) -> None:
        self.begin(a="a\n", b="b\n", c="c\n")
        self.assertEqual(self.seen(), self.clean())
        (self.tree / "untracked").write_text("x")
        self.assertEqual(self.seen(), self.clean())
        hashes = set()
        for change in ("echo more >>a", "rm b", "chmod +x c", "git mv a d", "git rm -q --cached b", "ln -sf a c",
                       "mkdir -p e && echo e >e/f && git add e/f", "echo g >g && git add -N g", "rm c && mkfifo c",
                       "rm c && mkdir c", "git rm -q b && echo b >b"):
            subprocess.run(["sh", "-ec", change], cwd=self.tree, env=ENVIRONMENT, check=True)
            with self.subTest(change=change):
                hashes.add(self.assert_dirty())
            subprocess.run(["sh", "-ec", "git reset -q && git clean -qfdx && git checkout -q . && git reset -q --hard"],
                           cwd=self.tree, env=ENVIRONMENT, check=True)
            self.assertEqual(self.seen(), self.clean(), f"after {change}")
        self.assertEqual(len(hashes), 8)  # b is gone in three ways, c in two

    def test_staged_or_not_is_the_same(self) -> None:
        self.begin(a="a\n", b="b\n")
        (self.tree / "a").write_text("other\n")
        (self.tree / "b").unlink()
        one = self.assert_dirty()
        self.git("add", "a")
        two = self.assert_dirty()
        self.git("add", "-A")
        self.assertEqual({one, two, self.assert_dirty()}, {one})
        (self.tree / "a").write_text("a\n")  # staged, and taken back since
        (self.tree / "b").write_text("b\n")
        self.git("reset", "-q", "b")
        self.assertEqual(self.git("diff", "HEAD"), "")
        self.assertEqual(self.seen(), self.clean())

    def test_touched_is_not_changed(self) -> None:
        self.begin(a="a\n", b="b\n")
        os.utime(self.tree / "a")
        os.utime(self.tree / "b", (OLD, OLD))
        self.assertEqual(self.seen(), self.clean())

    def test_same_size_and_time(self) -> None:
        """As git says itself: what was written in the moment of the index has to be read."""
        self.begin(a="a\n")
        for text in ("b\n", "a\n"):
            (self.tree / "a").write_text(text)
            index = (self.tree / ".git" / "index").stat()
            os.utime(self.tree / "a", ns=(index.st_mtime_ns, index.st_mtime_ns))
            self.git("update-index", "--refresh", "-q") if text == "a\n" else None
            self.assertEqual(self.seen()["dirty"], text == "b\n")

    def test_versions_of_the_index(self) -> None:
        self.begin(**{f"some{i}": f"{i}\n" for i in range(300)})
        os.mkdir(self.tree / "deep")
        for version in ("2", "3", "4"):
            self.git("update-index", "--index-version", version)
            self.assertEqual(self.seen(), self.clean(), version)
            (self.tree / "some123").write_text("changed\n")
            self.assert_dirty()
            self.git("checkout", "-q", ".")

    def test_sha256(self) -> None:
        try:
            self.begin("--object-format=sha256")
        except subprocess.CalledProcessError:
            self.skipTest("this git has no repositories with SHA-256")
        os.utime(self.tree / "file", (OLD, OLD))
        self.assertEqual(self.seen(), self.clean())
        (self.tree / "file").write_text("two\n")
        self.assert_dirty()

    def test_merge_conflict(self) -> None:
        self.begin(a="a\n")
        self.git("checkout", "-qb", "other")
        (self.tree / "a").write_text("b\n")
        self.git("commit", "-qam", "b")
        self.git("checkout", "-q", "-")
        (self.tree / "a").write_text("c\n")
        self.git("commit", "-qam", "c")
        with self.assertRaises(subprocess.CalledProcessError):
            self.git("merge", "-q", "other")
        self.assert_dirty()

    def test_places(self) -> None:
        """From below, in another work tree, without permissions, without a commit, without a repository."""
        self.begin()
        (self.tree / "x" / "y").mkdir(parents=True)
        self.assertEqual(self.seen(self.tree / "x" / "y"), self.clean())
        self.git("worktree", "add", "-q", "../second")
        self.assertEqual(self.seen(self.folder / "second"), {**self.clean(), "branch": "second"})
        (self.folder / "second" / "file").write_text("two\n")
        self.assertTrue(self.seen(self.folder / "second")["dirty"])
        self.assertEqual(self.seen(), self.clean())
        self.git("config", "core.fileMode", "false")
        (self.tree / "file").chmod(0o755)
        self.assertEqual(self.seen(), self.clean())
        new = self.folder / "new"
        new.mkdir()
        self.assertIsNone(self.said(new))
        self.git("init", "-q", where=new)
        self.assertIsNone(self.said(new))

    def test_what_git_does_not_look_at(self) -> None:
        self.begin(a="a\n", b="b\n")
        self.git("update-index", "--assume-unchanged", "a")
        self.git("update-index", "--skip-worktree", "b")
        (self.tree / "a").write_text("other\n")
        (self.tree / "b").unlink()
        self.assertEqual(self.git("diff", "HEAD"), "")
        self.assertEqual(self.seen(), self.clean())

    def test_submodule(self) -> None:
        self.begin()
        sub = self.folder / "sub"
        sub.mkdir()
        self.git("init", "-q", where=sub)
        self.git("commit", "-q", "--allow-empty", "-m", "one", where=sub)
        self.git("submodule", "--quiet", "add", str(sub), "inner")
        self.git("commit", "-qm", "with a submodule")
        self.assertEqual(self.seen(), self.clean())
        self.git("commit", "-q", "--allow-empty", "-m", "two", where=self.tree / "inner")
        self.assert_dirty()
        self.git("submodule", "--quiet", "deinit", "-f", "inner")
        self.assertEqual(self.seen(), self.clean())

    def test_damaged_index(self) -> None:
        self.begin(**{f"some{i}": f"{i}\n" for i in range(50)})
        index = self.tree / ".git" / "index"
        whole = index.read_bytes()
        chance = random.Random(5)
        for _ in range(20):
            data = bytearray(whole)
            for _ in range(4):
                data[chance.randrange(len(data))] = chance.randrange(256)
            index.write_bytes(bytes(data[: chance.randrange(1, len(data))]))
            self.said()  # whatever it says, it says something

    def test_index_that_is_no_file(self) -> None:
        self.begin()
        commit = self.git("rev-parse", "HEAD")
        (self.tree / ".git" / "index").unlink()
        os.mkfifo(self.tree / ".git" / "index")
        for _ in range(10):
            said = self.said()
            if said:
                break
        self.assertEqual(said, {"commit": commit, "branch": self.branch(), "dirty": None, "diff_hash": None})

    def test_as_git_has_it(self) -> None:
        """Any changes, one after the other: always the same answer as that of git."""
        chance = random.Random(11)
        names = [f"d{i % 3}/f{i}" for i in range(12)]
        self.git("init", "-q")
        for name in names:
            (self.tree / name).parent.mkdir(exist_ok=True)
            (self.tree / name).write_text(name)
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        answers = set()
        for _ in range(60):
            path = self.tree / chance.choice(names)
            act = chance.randrange(9)
            path.parent.mkdir(exist_ok=True)
            if act == 0:
                path.write_text(chance.choice(("x", "y", str(path.relative_to(self.tree)))))
            elif act == 1:
                path.unlink(missing_ok=True)
            elif act == 2 and path.exists():
                path.chmod(path.stat().st_mode ^ 0o111)
            elif act == 3:
                self.git("add", "-A")
            elif act == 4:
                self.git("reset", "-q")
            elif act == 5 and path.exists():
                os.utime(path, (OLD, OLD))
            elif act in (6, 7):
                self.git("reset", "-q", "--hard")
            elif act == 8 and self.git("status", "--porcelain"):
                self.git("add", "-A")
                self.git("commit", "-q", "--allow-empty", "-m", "more")
            expected = bool(self.git("diff", "HEAD", "--name-only"))
            self.assertEqual(self.seen()["dirty"], expected, self.git("status", "--porcelain"))
            answers.add(expected)
        self.assertEqual(answers, {True, False})

    def test_few_of_many(self) -> None:
        """Many files are looked at by several threads; what differs is the same as where there are no others."""
        changed = [0, 63, 64, 65, 127, 128, 255, 256, 2999]
        hashes = []
        for numbers in (list(range(3000)), changed):
            shutil.rmtree(self.tree)
            self.tree.mkdir()
            self.begin(**{f"f{i:04}": f"{i}\n" for i in numbers})
            self.assertEqual(self.seen(), self.clean())
            for i in changed[1:]:
                (self.tree / f"f{i:04}").write_text(f"not {i}\n")
            (self.tree / f"f{changed[0]:04}").unlink()
            (self.tree / "staged").write_text("new\n")
            self.git("add", "staged")
            hashes.append(self.assert_dirty())
        self.assertEqual(hashes[0], hashes[1])


class NothingIsRun(Repository):
    """Each leaves a mark if it is run at all."""

    def setUp(self) -> None:
        super().setUp()
        self.mark = self.folder / "mark"
        self.script = self.folder / "script"
        self.script.write_text(f"#!/bin/sh\necho \"$0 $*\" >>{self.mark}\ncat\n")
        self.script.chmod(0o755)

    def look(self) -> None:
        """Changed and touched files, and some of the moment of the index."""
        self.mark.unlink(missing_ok=True)
        (self.tree / "file").write_text("changed\n")
        os.utime(self.tree / "other", (OLD, OLD))
        self.said()
        self.assertFalse(self.mark.exists(), self.mark.read_text() if self.mark.exists() else "")

    def runs_when_git_looks(self) -> bool:
        """Whether git itself would have run it: otherwise the test proves nothing."""
        self.mark.unlink(missing_ok=True)
        (self.tree / "file").write_text("changed\n")
        os.utime(self.tree / "other", (OLD, OLD))
        try:
            self.git("diff", "HEAD")
        except subprocess.CalledProcessError:
            pass
        ran = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return ran

    def test_filters(self) -> None:
        self.begin(file="one\n", other="two\n")
        (self.tree / ".git" / "info").mkdir(exist_ok=True)
        (self.tree / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
        for key in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.command", "diff.x.textconv",
                    "core.fsmonitor", "diff.external", "core.pager", "core.sshCommand", "core.askPass"):
            with self.subTest(key=key):
                self.git("config", key, str(self.script))
                if key in ("filter.x.clean", "filter.x.process", "diff.x.command", "diff.x.textconv", "core.fsmonitor"):
                    self.assertTrue(self.runs_when_git_looks())
                self.look()
                self.assertTrue(self.seen()["dirty"])
                self.git("config", "--unset", key)

    def test_filter_of_a_clean_tree(self) -> None:
        """The size and the times of the index are those of the file as it is: nothing has to be read."""
        (self.tree / ".gitattributes").write_text("* text eol=crlf\n")
        self.git("init", "-q")
        (self.tree / "a").write_text("one\r\n")
        for path in self.tree.iterdir():
            if path.is_file():
                os.utime(path, (OLD, OLD))
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.assertEqual(self.seen(), self.clean())

    def test_hooks(self) -> None:
        self.begin(file="one\n", other="two\n")
        hooks = self.folder / "hooks"
        hooks.mkdir()
        for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
            shutil.copy(self.script, hooks / name)
        self.git("config", "core.hooksPath", str(hooks))
        self.git("config", "core.fsmonitor", str(hooks / "fsmonitor-watchman"))
        self.look()
        self.assertTrue(self.seen()["dirty"])

    def test_missing_objects_are_not_fetched(self) -> None:
        self.begin(file="one\n", other="two\n")
        self.script.write_text(f"#!/bin/sh\necho \"$0 $*\" >>{self.mark}\n")
        self.git("config", "extensions.partialClone", "origin")
        self.git("config", "core.repositoryFormatVersion", "1")
        self.git("config", "remote.origin.promisor", "true")
        self.git("config", "remote.origin.url", f"ext::{self.script} %S")
        self.git("config", "protocol.ext.allow", "always")
        tree = self.git("rev-parse", "HEAD^{tree}")
        (self.tree / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
        self.assertTrue(self.runs_when_git_looks())
        self.look()

    def test_nothing_stays_behind(self) -> None:
        self.begin(file="one\n", other="two\n")
        (self.tree / ".gitattributes").write_text("* filter=slow\n")
        pid = self.folder / "pid"
        self.script.write_text(f"#!/bin/sh\necho $$ >{pid}\nexec sleep 60\n")
        self.addCleanup(lambda: pid.exists() and harness.kill(int(pid.read_text())))
        self.git("config", "filter.slow.clean", str(self.script))
        (self.tree / "file").write_text("changed\n")
        begun = time.monotonic()
        seen = self.said()
        self.assertFalse(pid.exists() and harness.alive(int(pid.read_text())), "a filter was left running")
        self.assertLess(time.monotonic() - begun, 20)
        self.assertTrue((seen if seen and seen["dirty"] is not None else self.seen())["dirty"])

    def test_git_that_hangs_is_ended_with_its_children(self) -> None:
        """In place of git: something that starts a child and does not end."""
        self.begin()
        tools = self.folder / "tools"
        tools.mkdir()
        pids = self.folder / "pids"
        (tools / "git").write_text(f"#!/bin/sh\nsleep 120 &\necho $! $$ >{pids}\nwait\n")
        (tools / "git").chmod(0o755)
        begun = time.monotonic()
        self.assertIsNone(self.said(PATH=f"{tools}:{ENVIRONMENT['PATH']}"))
        took = time.monotonic() - begun
        left = [int(pid) for pid in pids.read_text().split()]
        alive = []
        until = time.monotonic() + 5
        while time.monotonic() < until and (alive := [pid for pid in left if harness.alive(pid)]):
            time.sleep(0.01)
        for pid in alive:
            harness.kill(pid)
        self.assertEqual(alive, [])
        self.assertLess(took, 20)


class Time(Repository):
    def test_many_files(self) -> None:
        """A ceiling that only a mistake of another order reaches; the figure is for people."""
        self.git("init", "-q")
        for i in range(5000):
            if i % 100 == 0:
                (self.tree / f"d{i // 100}").mkdir()
            (self.tree / f"d{i // 100}" / f"f{i}").write_text(f"{i}\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        begun = time.monotonic()
        self.assertEqual(self.seen(), self.clean())
        print(f"# 5000 files: {time.monotonic() - begun:.3f} s for a recording of true")
        self.assertLess(time.monotonic() - begun, 20)


if __name__ == "__main__":
    unittest.main()
