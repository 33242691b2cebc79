# SPDX-License-Identifier: Apache-2.0
"""Real OpenCL programs, recorded with `record --opencl`: every command is there with the times that the program's own events have, and
nothing that the program can see has changed.

    test_opencl.py PROGRAM...   built from the C files beside this one; each prints what it enqueued (device.h)
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "export")]
import perfetto  # noqa: E402
from harness import BUILD, PATIENCE, PYTHON, WHEELTAP, Case, environment, events, has_module, skip  # noqa: E402
from replaying import code_of  # noqa: E402

PROGRAMS = {Path(path).name.removeprefix("opencl_"): path for path in sys.argv[1:] if "layer_" not in path}
BELOW = next((str(Path(path).resolve()) for path in sys.argv[1:] if "layer_" in path), "")
# The driver compiles slowly: what one program has compiled is there for all, and for the next run of the test.
CACHE = BUILD / "tests" / "opencl" / "pocl-cache"


def run(words: list[str], status: int = 0, **variables: str) -> str:
    done = subprocess.run(words, env=environment(POCL_CACHE_DIR=str(CACHE), **variables), stdout=subprocess.PIPE, timeout=PATIENCE, check=False, text=True)
    if done.returncode != status:
        raise AssertionError(f"{words} ended with {done.returncode}, not {status}")
    return done.stdout


def printed(text: str, word: str) -> list[list[str]]:
    return [line.split()[1:] for line in text.splitlines() if line.startswith(word + " ")]


def steady(text: str) -> list[str]:
    """What is the same in every run."""
    return [line for line in text.splitlines() if not line.startswith("time ")]


class Recorded:
    def __init__(self, folder: Path, words: list[str], *options: str, status: int = 0, **variables: str) -> None:
        self.folder = folder
        self.output = run([WHEELTAP, "record", "--opencl", "-q", *options, "-o", str(folder), "--", *words], status, **variables)

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return self.rows_of(self.folder, kind)

    @staticmethod
    def rows_of(folder: Path, kind: str) -> list[dict[str, Any]]:
        return [event["fields"] | {"track": event["track"], "seq": event["seq"]} for event in events(folder, kind)]

    def commands(self) -> list[dict[str, Any]]:
        """Without those by which the host waits, and what is reported besides."""
        return [row for row in self.rows("device_op") if row["op"] != "sync" and row["name"] not in
                ("first launch (compilation)", "clSetUserEventStatus")]


class OpenCL(Case):
    def recorded(self, name: str, *options: str) -> Recorded:
        return Recorded(self.folder / f"run-{name}{len(options)}", [PROGRAMS[name]], *options)

    def compare(self, recorded: Recorded, alone: str) -> None:
        self.assertEqual(steady(recorded.output), steady(alone))
        expected = {kind: int(count) for kind, count in printed(alone, "commands")}
        commands = recorded.commands()
        self.assertEqual(Counter(row["op"] for row in commands), expected)
        self.assertEqual(len({row["correlation"] for row in commands}), len(commands))
        launches = {row["to"] for row in recorded.rows("edge") if row["type"] == "launch"}
        self.assertLessEqual({row["correlation"] for row in commands}, launches)
        for row in commands:
            self.assertTrue(row["queued"] <= row["submitted"] <= row["started"] <= row["ended"], row)

    def times(self, recorded: Recorded) -> None:
        """The program's own times of an event: one command of that name has the same."""
        for name, *numbers in printed(recorded.output, "time"):
            queued, submitted, started, ended = map(int, numbers)
            wanted = (submitted - queued, started - submitted, ended - started)
            have = [(row["submitted"] - row["queued"], row["started"] - row["submitted"], row["ended"] - row["started"])
                    for row in recorded.commands() if row["name"] == name]
            # Clocks are converted by straight lines between pairs: a few millionths.
            self.assertTrue(any(all(abs(a - b) <= 3 + a / 50_000 for a, b in zip(wanted, one)) for one in have), (name, wanted, have))


def test_of(name: str) -> Any:
    def test(self: OpenCL) -> None:
        alone = run([PROGRAMS[name]])
        recorded = self.recorded(name)
        self.compare(recorded, alone)
        self.times(recorded)
    return test


for program in PROGRAMS:
    if program not in ("killed", "odd", "divergences", "float_atomics", "two_queues"):  # the last three are for replays
        setattr(OpenCL, f"test_{program}", test_of(program))


