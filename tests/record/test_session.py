# SPDX-License-Identifier: Apache-2.0
"""Where agents and recorder meet: whom an agent believes, and that nothing is missing in silence.

usage: test_session.py BUILD [TEST...]
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Iterator

if len(sys.argv) > 1:
    os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import programs  # noqa: E402

LEAVER = str(programs.PROGRAMS / "record_leaver")
PYTHON_HOME = harness.BUILD / "python"
INTERPRETER = "/usr/bin/python3"
EVENTS = 100
VICTIM, ATTACKER = 65532, 65533
PATIENCE = harness.PATIENCE
CLONE_NEWIPC = 0x08000000


def environment(**more: str) -> dict[str, str]:
    # Loaders find a library beside the program through /proc, which some of these do not have.
    return harness.environment(LD_LIBRARY_PATH=os.path.dirname(programs.CLIENT), **more)


class Place(harness.Case):
    """A folder that all users may enter, and that is everybody's temporary one."""

    def setUp(self) -> None:
        super().setUp()
        self.folder.chmod(0o755)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.temporary.chmod(0o1777)
        self.empty = self.folder / "empty"
        self.empty.mkdir(mode=0o755)
        self.runs = 0

    def record(self, *words: str, before: tuple[str, ...] = ()) -> tuple[subprocess.CompletedProcess[str], Path]:
        self.runs += 1
        run = self.folder / f"run{self.runs}"
        done = subprocess.run([*before, harness.WHEELTAP, "record", "-o", str(run), "--", *words], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE, env=environment(TMPDIR=str(self.temporary)))
        return done, run


def shared_segments(listed: str) -> list[str]:
    """The numbers in what /proc/sysvipc/shm lists, the second of each line."""
    return [line.split()[1] for line in listed.splitlines() if line.split()]


def marks_in(run: Path) -> int:
    return sum(int(track["marks"]) for track in programs.tracks(run, "cut"))


