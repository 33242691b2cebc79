#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `wheeltap record` promises to the program, to the terminal and to whoever reads the run later.

One file, though a long one: a list of promises, a short test each; folders, names, limits, git and sessions have their own files.

usage: test_record.py BUILD [NAME...]
"""

from __future__ import annotations

import hashlib
import json
import os
import pty
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest
from pathlib import Path

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import programs  # noqa: E402

SH = "/bin/sh"
# Python without an agent. Behind env, because `record` prints a line about -I where it sees it, also with -q.
ISOLATED = ("/usr/bin/env", "/usr/bin/python3", "-I", "-c")


class Recording(harness.Case):
    def record(self, *words: str, **more: object) -> subprocess.CompletedProcess[bytes]:
        return harness.record(self.run_folder, *words, **more)  # type: ignore[arg-type]


class Status(Recording):
    def test_exit_status_is_the_programs(self) -> None:
        for status in (0, 1, 3, 125, 255):
            done = self.record(SH, "-c", f"exit {status}")
            self.assertEqual(done.returncode, status)
            self.assertEqual(self.described()["exit_status"], status)
            self.assertEqual(self.described()["status"], "failed" if status else "finished")
            shutil.rmtree(self.run_folder)

    def test_killed_by_a_signal(self) -> None:
        done = self.record(SH, "-c", "kill -SEGV $$")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertEqual((self.described()["status"], self.described()["signal"]), ("killed", signal.SIGSEGV))

    def test_no_such_program(self) -> None:
        done = self.record("no-such-program-anywhere")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"no such program 'no-such-program-anywhere'", done.stderr)
        self.assertFalse(self.run_folder.exists())

    def test_not_executable(self) -> None:
        plain = self.folder / "plain"
        plain.write_text("not a program")
        self.assertEqual(self.record(str(plain)).returncode, 126)
        plain.chmod(0o755)
        plain.write_bytes(b"\x7fELF but not really")
        done = self.record(str(plain))
        self.assertIn(done.returncode, (126, 127, 2))  # a shell has a try at it, as it would have without us
        self.assertEqual(self.record(str(self.folder)).returncode, 126)

    def test_script_without_first_line(self) -> None:
        script = self.folder / "script"
        script.write_text("exit 9\n")
        script.chmod(0o755)
        self.assertEqual(self.record(str(script)).returncode, 9)

    def test_folder_cannot_be_made(self) -> None:
        (self.folder / "file").write_text("")
        done = harness.record(self.folder / "file" / "run", "true")
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count(b"\n"), 1)


class Signals(Recording):
    TRAP = 'trap "echo got $1; exit 5" $1; echo ready; while :; do sleep 0.01; done'

    def test_passed_on_once(self) -> None:
        for name in ("INT", "TERM", "HUP", "USR1", "USR2", "QUIT"):
            script = f'n=0; trap "n=\\$((n+1)); echo got {name} \\$n" {name}; echo ready; ' \
                     "while [ $n -eq 0 ]; do sleep 0.01; done; sleep 0.3; exit 5"
            recorder = harness.start(self.run_folder, SH, "-c", script)
            assert recorder.stdout
            self.assertEqual(recorder.stdout.readline(), b"ready\n")
            recorder.send_signal(getattr(signal, "SIG" + name))
            out, _ = recorder.communicate(timeout=harness.PATIENCE)
            self.assertEqual(out, f"got {name} 1\n".encode())
            self.assertEqual(recorder.returncode, 5)
            expected = "failed" if name.startswith("USR") else "interrupted"
            self.assertEqual(self.described()["status"], expected, name)
            shutil.rmtree(self.run_folder)

    def test_program_that_dies_of_it(self) -> None:
        recorder = harness.start(self.run_folder, SH, "-c", f"echo ready; exec sleep {harness.PATIENCE}")
        assert recorder.stdout
        recorder.stdout.readline()
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=harness.PATIENCE)
        self.assertEqual(recorder.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.described()["status"], "interrupted")

    def test_program_that_finishes_all_the_same(self) -> None:
        """It ignores the signal, or ends well because of it: its status says so, and the signal is noted."""
        ended = self.folder / "ended"
        for script in (f'trap "" INT; echo ready; until [ -e {ended} ]; do sleep 0.01; done',
                       'trap "exit 0" INT; echo ready; while :; do sleep 0.01; done'):
            recorder = harness.start(self.run_folder, SH, "-c", script)
            assert recorder.stdout
            self.assertEqual(recorder.stdout.readline(), b"ready\n")
            recorder.send_signal(signal.SIGINT)
            time.sleep(0.2)
            ended.touch()
            recorder.communicate(timeout=harness.PATIENCE)
            run = self.described()
            self.assertEqual((recorder.returncode, run["status"], run["exit_status"], run["signal"]), (0, "finished", 0, None))
            self.assertEqual(run["signal_passed_on"], signal.SIGINT)
            shutil.rmtree(self.run_folder)
            ended.unlink()

    def test_stopped_program_goes_on(self) -> None:
        recorder = harness.start(self.run_folder, programs.TALKER, "50", "3", "3000")
        pid = harness.wait_for(lambda: harness.program_of(recorder.pid, "record_talker"))
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        recorder.communicate(timeout=harness.PATIENCE)
        self.assertEqual(recorder.returncode, 3)

    def test_mask_and_dispositions_are_inherited(self) -> None:
        show = "import signal,sys; print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), " \
               "signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTTOU))"
        words = ["/usr/bin/python3", "-I", "-c", show]

        def ignore_hangup() -> None:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        plain = subprocess.run(words, stdout=subprocess.PIPE, preexec_fn=ignore_hangup)
        self.assertEqual(self.record(*words, preexec_fn=ignore_hangup).stdout, plain.stdout)


class Streams(Recording):
    def test_output_is_untouched(self) -> None:
        program = "import os,sys; d=bytes(range(256))*4096; " \
                  "[os.write(1,d) for _ in range(8)]; [os.write(2,d[::-1]) for _ in range(4)]"
        done = self.record(*ISOLATED, program, options=("--quiet",))
        data = bytes(range(256)) * 4096
        self.assertEqual(hashlib.sha256(done.stdout).digest(), hashlib.sha256(data * 8).digest())
        self.assertEqual(hashlib.sha256(done.stderr).digest(), hashlib.sha256(data[::-1] * 4).digest())
        self.assertEqual(self.described()["console"]["bytes"], len(data) * 12)  # type: ignore[index]

    def test_console_log_has_it_too(self) -> None:
        self.record(SH, "-c", "echo one; echo two >&2; sleep 0.05; printf three")
        log = (self.run_folder / "console.log").read_text()
        self.assertEqual(sorted(log.split()), ["one", "three", "two"])

    def test_order_within_one_file(self) -> None:
        words = [SH, "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"]
        both = subprocess.run([harness.WHEELTAP, "record", "-q", "-o", str(self.run_folder), "--", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=harness.PATIENCE)
        plain = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(both.stdout, plain.stdout)

    def test_input_is_the_programs(self) -> None:
        data = os.urandom(1 << 20)
        self.assertEqual(self.record("cat", input=data, options=("-q",)).stdout, data)

    def test_other_descriptors_are_inherited(self) -> None:
        inner, outer = os.pipe()
        os.set_inheritable(outer, True)
        self.record(SH, "-c", f"echo through >&{outer}", close_fds=False)
        os.close(outer)
        self.assertEqual(os.read(inner, 100), b"through\n")
        os.close(inner)

    def test_reader_that_goes_away(self) -> None:
        command = f"{harness.WHEELTAP} record -q -o {self.run_folder} -- yes | head -1"
        done = subprocess.run([SH, "-c", command], stdout=subprocess.PIPE, timeout=harness.PATIENCE)
        self.assertEqual(done.stdout, b"y\n")
        harness.wait_for(lambda: self.described()["status"] == "killed")
        self.assertEqual(self.described()["signal"], signal.SIGPIPE)

    def test_sleeping_reader_of_output_does_not_hold_up_errors(self) -> None:
        program = "import os,threading; threading.Thread(target=lambda: os.write(1, b'x' * (1 << 20))).start(); " \
                  "os.write(2, b'heard')"
        recorder = harness.start(self.run_folder, *ISOLATED, program, options=("-q",))
        assert recorder.stderr
        ready, _, _ = select.select([recorder.stderr], [], [], harness.PATIENCE)
        self.assertTrue(ready)
        self.assertEqual(os.read(recorder.stderr.fileno(), 100), b"heard")
        recorder.communicate(timeout=harness.PATIENCE)

    def test_background_child_keeps_its_output(self) -> None:
        done = self.record(SH, "-c", "(sleep 0.5; echo late) & echo early", options=("-q",))
        self.assertEqual(done.stdout, b"early\nlate\n")

    def test_summary_is_two_lines_on_standard_error(self) -> None:
        done = self.record(programs.TALKER, "1", "0")
        said = done.stderr.splitlines()[1:]
        self.assertEqual(len(said), 2)
        self.assertIn(b"events from 1 process", said[0])
        self.assertIn(b"nothing lost", said[0])
        self.assertIn(b"wheeltap info", said[1])
        self.assertEqual(done.stdout, b"line 0 of the output\n")


    def test_no_descriptor_too_many(self) -> None:
        words = [SH, "-c", "ls -l /proc/self/fd | wc -l"]
        plain = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(self.record(*words).stdout, plain.stdout)


class Terminal(Recording):
    """`record` on a terminal: the program sees one too."""

    def on_terminal(self, words: list[str], keys: bytes = b"", until: bytes = b"") -> tuple[int, bytes]:
        pid, master = pty.fork()
        if pid == 0:
            harness.default_signals()
            os.execv(harness.WHEELTAP, [harness.WHEELTAP, "record", "-q", "-o", str(self.run_folder), "--", *words])
        seen, end = b"", time.monotonic() + harness.PATIENCE
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    data = os.read(master, 4096)
                except OSError:
                    break
                if not data:
                    break
                seen += data
            if keys and until in seen:
                os.write(master, keys)
                keys = b""
        _, status = os.waitpid(pid, 0)
        os.close(master)
        return os.waitstatus_to_exitcode(status), seen

    def test_is_a_terminal(self) -> None:
        status, seen = self.on_terminal([SH, "-c", "test -t 0 && test -t 1 && test -t 2 && echo yes; exit 4"])
        self.assertEqual((status, seen), (4, b"yes\r\n"))

    def test_keys_reach_the_program(self) -> None:
        status, seen = self.on_terminal([SH, "-c", "echo ready; read word; echo got $word"], b"hello\n", b"ready")
        self.assertEqual(status, 0)
        self.assertIn(b"got hello", seen)

    def test_interrupt_key(self) -> None:
        script = 'trap "echo interrupted; exit 6" INT; echo ready; while :; do sleep 0.01; done'
        status, seen = self.on_terminal([SH, "-c", script], b"\x03", b"ready")
        self.assertEqual(status, 6)
        self.assertEqual(seen.count(b"interrupted"), 1)

    def test_window_size(self) -> None:
        status, seen = self.on_terminal([SH, "-c", "stty rows 7 cols 33; stty size"])
        self.assertEqual((status, seen), (0, b"7 33\r\n"))

    def test_terminal_is_restored(self) -> None:
        script = f"before=$(stty -g); {harness.WHEELTAP} record -q -o {self.run_folder} -- true; " \
                 'test "$before" = "$(stty -g)" && echo same'
        pid, master = pty.fork()
        if pid == 0:
            harness.default_signals()
            os.execv(SH, [SH, "-c", script])
        seen = b""
        try:
            while data := os.read(master, 4096):
                seen += data
        except OSError:
            pass
        os.waitpid(pid, 0)
        self.assertEqual(seen, b"same\r\n")

    def test_stop_key_and_continue(self) -> None:
        """In a shell with job control: Ctrl-Z stops it, the shell has the terminal, fg goes on."""
        pid, master = pty.fork()
        if pid == 0:
            os.environ["PS1"] = "$ "
            os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
        command = f"{harness.WHEELTAP} record -q -o {self.run_folder} -- " \
                  "sh -c 'echo re''ady; read a; echo re''ad $a'\n"
        steps = [(b"$ ", command.encode()), (b"ready", b"\x1a"), (b"Stopped", b"echo sh''ell\n"), (b"shell", b"fg\n"),
                 (b"record", b"word\n"), (b"read word", b"exit\n")]
        seen, end = b"", time.monotonic() + harness.PATIENCE
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    seen += os.read(master, 4096)
                except OSError:
                    break
            if steps and steps[0][0] in seen:
                time.sleep(0.2)
                os.write(master, steps.pop(0)[1])
                seen = b"" if steps else seen
        os.close(master)
        harness.kill(pid, signal.SIGHUP)
        os.waitpid(pid, 0)
        self.assertEqual(steps, [], f"got stuck after {seen!r}")


class Folder(Recording):
    def test_private(self) -> None:
        self.record(programs.TALKER, "1", "0")
        self.assertEqual(stat.S_IMODE(self.run_folder.stat().st_mode), 0o700)
        for path in self.run_folder.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)

    def test_second_recording_is_refused(self) -> None:
        self.record("true")
        before = (self.run_folder / "run.json").read_bytes()
        done = self.record("touch", str(self.folder / "ran"))
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"already contains a run", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual((self.run_folder / "run.json").read_bytes(), before)

    def test_one_of_many_at_once(self) -> None:
        recorders = [harness.start(self.run_folder, "sleep", "0.3") for _ in range(8)]
        for recorder in recorders:
            recorder.communicate(timeout=harness.PATIENCE)
        self.assertEqual(sorted(r.returncode for r in recorders), [0] + [125] * 7)

    def test_default_folder(self) -> None:
        for _ in range(2):
            subprocess.run([harness.WHEELTAP, "record", "-q", "--name", "a/b c", "--", "true"], cwd=self.folder,
                           env={k: v for k, v in os.environ.items() if k != "WHEELTAP_HOME"}, timeout=harness.PATIENCE, check=True)
        made = sorted(p.name for p in (self.folder / "wheeltap-runs").iterdir())
        self.assertEqual(len(made), 2)
        self.assertTrue(all(name.startswith("a_b_c-") for name in made), made)

    def test_latest_is_elsewhere(self) -> None:
        """-o: what was recorded last is the latest, also if it does not lie below the home."""
        env = {k: v for k, v in os.environ.items() if k != "WHEELTAP_HOME"}

        def said(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run([harness.WHEELTAP, *words], cwd=self.folder, env=env, timeout=harness.PATIENCE, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

        def latest() -> str:
            return str(json.loads(said("info", "--json").stdout)["run"])

        said("record", "-q", "--name", "first", "--", "true")
        self.assertTrue(latest().startswith("first-"), latest())
        said("record", "-q", "-o", "deep/second", "--", "true")
        self.assertEqual(latest(), "second")
        self.assertEqual(len(said("ls", "--names").stdout.split()), 1)
        said("record", "-q", "--name", "third", "--", "true")
        self.assertTrue(latest().startswith("third-"), latest())
        said("record", "-q", "-o", "fourth", "--", "true")
        shutil.rmtree(self.folder / "fourth")
        self.assertTrue(latest().startswith("third-"), latest())

    def test_path_after_directory(self) -> None:
        """The path to look at is one from where the recorder was started."""
        (self.folder / "here").mkdir()
        done = subprocess.run([harness.WHEELTAP, "record", "--directory", str(self.folder), "--", programs.TALKER, "1", "0"],
                              cwd=self.folder / "here", timeout=harness.PATIENCE, text=True, stderr=subprocess.PIPE, check=True,
                              stdout=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != "WHEELTAP_HOME"})
        path = done.stderr.split("wheeltap info ")[1].strip()
        self.assertTrue((self.folder / "here" / path / "run.json").exists(), done.stderr)

    def test_running_and_abandoned(self) -> None:
        recorder = harness.start(self.run_folder, "sleep", str(harness.PATIENCE))
        program = harness.wait_for(lambda: harness.program_of(recorder.pid, "sleep"))
        harness.wait_for(lambda: self.described()["status"] == "running")
        info = [harness.WHEELTAP, "info", "--json", str(self.run_folder)]
        self.assertIn(b'"running"', subprocess.run(info, stdout=subprocess.PIPE).stdout)
        harness.kill(recorder.pid)
        harness.kill(program)
        recorder.communicate(timeout=harness.PATIENCE)
        self.assertIn(b'"abandoned"', subprocess.run(info, stdout=subprocess.PIPE).stdout)

    def test_relay_sleeps_when_the_recorder_is_dead(self) -> None:
        """What it holds open is its own: nothing that it closes for the recorder."""
        recorder = harness.start(self.run_folder, "sleep", str(harness.PATIENCE))
        program = harness.wait_for(lambda: harness.program_of(recorder.pid, "sleep"))
        relay, = set(harness.children_of(recorder.pid)) - {harness.parent_of(program)}
        harness.kill(recorder.pid)
        harness.wait_for(lambda: harness.parent_of(relay) != recorder.pid)
        time.sleep(0.2)
        before = harness.cpu_seconds(relay)
        time.sleep(0.8)
        used = harness.cpu_seconds(relay) - before
        self.assertTrue(harness.alive(relay))
        harness.kill(program)
        recorder.communicate(timeout=harness.PATIENCE)
        self.assertLess(used, 0.05)
        harness.wait_for(lambda: not harness.alive(relay))

    def test_deleted_on_the_way(self) -> None:
        recorder = harness.start(self.run_folder, programs.TALKER, "200", "3", "2500")
        harness.wait_for(lambda: (self.run_folder / "0001.wt").exists())
        shutil.rmtree(self.run_folder)
        out, err = recorder.communicate(timeout=harness.PATIENCE)
        self.assertEqual((recorder.returncode, out.count(b"\n")), (3, 200))
        self.assertIn(b"folder was deleted", err)

    def test_what_run_json_says(self) -> None:
        env = {**os.environ, "OMP_NUM_THREADS": "3", "PYTHONHASHSEED": "17", "NOT_ALLOWED": "kept out"}
        self.record(programs.TALKER, "2", "0", "400", "--seed=5", "--data-seed", "6", env=env)
        run = self.described()
        text = (self.run_folder / "run.json").read_text()
        self.assertEqual(run["environment"]["OMP_NUM_THREADS"], "3")  # type: ignore[index]
        self.assertNotIn("kept out", text)
        self.assertEqual(run["seeds"], {"seed": "5", "data-seed": "6", "PYTHONHASHSEED": "17"})
        self.assertEqual(run["command"][1:], ["2", "0", "400", "--seed=5", "--data-seed", "6"])  # type: ignore[index]
        self.assertEqual(run["directory"], os.getcwd())
        self.assertGreater(run["end_ns"], run["start_ns"])  # type: ignore[operator]
        self.assertAlmostEqual(run["start_ns"] / 1e9, time.time(), delta=60)  # type: ignore[operator]
        notes = subprocess.run(["readelf", "-n", programs.TALKER], stdout=subprocess.PIPE, text=True).stdout
        self.assertIn(run["executable"]["build_id"], notes)  # type: ignore[index]
        self.assertTrue(any("libc.so" in m["path"] and m["build_id"] for m in run["loaded"]))  # type: ignore[union-attr,index]
        self.assertEqual(len(run["streams"]), 2)  # type: ignore[arg-type]
        for key in ("host", "git", "config", "name", "duration", "exit_status", "console", "lost"):
            self.assertIn(key, run)

    def test_git(self) -> None:
        def git(*words: str) -> str:
            return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
                                  cwd=self.folder, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        git("init", "-q")
        (self.folder / "file").write_text("one\n")
        git("add", "file")
        git("commit", "-qm", "first")
        below = self.folder / "a" / "b"
        below.mkdir(parents=True)

        def seen() -> dict[str, object]:
            shutil.rmtree(self.run_folder, ignore_errors=True)
            self.record("true", cwd=below)
            return self.described()["git"]  # type: ignore[return-value]
        self.assertEqual(seen(), {"commit": git("rev-parse", "HEAD"), "branch": git("symbolic-ref", "--short", "HEAD"), "dirty": False, "diff_hash": None})
        hashes = set()
        for text in ("two\n", "three\n", "two\n"):
            (self.folder / "file").write_text(text)
            answer = seen()
            self.assertTrue(answer["dirty"])
            hashes.add(answer["diff_hash"])
        self.assertEqual(len(hashes), 2)


class Limits(Recording):
    def test_duration(self) -> None:
        begun = time.monotonic()
        done = self.record(programs.TALKER, "100", "3", "4000", options=("--duration", "1"))
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (3, 100))
        self.assertGreater(time.monotonic() - begun, 3.9)
        run = self.described()
        self.assertEqual(run["status"], "interrupted")
        self.assertLess(run["events"], 90000)  # type: ignore[arg-type]
        self.assertGreater(run["events"], 1000)  # type: ignore[arg-type]
        programs.tracks(self.run_folder)

    def test_ceiling(self) -> None:
        """A ring that all events fit into, and values that do not compress: nothing else is lost, however slow the recorder is."""
        done = self.record(programs.TALKER, "200", "0", options=("--max-size", "600k", "--on-full", "drop", "--ring-size", "16M"))
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"ceiling", done.stderr)
        size = sum(p.stat().st_size for p in self.run_folder.glob("*.wt"))
        self.assertLessEqual(size, 600 << 10)
        self.assertGreater(size, 420 << 10)
        run = self.described()
        self.assertEqual(list(run["losses"]), ["ceiling"])  # type: ignore[call-overload]
        there = sum(int(t["events"]) for t in programs.tracks(self.run_folder, "cut")
                    if t["file"] == "0001.wt" and t["track"] != "0")
        # Beside the steps and the marks: the process, the begin and the end of the thread.
        self.assertEqual(there + run["lost"], 200 * 1001 + 3)  # type: ignore[operator]

    def test_tiny_ceiling(self) -> None:
        """A stream that may not even hold its own clock ends before its first event; with a little more room there are some."""
        for size, bytes_max in (("1k", 0), ("20k", 20 << 10), ("64k", 64 << 10)):
            done = self.record(programs.TALKER, "20", "3", options=("--max-size", size))
            self.assertEqual((done.returncode, done.stdout.count(b"\n")), (3, 20), done.stderr)
            run = self.described()
            self.assertEqual(list(run["losses"]), ["ceiling"], size)  # type: ignore[call-overload]
            if bytes_max:
                self.assertLessEqual(sum(p.stat().st_size for p in self.run_folder.glob("*.wt")), bytes_max)
            else:
                self.assertGreaterEqual(run["lost"], 20 * 1001, size)  # type: ignore[arg-type]
            shutil.rmtree(self.run_folder)

    def test_drop_is_counted_exactly(self) -> None:
        done = self.record(programs.PUBLISHER, str(self.folder / "counters"), "2", "2000000",
                           options=("--ring-size", "64k", "--on-full", "drop"))
        self.assertEqual(done.returncode, 0)
        found = [t for t in programs.tracks(self.run_folder) if t["file"] == "0001.wt" and int(t["marks"])]
        lost = sum(int(t["lost"]) for t in found)
        # Beside the marks: the process, the begins and the ends of two threads.
        self.assertEqual(sum(int(t["events"]) for t in found) + lost, 4000000 + 5)
        self.assertEqual(self.described()["lost"], lost)
        self.assertGreater(lost, 0)

    def test_wait_loses_nothing(self) -> None:
        """With this ring most would be lost otherwise: see the test before."""
        done = self.record(programs.PUBLISHER, str(self.folder / "counters"), "2", "1000000",
                           options=("--ring-size", "64k", "--on-full", "wait"))
        self.assertEqual(done.returncode, 0)
        found = [t for t in programs.tracks(self.run_folder) if t["file"] == "0001.wt" and int(t["marks"])]
        self.assertEqual(sum(int(t["events"]) for t in found), 2000000 + 5)
        self.assertEqual(self.described()["lost"], 0)

    def test_flight_keeps_the_last_seconds(self) -> None:
        self.record(programs.TALKER, "400", "0", "4000", options=("--on-full", "flight=1"))
        run = self.described()
        streams = sorted(p.name for p in self.run_folder.glob("0001.*.wt"))
        self.assertGreater(int(streams[0].split(".")[1]), 5)
        self.assertLessEqual(len(streams), 7)
        self.assertIn("flight", run["losses"])  # type: ignore[operator]
        info = json.loads(subprocess.run([harness.WHEELTAP, "info", "--json", str(self.run_folder)],
                                         stdout=subprocess.PIPE, timeout=harness.PATIENCE).stdout)
        self.assertGreater(info["lost"], 100000)
        self.assertLess(run["events"], 300000)  # type: ignore[arg-type]


class Followed(Recording):
    def test_family(self) -> None:
        done = self.record(programs.FAMILY, "64", "20", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = {}
        for line in done.stdout.decode().splitlines():
            _, pid, _, events = line.split()
            expected[pid] = int(events)
        self.assertEqual(len(expected), 21)
        found: dict[str, list[int]] = {}
        for track in programs.tracks(self.run_folder):
            if track["file"] != "0000.wt" and track["track"] != "0":
                self.assertEqual((track["broken"], track["lost"]), ("False", "0"))
                found.setdefault(track["pid"], []).append(int(track["marks"]))
        parent = next(pid for pid, marks in found.items() if len(marks) > 1)
        self.assertEqual(len(found.pop(parent)), 64)
        self.assertEqual(found, {pid: [n] for pid, n in expected.items() if pid != parent})
        self.assertNotIn(b"not followed", done.stderr)

    def test_exec_counts(self) -> None:
        self.record(programs.FAMILY, "exec", "5")
        found = programs.tracks(self.run_folder)
        first, second = ([t for t in found if t["file"] == name] for name in ("0001.wt", "0002.wt"))
        self.assertEqual({t["pid"] for t in first}, {t["pid"] for t in second})
        self.assertEqual(({t["exec"] for t in first}, {t["exec"] for t in second}), ({"0"}, {"1"}))
        self.assertEqual([t["marks"] for t in [*first, *second] if t["track"] == "1"], ["5", "5"])

    def not_followed(self) -> list[str]:
        return [n["command"] for n in self.described()["not_followed"]]  # type: ignore[union-attr,index]

    def test_helpers_of_a_script_that_becomes_the_program(self) -> None:
        """As of the scripts that choose a version: what they start to find out is a part of starting the program."""
        script = f"n=$(/bin/sleep 0.4; echo 3); : $(sh -c 'sleep 0.4; :'); exec {programs.FAMILY} exec $n"
        around = f"sh -c '{script.replace(chr(39), chr(34))}'; exit 0"
        for line in (script, around):
            self.record(SH, "-c", line)
            self.assertEqual(self.not_followed(), [])
            shutil.rmtree(self.run_folder)

    def test_what_only_starts_the_program_is_not_told(self) -> None:
        """Shells and the like in front of it; what stands beside it is listed, but is no news."""
        program = f"{programs.TALKER} 20 0 1000"
        for line in (f"{program}; exit 0", f"nice {SH} -c '{program}; exit 0'; exit 0"):
            done = self.record(SH, "-c", line)
            self.assertEqual(self.not_followed(), [])
            self.assertNotIn(b"not followed", done.stderr)
            shutil.rmtree(self.run_folder)
        done = self.record(SH, "-c", f"{program} | cat; exit 0")
        self.assertIn("cat", self.not_followed())
        self.assertNotIn(b"not followed", done.stderr)

    def test_others_beside_the_program_are_told(self) -> None:
        """One that is there for as long as the program: it ends when nobody has the pipe open for writing any more."""
        pipe = self.run_folder.with_name("pipe")
        os.mkfifo(pipe)
        self.record(SH, "-c", f"cat {pipe} & exec 3>{pipe}; exec {programs.FAMILY} exec 3", options=("--wait",))
        self.assertIn(f"cat {pipe}", self.not_followed())
        shutil.rmtree(self.run_folder)
        self.record(SH, "-c", f"sleep 2; {programs.FAMILY} exec 3; exit 0")
        self.assertEqual(self.not_followed(), ["sleep 2"])

    def test_cleared_environment_is_told(self) -> None:
        done = self.record(SH, "-c", f"env -i {programs.TALKER} 20 0 1000 >/dev/null; exit 0")
        self.assertIn(b"not followed", done.stderr)
        reasons = {n["reason"] for n in self.described()["not_followed"]}  # type: ignore[union-attr,index]
        self.assertIn("environment", reasons)

    def test_agent_that_comes_late_is_seen(self) -> None:
        """As with a loader that has not got to its libraries when the process is first looked at."""
        late = f"import ctypes, time; time.sleep(0.2); ctypes.CDLL({programs.CLIENT!r}); time.sleep(1)"
        self.record(SH, "-c", f"env -i {sys.executable} -I -c '{late.replace(chr(39), chr(34))}'; exit 0")
        reasons = {n["reason"] for n in self.described()["not_followed"]}  # type: ignore[union-attr,index]
        self.assertIn("environment", reasons)

    def test_nothing_joined_says_what_to_do(self) -> None:
        done = self.record("sleep", "0.05")
        self.assertIn(b"no process joined", done.stderr)
        self.assertIn(b"--syscalls records any program", done.stderr)

    def test_program_that_cannot_be_loaded(self) -> None:
        """It is linked with the agent, and its loader does not find that library from another folder."""
        copy = self.folder / "copy"
        shutil.copy(programs.TALKER, copy)
        if b"not found" not in subprocess.run(["ldd", str(copy)], stdout=subprocess.PIPE).stdout:
            self.skipTest("the program finds its libraries from anywhere")
        done = self.record(str(copy), "1", "0")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"ended with status 127 before it emitted an event", done.stderr)
        self.assertNotIn(b"has the agent, but emitted no event", done.stderr)

    def test_child_that_stays_is_told(self) -> None:
        output = self.folder / "output"
        script = f"{programs.TALKER} 100 0 {harness.PATIENCE * 1000:.0f} >{output} 2>&1 & echo $!; " \
                 f"until [ -s {output} ]; do sleep 0.01; done"
        done = self.record(SH, "-c", script)
        child = int(done.stdout)
        is_alive = harness.alive(child)
        harness.kill(child)
        self.assertTrue(is_alive, "the recorder does not wait for it")
        self.assertIn(b"still running", done.stderr)
        programs.tracks(self.run_folder)

    def test_recording_in_a_recording(self) -> None:
        inner = self.folder / "inner"
        done = self.record(harness.WHEELTAP, "record", "-q", "-o", str(inner), "--", programs.TALKER, "3", "8")
        self.assertEqual(done.returncode, 8)
        self.assertTrue(any(int(t["events"]) > 1000 for t in programs.tracks(inner)))


SECRETS = ["sk-proj-Zq8vN2rLxT5wBm7KcY3dHf9gJ4pRsAeU", "ghp_Zq8vN2rLxT5wBm7KcY3dHf9gJ4pRsAeUi1o0",
           "AKIAQ7R3XW5ZT2LMN8PB", "hf_ZqLxTvNwBmKcYdHfgJpRsAeUiOtWqErTy", "xoxb-123456789012-abcdefghijklmnopqrst"]


class Secrets(Recording):
    def test_planted_secrets(self) -> None:
        plain = {f"plain{i}-Ab3dE6gH9jK2" for i in range(7)}
        keyed = sorted(plain)
        words = [SH, "-c", "echo token=$3; echo \"$1\" >&2; echo $SECRET_TOKEN; printf 'Authorization: Bearer %s\\n' $2; "
                 "sleep 0.02", "sh", f"password: {keyed[1]}", SECRETS[0], f"token:{keyed[0]}", "--api-key", keyed[2],
                 f"--password={keyed[3]}", f"token={SECRETS[1]}", SECRETS[2], f"https://user:{keyed[4]}@example.org/x",
                 SECRETS[3], SECRETS[4]]
        env = {**os.environ, "SECRET_TOKEN": f"secret={keyed[5]}", "OMP_API_KEY": keyed[6], "NCCL_TOKEN": keyed[6],
               "TORCH_AUTH": f"Bearer {SECRETS[0]}"}
        self.record(*words, env=env, options=("--name", f"token={SECRETS[1]}"))
        for path in self.run_folder.iterdir():
            data = path.read_bytes()
            for secret in [*SECRETS, *keyed]:
                self.assertNotIn(secret.encode(), data, f"{secret} in {path.name}")


    def planted(self, *options: str) -> str:
        """All that can be read out of a run with secrets in its arguments, environment, console and events."""
        script = 'echo "connecting with password=PLANTED12"; echo "Authorization: Bearer PLANTED13abcdefgh" >&2; ' \
                 f'printf "half a line, token: PLANTED14"; exec {programs.CASES} secrets "$@"'
        words = [SH, "-c", script, "sh", "--api-key", "PLANTED15", "--password=PLANTED16", "https://u:PLANTED17@example.org"]
        env = {**os.environ, "API_TOKEN": "PLANTED18", "NCCL_SECRET": "PLANTED19", "OMP_PLACES": "password=PLANTED20"}
        done = self.record(*words, env=env, options=options)
        self.assertEqual(done.returncode, 0)
        seen = subprocess.run([harness.WHEELTAP, "view", str(self.run_folder)], stdout=subprocess.PIPE).stdout
        for path in self.run_folder.iterdir():
            seen += path.read_bytes()
        return seen.decode(errors="replace")

    def test_twenty_planted_secrets(self) -> None:
        seen = self.planted()
        self.assertIn("login token=", seen)  # the events are there
        self.assertIn("half a line", seen)
        for number in range(1, 21):
            self.assertNotIn(f"PLANTED{number:02}", seen)

    def test_keep_keeps_texts_and_nothing_else(self) -> None:
        seen = self.planted("--strings", "keep")
        self.assertIn("PLANTED01", seen)
        self.assertIn("PLANTED03", seen)
        for number in range(12, 21):
            self.assertNotIn(f"PLANTED{number:02}", seen)


if __name__ == "__main__":
    unittest.main()