class Details(OpenCL):
    def test_edges_of_wait_lists(self) -> None:
        recorded = self.recorded("out_of_order")
        named = {row["correlation"]: row["name"] for row in recorded.rows("device_op")}
        edges = Counter((named[row["from"]], named[row["to"]]) for row in recorded.rows("edge")
                        if row["type"] == "record_wait" and named[row["from"]] != "first launch (compilation)")
        self.assertEqual(edges, {("clSetUserEventStatus", "clEnqueueWriteBuffer"): 2, ("clEnqueueWriteBuffer", "add"): 2, ("add", "join"): 2,
                                 ("join", "clEnqueueMarkerWithWaitList"): 1, ("join", "clEnqueueReadBuffer"): 1})

    def test_memory_of_sub_buffers(self) -> None:
        recorded = self.recorded("sub_buffers")
        created = {row["type"]: row["id"] for row in recorded.rows("device_object") if row["phase"] == "created"}
        kernels = {row["correlation"] for row in recorded.commands() if row["op"] == "kernel"}
        touched = [(row["offset"], row["bytes"], row["mode"]) for row in recorded.rows("device_access") if row["correlation"] in kernels]
        self.assertEqual(touched, [(0, 8192, "both"), (8192, 8192, "both")])
        self.assertEqual({row["object"] for row in recorded.rows("device_access")}, {created["buffer"]})
        copies = [(row["mode"], row["offset"], row["bytes"]) for row in recorded.rows("device_access") if row["argument"] == -1]
        self.assertEqual(copies[:2], [("read", 8192 + 64, 256), ("write", 128, 256)])

    def test_modes_of_arguments(self) -> None:
        """const is read, whatever else is both; constant memory is read; images say what they are for."""
        expected = {"vector_add": {0: "read", 1: "read", 2: "write"}, "sort": {0: "both"}, "convolution": {0: "read", 1: "read", 2: "both"},
                    "image_filter": {0: "read", 1: "write"}, "svm": {0: "read", 1: "both"}}
        for name, modes in expected.items():
            rows = [row for row in self.recorded(name).rows("device_access") if row["argument"] >= 0]
            self.assertEqual({row["argument"]: row["mode"] for row in rows}, modes, name)

    def test_shared_memory_in_the_middle(self) -> None:
        rows = [row for row in self.recorded("svm").rows("device_access") if row["argument"] >= 0]
        self.assertEqual([(row["offset"], row["bytes"]) for row in rows], [(2048, 2048), (0, 4096)])

    def test_killed(self) -> None:
        """What the program knew to be over is there, although it was killed at once."""
        for how, status in (("kill", 128 + signal.SIGKILL), ("exit", 0)):
            recorded = Recorded(self.folder / how, [PROGRAMS["killed"], how], status=status)
            self.assertEqual(Counter(row["op"] for row in recorded.commands()), {"kernel": 20})

    def test_left(self) -> None:
        """A program that ends without waiting: each command is there, with times or without."""
        recorded = Recorded(self.folder / "left", [PROGRAMS["killed"], "leave"])
        self.assertEqual(Counter(row["op"] for row in recorded.commands()), {"kernel": 20})

    def test_objects_are_released(self) -> None:
        rows = self.recorded("mlp").rows("device_object")
        created = {row["id"] for row in rows if row["phase"] == "created" and row["type"] != "device"}
        self.assertEqual(created, {row["id"] for row in rows if row["phase"] == "released"})
        built = [row for row in rows if row["phase"] == "built"]
        self.assertEqual(len(built), 1)
        self.assertGreater(built[0]["duration"], 0)

    def test_stacks(self) -> None:
        recorded = self.recorded("vector_add", "--stacks")
        self.assertEqual(len(recorded.rows("stack")), len(recorded.commands()))

    def test_replayable(self) -> None:
        recorded = self.recorded("convolution", "--replayable")
        self.compare(recorded, run([PROGRAMS["convolution"]]))
        objects, accesses = recorded.rows("device_object"), recorded.rows("device_access")
        blobs = {path.name for path in (recorded.folder / "blobs").iterdir()}
        none = "0" * 16
        source = next(row["hash"] for row in objects if row["type"] == "program" and row["phase"] == "created")
        self.assertIn(b"__kernel void convolve", (recorded.folder / "blobs" / source).read_bytes())
        hashes = {row["hash"] for row in objects + accesses if row["hash"] != none}
        self.assertGreaterEqual(len(hashes), 4)  # the source, the weights, the picture, the result
        self.assertLessEqual(hashes, blobs)
        launches = [row for row in accesses if row["mode"] == "code"]
        self.assertEqual(len(launches), 2)
        values = [row["value"] for row in accesses if row["mode"] == "value" and row["argument"] in (3, 4)]
        self.assertEqual(values, ["30000000", "20000000"] * 2)

    def test_python(self) -> None:
        """pyopencl: the same stream has Python's calls and OpenCL's, one in the other, and the line that launched a kernel."""
        if not has_module("pyopencl"):
            self.skipTest("there is no pyopencl")
        words = [PYTHON, str(HERE / "python_program.py")]
        recorded = Recorded(self.folder / "python", words)
        self.compare(recorded, run(words))
        self.assertEqual(len(list(recorded.folder.glob("0*.wt"))), 2)  # the recorder's and the program's
        calls = [event for kind in ("call_begin", "call_end", "span_begin") for event in events(recorded.folder, kind)]
        depth, inside = 0, []
        for event in sorted(calls, key=lambda event: (event["track"], event["seq"])):
            depth += {"call_begin": 1, "call_end": -1}.get(event["kind"], 0)
            if event["kind"] == "span_begin" and event["fields"]["name"] == "clEnqueueNDRangeKernel":
                inside.append(depth)
        self.assertEqual(inside, [1, 1, 1])
        lines = (HERE / "python_program.py").read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if "program.twice(" in text)
        sites = [event["fields"]["site"] for event in events(recorded.folder, "call_begin") if event["fields"]["callee"] == "Kernel.__call__"]
        self.assertEqual(sites, [f"{HERE / 'python_program.py'}:{line}"] * 3)

    def test_page(self) -> None:
        """A run with device operations and system calls: the page shows the run; the calls are asked for."""
        words = [WHEELTAP, "record", "--opencl", "--syscalls", "-q", "-o", str(self.folder / "page"), "--", PROGRAMS["scan"]]
        run(words)
        if not events(self.folder / "page", "syscall"):
            self.skipTest("system calls cannot be recorded here")
        for options, heading, other in (([], "wheeltap run", "System calls</h1>"), (["--kind", "syscall"], "System calls</h1>", "wheeltap run")):
            page = run([WHEELTAP, "export", "--to", "html", "-o", "-", *options, str(self.folder / "page")])
            self.assertIn(heading, page)
            self.assertNotIn(other, page)

    def test_pictures(self) -> None:
        """One run with Python calls, kernels and system calls: all three are in each picture, kernels within the time of the run and launches within calls."""
        if not has_module("pyopencl"):
            self.skipTest("python3-pyopencl is not installed")
        folder = self.folder / "pictures"
        Recorded(folder, [PYTHON, str(HERE / "python_program.py")], "--syscalls")
        if not events(folder, "syscall"):
            self.skipTest("system calls cannot be recorded here")
        text = run([WHEELTAP, "timeline", str(folder)], LC_ALL="C.UTF-8")
        labels = [line[:22].strip() for line in text.split("\n\n")[0].splitlines()[1:]]
        main = labels.index("system calls") - 1
        self.assertNotIn("system", labels[main])
        self.assertEqual(labels[-2:], ["device 0", "device 0 queue 1"])
        self.page_lanes(folder)
        self.perfetto_slices(folder)

    def page_lanes(self, folder: Path) -> None:
        page = run([WHEELTAP, "export", "--to", "html", "-o", "-", str(folder)])
        tables = json.loads(page.split('id="data">', 1)[1].split("</script>", 1)[0])["tables"]
        names: dict[str, set[str]] = {}
        for bar in tables["bars"]:
            names.setdefault(tables["lanes"][bar["lane"]]["type"], set()).add(bar["name"])
        for type_, name in (("thread", "Program.build"), ("thread", "clBuildProgram"), ("queue", "twice"), ("system calls", "openat")):
            self.assertIn(name, names[type_])

    def perfetto_slices(self, folder: Path) -> None:
        file = self.folder / "run.pftrace"
        run([WHEELTAP, "export", "--to", "perfetto", "-o", str(file), str(folder)])
        trace = perfetto.Trace(file.read_bytes())  # which refuses slices that do not nest
        launches = [piece for piece in trace.slices if piece.name == "clEnqueueNDRangeKernel" and piece.category == "span"]
        self.assertEqual([piece.parent and piece.parent.name for piece in launches], ["Kernel.__call__"] * 3)
        kernels = [piece for piece in trace.slices if piece.category == "kernel" and piece.name == "twice"]
        self.assertEqual(len(kernels), 3)
        self.assertTrue(all("device 0/queue 1" in trace.path(piece.track) for piece in kernels))
        arrows = [(id(out.parent), id(into)) for out, into in trace.flows() if out.category == "launch"]
        for launch, kernel in zip(launches, kernels):
            self.assertIn((id(launch), id(kernel)), arrows)
        thread = trace.tracks[launches[0].track]
        own = [piece for piece in trace.slices if piece.category == "syscall" and trace.tracks[piece.track].parent == thread.uuid]
        self.assertIn("openat", {piece.name for piece in own})
        self.assertTrue(all(piece.begin <= piece.end for piece in own))

    def test_layers_of_the_user(self) -> None:
        done = subprocess.run([WHEELTAP, "record", "--opencl", "-q", "-o", str(self.folder / "layers"), "--", "sh", "-c", "echo $OPENCL_LAYERS"],
                              env=environment(OPENCL_LAYERS="/nowhere/libother.so"), stdout=subprocess.PIPE, timeout=PATIENCE, check=True, text=True)
        first, second = done.stdout.strip().split(":")
        self.assertEqual(first, "/nowhere/libother.so")
        self.assertTrue(second.endswith("libwheeltap-opencl.so") and os.path.isabs(second))

    def test_refused(self) -> None:
        for words, what in ((["--replayable", "--", "true"], "give --opencl"), (["--opencl", "--attach", "1"], "leave '--attach' away")):
            done = subprocess.run([WHEELTAP, "record", *words], stderr=subprocess.PIPE, timeout=PATIENCE, check=False, text=True)
            self.assertEqual(done.returncode, 125)
            self.assertIn(what, done.stderr)