class NothingInSilence(Place):
    """Each way out of what a process was started in, before its first event."""

    def go(self, *ways: str, execs: bool = False, before: tuple[str, ...] = ()) -> tuple[str, dict[str, Any], int] | None:
        words = [LEAVER, *(["exec"] if execs else []), str(self.empty), str(EVENTS), *ways]
        done, run = self.record(*words, before=before)
        if done.returncode == 77:
            print(f"skipped: {' '.join(ways)}: {done.stderr.splitlines()[0]}")
            return None
        self.assertEqual(done.returncode, 0, f"{ways}: {done.stderr}")
        return done.stderr, harness.described(run), marks_in(run)

    def expect(self, outcome: str, *ways: str, **how: Any) -> None:
        seen = self.go(*ways, **how)
        if seen is None:
            return
        said, run, marks = seen
        where = f"{ways} {how}: {marks} marks, {run['lost']} lost; {said}"
        if outcome == "recorded":
            self.assertEqual((marks, run["lost"]), (1 + EVENTS, 0), where)
        elif outcome == "counted":
            self.assertEqual((marks, run["lost"]), (1, EVENTS), where)
            self.assertIn(f"{EVENTS} lost", said, where)
        elif outcome == "refused":
            self.assertIn("refused", {node["reason"] for node in run["not_followed"]}, where)
            self.assertIn("refused", said, where)
        elif outcome == "running":
            self.assertEqual(run["still_running"], 1, where)
            self.assertIn("1 still running", said, where)

    def setUp(self) -> None:
        super().setUp()
        if os.geteuid():
            self.skipTest("only root can change user, root and namespaces")

    def test_forked(self) -> None:
        for ways in ((), ("user",), ("root",), ("pivot",), ("proc",), ("temporary",), ("close",), ("capabilities",),
                     ("privileges",), ("userns",), ("ipc",), ("net",), ("pid",), ("time",), ("pid", "proc"),
                     ("ipc", "net", "root", "user")):
            self.expect("recorded", *ways)

    def test_forked_without_a_way(self) -> None:
        for ways in (("close", "user"), ("close", "root"), ("close", "pivot"), ("close", "temporary"), ("files",),
                     ("seccomp",), ("close", "seccomp"), ("user", "files")):
            self.expect("counted", *ways)

    def test_executed(self) -> None:
        for ways in ((), ("proc",), ("close",), ("capabilities",), ("privileges",), ("userns",), ("ipc",), ("net",),
                     ("pid",), ("time",), ("ipc", "pid", "proc")):
            self.expect("recorded", *ways, execs=True)
        for ways in (("temporary",), ("seccomp",)):
            self.expect("counted", *ways, execs=True)
        for ways in (("user",), ("ipc", "user")):
            self.expect("refused", *ways, execs=True)

    def test_child_that_emits_later(self) -> None:
        self.expect("recorded", "alone", "later")
        self.expect("recorded", "alone", "close", "later")
        self.expect("recorded", "alone", "later", execs=True)

    def test_child_that_emits_much_later(self) -> None:
        self.expect("running", "alone", "much-later")

    def test_recorder_without_proc(self) -> None:
        without = ("unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh")
        if subprocess.run([*without, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("/proc cannot be unmounted here")
        self.expect("recorded", before=without)
        self.expect("recorded", execs=True, before=without)
        self.expect("recorded", "user", before=without)

    def test_recorder_without_segments(self) -> None:
        """Then each process has a control page of its own, and what it counts is seen all the same."""
        without = ("unshare", "-i", "sh", "-c", 'echo 0 >/proc/sys/kernel/shmmni && exec "$@"', "sh")
        if subprocess.run([*without, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no IPC namespace can be made here")
        for execs in (False, True):
            self.expect("recorded", before=without, execs=execs)
        self.expect("recorded", "user", before=without)
        self.expect("counted", "close", "user", before=without)
        self.expect("refused", "user", before=without, execs=True)


class SameUser(Place):
    """What a process of the same user does to the files takes nobody down."""

    def test_files_are_cut_and_removed(self) -> None:
        there = 'F=${WHEELTAP_AGENT#*:}; '
        for harm in (": >$F/control", "rm $F/control", "rm $F/control; mkfifo $F/control", "truncate -s 1 $F/control"):
            with self.subTest(harm):
                script = f"{there}{harm}; {programs.PUBLISHER} {self.folder}/counters{self.runs} 1 3000; exit 5"
                done, run = self.record("sh", "-c", script)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertEqual(marks_in(run), 3000, done.stderr)

    def test_cut_while_it_runs(self) -> None:
        script = (f"{programs.TALKER} 40 5 1000 >/dev/null & sleep 0.3; : >${{WHEELTAP_AGENT#*:}}/control; "
                  f"{programs.FAMILY} 8 4 100 >/dev/null; wait $!")
        done, run = self.record("sh", "-c", script)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("nothing lost", done.stderr)
        self.assertEqual(marks_in(run), 1 + (8 + 4) * 100, done.stderr)  # and the talker's first, which counts from 0

    def test_nothing_is_left_behind(self) -> None:
        done, _ = self.record("sh", "-c", 'echo $WHEELTAP_AGENT; cat /proc/sysvipc/shm; exec "$@"', "sh", programs.TALKER, "2", "0")
        self.assertEqual(os.listdir(self.temporary), [])
        variable, *segments = done.stdout.splitlines()
        number = variable.rpartition(".")[2]
        self.assertIn(number, shared_segments("\n".join(segments)))
        self.assertNotIn(number, shared_segments(Path("/proc/sysvipc/shm").read_text()))

    def test_key_is_not_in_the_sockets_name(self) -> None:
        done, _ = self.record("sh", "-c", "echo $WHEELTAP_AGENT; cat /proc/net/unix")
        key = os.path.basename(done.stdout.splitlines()[0])
        self.assertRegex(key, r"^[A-Za-z0-9_-]{22}\.(\d+|none)$")
        self.assertEqual(done.stdout.count(key), 1)


HARMS = ("", "control cut", "control empty", "control fifo", "control symlink", "control folder", "settings fifo",
         "settings symlink", "settings folder", "trouble fifo", "trouble symlink", "socket fifo", "socket symlink")


class OtherUser(Place):
    """A process that outlives its recording still has the variable; another user has made a folder of that name."""

    def setUp(self) -> None:
        super().setUp()
        if os.geteuid():
            self.skipTest("only root can be two other users")
        if not shutil.which("setpriv"):
            self.skipTest("setpriv is missing (util-linux)")
        if subprocess.run([*self.user(VICTIM), programs.TALKER, "1", "0"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=environment()).returncode:
            self.skipTest(f"other users cannot run programs below '{harness.BUILD}'")
        for name, uid in (("victim", VICTIM), ("attacker", ATTACKER)):
            (self.folder / name).mkdir()
            os.chown(self.folder / name, uid, uid)
        self.precious = self.folder / "victim" / "precious"
        self.report = self.folder / "attacker" / "report"

    def user(self, uid: int) -> list[str]:
        return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]

    def recorded(self, uid: int, name: str) -> tuple[str, bytes]:
        """The variable and the control page of a recording that is over."""
        mine = self.folder / name
        done = subprocess.run([*self.user(uid), harness.WHEELTAP, "record", "-o", str(mine / "run"), "--", "sh", "-c",
                               f'echo $WHEELTAP_AGENT >{mine}/variable; cp "${{WHEELTAP_AGENT#*:}}/control" {mine}/page'],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=mine,
                              timeout=PATIENCE, env=environment(TMPDIR=str(self.temporary)))
        self.assertEqual(done.returncode, 0, done.stdout)
        return (mine / "variable").read_text().strip(), (mine / "page").read_bytes()

    def victims(self) -> Iterator[tuple[str, list[str], dict[str, str]]]:
        """What is run, and what else is in its environment."""
        yield "client", [programs.TALKER, "20", "5", "200"], {}
        yield "threads", [programs.PUBLISHER, "counters", "8", "1000"], {}
        program = ["-c", "import sys, threading\nt = threading.Thread(target=print, args=(1,)); t.start(); t.join()\n"
                         "print(sorted(sys.modules)[:0], 2 + 2); sys.exit(5)"]
        if (PYTHON_HOME / "wheeltap" / "inject" / "sitecustomize.py").exists() and list(PYTHON_HOME.glob("wheeltap/_wheeltap.*.so")):
            yield "python", [INTERPRETER, *program], {"PYTHONPATH": str(PYTHON_HOME / "wheeltap" / "inject")}
        else:
            print("skipped: the Python agent is not built")
        # An interpreter for which there is no agent leaves a line for the recorder.
        strange = self.folder / "strange"
        if not strange.exists():
            (strange / "inject").mkdir(parents=True)
            (strange / "__init__.py").write_text("raise ImportError('there is none')\n")
            source = Path(__file__).resolve().parents[2] / "python" / "wheeltap" / "inject" / "sitecustomize.py"
            shutil.copy(source, strange / "inject")
        yield "no agent", [INTERPRETER, *program], {"PYTHONPATH": str(strange / "inject")}

    def attack(self, variable: str, page: bytes, harm: str, number: str = "") -> None:
        # The worst: the attacker knows the key.
        own = re.search(rb"[A-Za-z0-9_-]{22}", page[100:])
        key = os.path.basename(variable).partition(".")[0].encode()
        if own and len(key) == 22:
            page = page.replace(own.group(), key)
        (self.folder / "attacker" / "page").write_bytes(page)
        self.precious.write_text("precious\n")
        os.chown(self.precious, VICTIM, VICTIM)
        self.report.unlink(missing_ok=True)
        folder = variable.partition(":")[2]
        if number:
            Path("/proc/sys/kernel/shm_next_id").write_text(number)
        trap = subprocess.Popen([*self.user(ATTACKER), sys.executable, str(Path(__file__).with_name("trap.py")), folder,
                                 str(self.folder / "attacker" / "page"), harm, str(self.precious), str(self.report)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert trap.stdin and trap.stdout
        try:
            said = trap.stdout.readline()
            if number:
                self.assertEqual(said.split(), ["segment", number])
            self.assertEqual(trap.stdout.readline(), "set\n")
            for what, command, more in self.victims():
                with self.subTest(harm=harm, victim=what):
                    self.stumble(command, environment(WHEELTAP_AGENT=variable, **more), environment(**more))
        finally:
            trap.stdin.close()
            trap.wait(PATIENCE)
            trap.stdout.close()
            shutil.rmtree(folder, ignore_errors=True)
            parent = Path(folder).parent
            if parent != self.temporary:
                shutil.rmtree(parent, ignore_errors=True)

    def stumble(self, command: list[str], trapped: dict[str, str], free: dict[str, str]) -> None:
        """What a victim does is what it does without, and nobody gets anything of it."""
        seen = []
        for env in (free, trapped):
            done = subprocess.run([*self.user(VICTIM), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=PATIENCE, env=env, cwd=self.folder / "victim")
            seen.append((done.returncode, done.stdout, done.stderr))
        self.assertEqual(seen[1], seen[0])
        self.assertEqual(self.precious.read_text(), "precious\n")
        self.assertFalse(self.report.exists(), "the attacker got something")

    def test_traps(self) -> None:
        variable, _ = self.recorded(VICTIM, "victim")
        _, page = self.recorded(ATTACKER, "attacker")
        for harm in HARMS:
            self.attack(variable, page, harm)

    def test_segment_of_the_same_number(self) -> None:
        next_id = Path("/proc/sys/kernel/shm_next_id")
        if not next_id.exists():
            self.skipTest("this kernel does not let one choose a segment's number")
        self.enter_own_segments()
        variable, _ = self.recorded(VICTIM, "victim")
        _, page = self.recorded(ATTACKER, "attacker")
        self.attack(variable, page, "", number=variable.rpartition(".")[2])

    def enter_own_segments(self) -> None:
        """Until the end of the test: elsewhere any process might take the number before the attacker does."""
        libc = ctypes.CDLL(None, use_errno=True)
        before = os.open("/proc/self/ns/ipc", os.O_RDONLY)
        self.addCleanup(os.close, before)
        if libc.unshare(CLONE_NEWIPC):
            self.skipTest(f"no namespace for shared memory of its own: {os.strerror(ctypes.get_errno())}")
        self.addCleanup(lambda: self.assertEqual(libc.setns(before, CLONE_NEWIPC), 0))

    def test_older_protocol(self) -> None:
        """Its folder has no key; all that is done there is to say that we speak another."""
        _, page = self.recorded(ATTACKER, "attacker")
        for harm in ("", "control cut", "control fifo", "control symlink"):
            self.attack(f"1:{self.temporary}/wheeltap-ABCDEF", page, harm)


class Mismatch(Place):
    def test_said_to_an_older_recorder(self) -> None:
        """Whose folder has the control page and no key: the two fields are where they were."""
        folder = self.temporary / "wheeltap-ABCDEF"
        folder.mkdir(mode=0o700)
        page = bytearray(4096)
        page[:8] = b"WCTL" + (1).to_bytes(4, "little")
        (folder / "control").write_bytes(page)
        (folder / "control").chmod(0o600)
        done = subprocess.run([programs.TALKER, "1", "5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=PATIENCE, env=environment(WHEELTAP_AGENT=f"1:{folder}"))
        self.assertEqual(done.returncode, 5)
        after = (folder / "control").read_bytes()
        self.assertEqual((int.from_bytes(after[60:64], "little"), int.from_bytes(after[64:68], "little")), (1, 2))
        self.assertEqual(os.listdir(folder), ["control"])

    def test_said_by_an_older_agent(self) -> None:
        """Which counts itself in the file that the variable leads to."""
        older = ('F=${WHEELTAP_AGENT#*:}; [ "$(head -c 4 $F/control)" = WCTL ] && [ "$(stat -c %s $F/control)" -ge 128 ] '
                 "&& printf '\\1\\0\\0\\0\\1\\0\\0\\0' | dd of=$F/control bs=1 seek=60 conv=notrunc status=none")
        done, _ = self.record("sh", "-c", older)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"of an older wheeltap \(protocol 1\), and this recorder is wheeltap [0-9.]+ \(protocol 2\); build")

    def test_newer_agent(self) -> None:
        """A program that was built with the agent of a version to come: it runs, and both are named."""
        done, run = self.record(programs.NEWER, "3", "5")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (5, "line 2 of the output"), done.stderr)
        self.assertRegex(done.stderr, r"of a newer wheeltap \(protocol 9\), and this recorder is wheeltap [0-9.]+ \(protocol 2\); record with")
        self.assertEqual(marks_in(run), 0)


if __name__ == "__main__":
    unittest.main()