class Below(OpenCL):
    """Other drivers, made by a layer below ours (below.c)."""

    def below(self, name: str, *words: str, **variables: str) -> Recorded:
        return Recorded(self.folder / "".join([name, *variables.values()]), [PROGRAMS[name], *words], OPENCL_LAYERS=BELOW, **variables)

    def test_clocks(self) -> None:
        """Whatever clock a device has, it is found, and its times are those of the trace: no command runs before its call or ends after the host waited."""
        for clock, domain in (("raw", 3), ("monotonic", 2), ("realtime", 4), ("own", 64)):
            recorded = self.below("vector_add", BELOW_CLOCK=clock)
            self.compare(recorded, recorded.output)
            self.times(recorded)
            rows = recorded.rows("device_op")
            commands = [row for row in rows if row["op"] in ("kernel", "copy")]
            self.assertEqual({row["clock"] for row in commands}, {domain}, clock)
            pairs = [row for row in recorded.rows("clock") if row["domain"] == domain]
            slack = 2_000_000 + max(row["error"] for row in pairs)
            called = {event["fields"]["to"]: event["time_ns"] for event in events(recorded.folder, "edge") if event["fields"]["type"] == "launch"}
            waited = max(row["ended"] for row in rows if row["op"] == "sync")
            for row in commands:
                self.assertGreaterEqual(row["queued"], called[row["correlation"]] - slack, (clock, row))
                self.assertLessEqual(row["ended"], waited + slack, (clock, row))

    def test_constants(self) -> None:
        """Numbers that are put into a program of an intermediate language: it runs with them, and a replay that would not says so."""
        alone = run([PROGRAMS["odd"], "constants"], OPENCL_LAYERS=BELOW, BELOW_IL="1")
        recorded = Recorded(self.folder / "constants", [PROGRAMS["odd"], "constants"], "--replayable", OPENCL_LAYERS=BELOW, BELOW_IL="1")
        self.compare(recorded, alone)
        changed = [(row["type"], row["flags"], row["details"]) for row in recorded.rows("device_object") if row["phase"] == "changed"]
        self.assertEqual(changed, [("program", 7, "29000000")])
        text = run([WHEELTAP, "replay", "--json", "--yes", code_of(recorded.folder) + ",all", str(recorded.folder)], 3)
        self.assertIn("specialization constants", text)

    def test_submitted_at_once(self) -> None:
        """A driver that submits what has to wait: waiting for the program is no compilation."""
        recorded = self.below("odd", "gated", BELOW_SUBMITS="1")
        rows = recorded.rows("device_op")
        gate = next(row["ended"] for row in rows if row["name"] == "clSetUserEventStatus")
        kernel = next(row for row in rows if row["op"] == "kernel")
        self.assertLess(kernel["submitted"], gate - 500_000_000)
        for row in rows:
            if row["name"] == "first launch (compilation)":
                self.assertGreaterEqual(row["started"], gate - 1_000_000)


class Odd(OpenCL):
    """What few programs do (odd.c): nothing changes, with everything kept as well."""

    def odd(self, word: str, *options: str) -> Recorded:
        words = [PROGRAMS["odd"], word]
        recorded = Recorded(self.folder / f"{word}{len(options)}", words, *options)
        self.assertEqual(steady(recorded.output), steady(run(words)))
        return recorded

    def whole(self, word: str) -> None:
        for options in ((), ("--replayable", "--stacks")):
            recorded = self.odd(word, *options)
            self.compare(recorded, recorded.output)

    def test_released_before_it_ran(self) -> None:
        self.whole("release_first")

    def test_chain_of_events(self) -> None:
        self.whole("chain")

    def test_callbacks(self) -> None:
        self.whole("callbacks")

    def test_what_callbacks_get(self) -> None:
        """Event, status and data are the program's own; what a function enqueues comes after what its event stands for."""
        recorded = self.odd("callback_arguments")
        self.compare(recorded, recorded.output)
        rows = recorded.rows("device_op")
        named = {row["correlation"]: row["name"] for row in rows}
        called = {row["correlation"] for row in rows if row["name"] == "clSetEventCallback"}
        edges = [(named[row["from"]], row["to"]) for row in recorded.rows("edge") if row["type"] == "sync" and row["to"] in called]
        # Of CL_SUBMITTED and CL_RUNNING nothing has ended yet.
        self.assertEqual(sorted(name for name, _ in edges), ["bump", "clSetUserEventStatus"])
        first = min(row["correlation"] for row in rows if row["name"] == "bump")
        waited = next(to for name, to in edges if name == "bump")
        self.assertTrue(first < waited < max(row["correlation"] for row in rows if row["name"] == "bump"))
        spans = [row for row in recorded.rows("span_begin") if row["name"] == "OpenCL event callback"]
        self.assertEqual(len(spans), 4)

    def test_linked(self) -> None:
        """What was linked of several programs is kept, and can be replayed where it is named."""
        self.whole("linked")
        folder = self.folder / "linked2"
        program = next(row for row in Recorded.rows_of(folder, "device_object")
                       if row["type"] == "program" and row["phase"] == "created" and row["flags"] == 4)
        self.assertGreater((folder / "blobs" / program["hash"]).stat().st_size, 0)
        code = code_of(folder)
        refused = run([WHEELTAP, "replay", "--json", "--yes", code, str(folder)], 3)
        self.assertIn("native code", refused)
        result = json.loads(run([WHEELTAP, "replay", "--json", "--yes", f"{code},{program['hash']}", str(folder)]))
        self.assertEqual((result["status"], result["findings"]), ("bit_exact", []))
        self.assertGreater(result["compared"], 0)

    def test_parts_of_a_device(self) -> None:
        recorded = self.odd("parts")
        rows = [row for row in recorded.rows("device_object") if row["type"] == "device"]
        created = [row for row in rows if row["phase"] == "created"]
        whole = next(row["id"] for row in created if not row["parent"])
        parts = [row for row in created if row["parent"] == whole]
        count = len(parts) // 2
        if not count:
            self.skipTest("the device cannot be divided")
        self.assertEqual(len({row["device"] for row in parts}), 2 * count)  # those of the second time are others
        self.assertEqual({row["id"] for row in rows if row["phase"] == "released"}, {row["id"] for row in parts})
        used = {row["device"] for row in recorded.commands()}
        self.assertEqual(used, {parts[0]["device"], parts[count]["device"]})

    def test_one_kernel_of_several_threads(self) -> None:
        self.whole("one_kernel")

    def test_fork(self) -> None:
        self.whole("forks")

    def test_child_of_fork_is_recorded(self) -> None:
        self.whole("child_computes")

    def test_refused_by_the_driver(self) -> None:
        """What a program gets an error for is not read before."""
        for options in ((), ("--replayable",)):
            recorded = self.odd("refused", *options)
            failures = [row for row in recorded.rows("mark") if row["name"] == "OpenCL command failed"]
            self.assertEqual(len(failures), 6)

    def test_never_ends(self) -> None:
        """More commands than are looked at in one go wait for what never comes; one behind them ends."""
        commands = self.odd("never").commands()
        self.assertEqual(len(commands), 2001)
        self.assertEqual([row["ended"] is None for row in commands].count(False), 1)


for name in [name for name in dir(OpenCL) if name.startswith("test_")]:
    setattr(Details, name, None)  # once is enough
    setattr(Odd, name, None)
    setattr(Below, name, None)

if __name__ == "__main__":
    probe = subprocess.run([PROGRAMS["scan"]], env=environment(POCL_CACHE_DIR=str(CACHE)), stdout=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    if probe.returncode == 77:
        skip("there is no OpenCL device")
    unittest.main(argv=sys.argv[:1])
