#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`diff --tensors` on runs whose first difference is known (make_divergence.c), and what `rerun` refuses.

usage: test_divergence.py WHEELTAP MAKE_DIVERGENCE
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import Tap, environment  # noqa: E402

WHEELTAP, MAKE = (os.path.abspath(word) for word in sys.argv[1:3])
LABELS = ("aligned", "reordered", "missing", "extra", "fused", "split", "replaced", "inside", "around", "repeated")
tap = Tap()


def call(callee: str, line: int, ins: "list[str]", out: str, shape: int = 8) -> str:
    given = "".join(f"in x{i} {shape} {hash}\n" for i, hash in enumerate(ins))
    return f"begin {callee} {line}\n{given}" + (f"out {shape} {out}\n" if out else "") + "end\n"


def make(name: str, text: str) -> str:
    folder = Path(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run([MAKE, folder / "0001.wt"], input=text, text=True, check=True)
    return name


def compare(a: str, b: str) -> "tuple[int, dict[str, Any]]":
    done = subprocess.run([WHEELTAP, "diff", "--tensors", "--json", make("a", a), make("b", b)], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def table(said: "dict[str, Any]", key: str) -> "list[dict[str, Any]]":
    return said["tables"][key]


def first(said: "dict[str, Any]") -> "tuple[str, int, str]":
    row = table(said, "first")[0]
    return row["operation"], row["line"], row["how"]


def labels(said: "dict[str, Any]") -> "dict[str, int]":
    row = table(said, "alignment")[0]
    return {key: row[key] for key in LABELS if row[key]}


def identical() -> None:
    text = "step 0\n" + call("relu", 1, ["a"], "b") + "step 1\nstate Net w 1\n"
    code, said = compare(text, text)
    tap.equal("the same is identical", (code, said["status"]), (0, "identical"))
    tap.equal("steps are counted", said["steps"], 1)


def origins() -> None:
    before = call("relu", 1, ["a"], "b") + call("mul", 2, ["b"], "c")
    code, said = compare(before + call("dropout", 3, ["c"], "d1") + call("add", 4, ["d1"], "e1"),
                         before + call("dropout", 3, ["c"], "d2") + call("add", 4, ["d2"], "e2"))
    tap.equal("the first with equal inputs and other outputs", (code, first(said)), (1, ("dropout", 3, "its inputs were equal, its outputs differ")))
    row = table(said, "alignment")[0]
    tap.equal("what follows is counted", (row["same"], row["inherited"], row["further"]), (2, 1, 0))
    tap.equal("inputs are proven equal", table(said, "first")[0]["evidence"], "inputs proven equal")

    code, said = compare(call("relu", 1, ["a1"], "b1"), call("relu", 1, ["a2"], "b2"))
    tap.equal("an input that nothing recorded made", first(said)[2], "it was given other values, which no recorded operation made")

    nested = "begin forward 5 forward Net\nin x 8 a\n{}out 8 {}\nend\n"
    code, said = compare(nested.format(call("dropout", 6, ["a"], "b1"), "c1"), nested.format(call("dropout", 6, ["a"], "b2"), "c2"))
    tap.equal("what is inside comes first", first(said)[:2], ("dropout", 6))
    tap.equal("with its path", table(said, "first")[0]["path"], "forward > dropout")

    loaded = "begin load 2 load\nout 8 {}\nend\n" + call("relu", 3, ["{}"], "{}")
    code, said = compare(loaded.format("a", "a", "b"), loaded.format("c", "c", "d"))
    tap.equal("a file with other contents", (first(said)[:2], said["cause"]), (("load", 2), "the contents of a file"))

    code, said = compare("begin seed 7\nnumber n 11\nend\n", "begin seed 7\nnumber n 12\nend\n")
    tap.equal("a number that differs", first(said)[:2], ("seed", 7))


def states() -> None:
    text = "step 0\nbegin backward 3 backward\nend\nbegin step 4 step SGD\nstate Net w.grad {}\nend\nstate Net w {}\nstep 1\n"
    code, said = compare(text.format("1", "a"), text.format("2", "b"))
    tap.equal("a gradient belongs to the backward", first(said), ("backward", 3, "what it left behind differs"))
    code, said = compare(text.format("1", "a"), text.format("1", "b"))
    tap.equal("a parameter belongs to the step", first(said), ("step", 4, "what it left behind differs"))
    code, said = compare("state random torch 1\nstate Net w 5\n", "state random torch 2\nstate Net w 5\n")
    tap.equal("a generator that nobody uses is no difference", (code, said["status"]), (0, "identical"))


def memory() -> None:
    text = call("empty", 1, [], "{0}") + call("Tensor.copy_", 2, ["{0}", "c"], "c") + call("relu", 3, ["c"], "d")
    code, said = compare(text.format("e1"), text.format("e2"))
    tap.equal("memory that is overwritten is no difference", (code, said["status"]), (0, "identical"))
    code, said = compare(*(call("empty_like", 1, ["c"], hash) + call("relu", 3, ["c"], "d") for hash in ("e1", "e2")))
    tap.equal("nor an origin of one", (said["status"], table(said, "alignment")[0]["further"]), ("identical", 0))
    text = call("empty", 1, [], "{0}") + call("relu", 3, ["{0}"], "{1}")
    code, said = compare(text.format("e1", "f1"), text.format("e2", "f2"))
    tap.equal("memory that is used is one", first(said), ("empty", 1, "memory that nobody has written is used"))


def seeds() -> None:
    """numpy's old generators are seeded by the system, and then by the program."""
    def seed(line: int, entropy: str) -> str:
        taken = "".join(f"begin {name} {line}\nlist entropy\nout 4 {entropy}\nend\n" for name in ("array", "concatenate"))
        return f"module numpy\n{taken}module numpy.random.bit_generator\nbegin SeedSequence.generate_state {line}\nlist self\nnumber n_words 624\nout 624 f{entropy}\nend\n"

    def generator(entropy: str) -> str:
        return f"module numpy.random._generator\nbegin default_rng 1\n{seed(1, entropy)}end\n"

    def draw(drawn: str, kind: str = "RandomState") -> str:
        return f"module numpy.random.mtrand\nbegin {kind}.normal 3\nlist self\nout 8 {drawn}\nend\nmodule torch\n" + call("relu", 4, [drawn], drawn)

    code, said = compare(seed(1, "a1") + draw("b"), seed(1, "a2") + draw("b"))
    tap.equal("a seed that is not used is no difference", (code, said["status"]), (0, "identical"))
    tap.equal("nor an origin", table(said, "alignment")[0]["further"], 0)
    code, said = compare(generator("a1") + draw("b1", "Generator"), generator("a2") + draw("b2", "Generator"))
    tap.equal("if what is drawn differs it is", (code, first(said)),
              (1, ("SeedSequence.generate_state", 1, "a generator is seeded by the system, and numbers are drawn from it")))
    tap.equal("with what draws", table(said, "first")[0]["value"], "Generator.normal")
    tap.equal("and with how that is known", table(said, "first")[0]["evidence"], "its seeds were seen to differ")
    said = subprocess.run([WHEELTAP, "diff", "--tensors", "a", "b"], capture_output=True, text=True).stdout
    tap.check("in words", "its seeds differ, and what is drawn from it is used" in " ".join(said.split()) and "not seen" not in said, said)
    for name, other in (("of two it is not known which", generator("bb")), ("nor whose they are", "")):
        kind = "Generator" if other else "RandomState"
        code, said = compare(seed(2, "a1") + other.replace("bb", "b1") + draw("c1", kind), seed(2, "a2") + other.replace("bb", "b2") + draw("c2", kind))
        tap.equal(name, (code, first(said)[:2]), (1, (f"{kind}.normal", 3)))
    before = "module numpy\nbegin array 1\nlist rows\nout 4 {0}\nend\n"
    code, said = compare(before.format("d1") + seed(2, "a1") + draw("b"), before.format("d2") + seed(2, "a2") + draw("b"))
    tap.equal("a list of another line is one", (code, first(said)[:2]), (1, ("array", 1)))


def overwritten() -> None:
    text = call("empty", 1, [], "{0}") + call("Tensor.uniform_", 2, ["{0}"], "{1}")
    code, said = compare(text.format("e1", "f1"), text.format("e2", "f2"))
    tap.equal("memory that is overwritten does not explain the result", first(said), ("Tensor.uniform_", 2, "its inputs were equal, its outputs differ"))
    code, said = compare(call("tensor", 3, ["a"], "1"), call("tensor", 3, ["a"], "2"))
    tap.equal("inputs that were all read", table(said, "first")[0]["evidence"], "inputs proven equal")


def resumed() -> None:
    def step(number: int, gradient: str, weight: str) -> str:
        return (f"step {number}\n" + call("dropout", 5, ["a"], "d") + f"begin backward 6 backward\nend\nbegin step 7 step Adam\nstate Net w.grad {gradient}\n"
                f"end\nstate Net w {weight}\n")

    saved = "begin save 8 save\nin w 8 {}\nend\n"
    loaded = "begin load 2 load\nout 8 {}\nend\n"
    full = step(0, "1", "11") + step(1, "2", "22") + saved.format("22") + step(2, "3", "33") + step(3, "4", "44")
    code, said = compare(full, loaded.format("22") + step(0, "3", "33") + step(1, "4", "44"))
    tap.equal("a run that was resumed as it should be", (code, said["status"]), (0, "identical"), said)
    code, said = compare(full, loaded.format("22") + step(0, "3", "34") + step(1, "5", "45"))
    tap.equal("one without its optimizer's state", (first(said)[:2], said["cause"]), (("step", 7), "optimizer state"))
    code, said = compare(full, loaded.format("23") + step(0, "3", "33"))
    tap.check("what nobody saved is not resumed from", not any("goes on from" in note for note in said["notes"]), said["notes"])
    code, said = compare(step(0, "1", "11") + saved.format("22"), loaded.format("22") + step(0, "2", "12"))
    tap.equal("a file that a run leaves for the next one is no checkpoint", first(said)[:2], ("backward", 6), said)


def workers() -> None:
    """Which worker of a DataLoader begins first depends on timing."""
    def worker(number: int, hash: str) -> str:
        return f"begin DataLoader.worker 1\nstate worker id {number}\n" + call("relu", 2, [hash], hash) + "end\n"

    for folder, texts in (("a", (worker(0, "a"), worker(1, "b"))), ("b", (worker(1, "b"), worker(0, "a")))):
        make(folder, texts[0])
        subprocess.run([MAKE, f"{folder}/0002.wt"], input=texts[1], text=True, check=True)
    done = subprocess.run([WHEELTAP, "diff", "--tensors", "--json", "a", "b"], capture_output=True, text=True)
    tap.equal("workers are compared by their numbers", (done.returncode, json.loads(done.stdout)["status"]), (0, "identical"), done.stdout)


def pools() -> None:
    """Which thread of a pool does what depends on timing."""
    def thread(number: int, *calls: str) -> str:
        return f"thread {number}\n" + "".join(calls)

    def add(total: str, part: str, out: str) -> str:
        return call("add", 20, [total, part], out)

    w1, w2, w3 = (call("load", 10, [f"{i}"], f"{i}0") + call("relu", 11, [f"{i}0"], f"{i}1") for i in (1, 2, 3))
    end = thread(1, call("use", 30, ["c"], "d"))
    a = thread(2, w1, w3) + thread(3, w2) + end
    for name, b in (("another thread", thread(2, w2) + thread(3, w3, w1) + end), ("fewer threads", thread(2, w3, w1, w2) + end)):
        code, said = compare(a, b)
        tap.equal(f"work that {name} does is the same", (code, said["status"]), (0, "identical"), said)
    code, said = compare(a, thread(2, w2) + thread(3, w3) + thread(4, w1.replace("11\nend", "15\nend")) + end)
    tap.equal("work with another result", (code, first(said)), (1, ("relu", 11, "its inputs were equal, its outputs differ")), said)
    code, said = compare(a, thread(2, w2) + thread(3, w3) + thread(4, w1.replace("11\nend", "?\nend")) + end)
    tap.equal("work whose result was not read is not called the same", (code, said["status"]), (3, "not_measured"), said)

    many = "".join(thread(i + 2, call("relu", 11, ["1"], "{}")) for i in range(5))
    compare(many.format(*"22222"), many.format(*"34567"))
    said = subprocess.run([WHEELTAP, "diff", "--tensors", "a", "b"], capture_output=True, text=True).stdout
    tap.equal("threads that differ from the same line on are one line", [line.partition(" and ")[2] for line in said.splitlines() if line.startswith("process")],
              ["3 others differ from relu on, program.py:11: its inputs were equal, its outputs differ"], said)

    forward = "begin forward 5 forward Net\nin x 8 a\nout 8 {0}\nend\n"
    late = thread(1, call("dropout", 6, ["a"], "{0}")) + thread(2, forward) + thread(3, forward) + thread(1, call("use", 30, ["{0}"], "{0}"))
    code, said = compare(late.format("1"), late.format("2"))
    tap.equal("a module in another thread may have other parameters by then", sorted({(row["operation"], row["how"].partition(",")[0]) for row in table(said, "first")}),
              [("dropout", "its inputs were equal"), ("forward", "its arguments were equal")], said)
    tap.equal("what is known of it are its arguments", {row["evidence"] for row in table(said, "first") if row["operation"] == "forward"},
              {"inputs equal as far as seen"})

    orders = [(thread(2, add("c0", "1", "c1")) + thread(3, add("c1", "2", "c3")), "c3"), (thread(2, add("c0", "2", "c2")) + thread(3, add("c2", "1", "{}")), "{}")]
    use = "thread 1\n" + call("part", 9, [], "1") + call("part", 9, [], "2") + "{}" + "thread 1\n" + call("use", 30, ["{}"], "{}")
    a = use.format(orders[0][0], "c3", "d3")
    code, said = compare(a, use.format(orders[1][0].format("c3"), "c3", "d3"))
    tap.equal("parts of an exact sum in another order leave nothing", (code, said["status"], said["absorbed"]), (0, "identical", 4), said)
    code, said = compare(a, use.format(orders[1][0].format("c4"), "c4", "d4"))
    row = next(row for row in table(said, "first") if row["track"] == said["first_track"])
    tap.equal("parts of a rounded one do", (code, row["operation"], row["line"], row["how"]),
              (1, "add", 20, "it was given values that both runs have, in another order"), said)


def alignment() -> None:
    a, b, c, d = (call(name, i, [f"{i}"], f"{i + 1}") for i, name in enumerate(("one", "two", "three", "four"), 1))
    tap.equal("an extra call", labels(compare(a + b + d, a + b + c + d)[1]), {"aligned": 3, "extra": 1})
    tap.equal("a missing call", labels(compare(a + b + c, a + c)[1]), {"aligned": 2, "missing": 1})
    tap.equal("reordered calls", labels(compare(a + b + c + d, a + c + b + d)[1]), {"aligned": 3, "reordered": 1})
    fused = call("two_and_three", 9, ["2"], "4")
    tap.equal("calls that were fused", labels(compare(a + b + c + d, a + fused + d)[1]), {"aligned": 2, "fused": 3})
    tap.equal("a call that was split", labels(compare(a + fused + d, a + b + c + d)[1]), {"aligned": 2, "split": 3})
    code, said = compare(a + b + d, a + b + c + d)
    tap.equal("a call behind which all is the same has no result", (code, said["status"], said["lone"]), (0, "identical", 1))
    code, said = compare(a + b, a + b + c)
    tap.equal("a call at the end is a difference", (code, said["status"], first(said)), (1, "different", ("three", 3, "only one of the runs does this")))

    moved = call("two", 20, ["2"], "x")
    code, said = compare(a + b + d, a + moved + d)
    tap.equal("a line that moved is still aligned", (labels(said), first(said)[0]), ({"aligned": 3}, "two"))
    many = "".join(call(f"f{i % 7}", i % 50, [f"{i}"], f"{i + 1}") for i in range(1, 9000))
    code, said = compare(many, a + many)
    tap.equal("windows do not cut", labels(said), {"aligned": 8999, "extra": 1})


def single() -> None:
    """What only one of the runs does, before the first difference."""
    def step(number: int) -> str:
        inner = "begin step 5 step SGD\nend\n"
        return f"step {number}\n" + call("relu", 2, [f"a{number}"], f"b{number}") + f"begin step 4 step Wrapped\n{inner}end\n"

    def row(said: "dict[str, Any]") -> "tuple[Any, ...]":
        return tuple(table(said, "before")[0][key] for key in ("run", "operation", "line", "only_a", "only_b", "steps_a", "steps_b"))

    evaluate = "begin forward 9 forward Net\nin x 8 7\nout 8 {}\nend\n"
    code, said = compare(step(0) + evaluate.format("c"), step(0) + evaluate.format("d"))
    tap.equal("the inputs of a module are proven equal, where both did the same before", (table(said, "first")[0]["evidence"], table(said, "before")), ("inputs proven equal", []))
    code, said = compare(step(0) + step(1) + evaluate.format("c"), step(0) + step(1) + step(2) + evaluate.format("d"))
    tap.equal("not where one trained on", (first(said)[0], table(said, "first")[0]["evidence"]), ("forward", "inputs equal as far as seen"))
    tap.equal("the first that only one does is named, and the steps are counted", row(said), ("second", "relu", 2, 0, 3, 2, 3))
    shown = subprocess.run([WHEELTAP, "diff", "--tensors", "a", "b"], capture_output=True, text=True).stdout
    tap.check("in words, too", "only the second run does relu, program.py:2 (3 operations)" in shown and "2 and 3 by optimizers" in shown
              and "3 operations before it are in one run only" in shown, shown)
    code, said = compare(step(0) + call("mul", 9, ["7"], "c"), step(0) + step(1) + call("mul", 9, ["7"], "d"))
    tap.equal("a function has nothing but its arguments", (table(said, "first")[0]["evidence"], row(said)[:3]), ("inputs proven equal", ("second", "relu", 2)))
    code, said = compare(step(0) + evaluate.format("c") + step(1), step(0) + evaluate.format("d"))
    tap.equal("what comes behind it does not count", (table(said, "first")[0]["evidence"], table(said, "before")), ("inputs proven equal", []))

    load, mean, use = "begin load 2 load\nout 8 9\nend\n", call("mean", 3, ["5"], "6"), "begin sub 4\nin x 8 6\nin y 8 {}\nout 8 {}\nend\n"
    for name, a_end, b_end in (("nothing made it", "", ""), ("both runs have it", call("save", 8, ["9"], "9"), call("save", 8, ["1"], "1"))):
        without, also = mean + use.format("1", "c") + a_end, load + mean + use.format("9", "d") + b_end
        code, said = compare(without, also)
        tap.equal(f"a value that only the second run loads: {name}", (code, first(said)), (1, ("load", 2, "only one of the runs does this")))
        tap.equal(f"its evidence: {name}", table(said, "first")[0]["evidence"], "no partner in the other run")
        tap.equal(f"a value that only the first run loads: {name}", first(compare(also, without)[1])[:2], ("load", 2))
    shown = subprocess.run([WHEELTAP, "diff", "--tensors", make("a", without), make("b", also)], capture_output=True, text=True).stdout
    tap.check("which run does it", "the first run has no such operation, and its result is the first value that differs" in shown, shown)
    code, said = compare(mean + use.format("1", "c"), call("other", 2, ["5"], "8") + mean + use.format("9", "d"))
    tap.equal("what made another value is not named", (first(said)[0], row(said)[:5]), ("sub", ("second", "other", 2, 0, 1)))


def around(callee: str, inside: str, given: str, out: str) -> str:
    return f"begin {callee} 9 forward Net\nin x 8 {given}\n{inside}out 8 {out}\nend\n"


def compiled() -> None:
    """What is inside a call is not seen in one of the runs, as in a graph of torch.compile."""
    layers = call("linear", 1, ["a"], "b") + call("relu", 2, ["b"], "c")
    code, said = compare(around("Net.forward", layers, "a", "c"), around("Net.forward", "", "a", "c"))
    tap.equal("calls within one with the same result were fused", (code, said["status"], labels(said)), (0, "identical", {"aligned": 1, "fused": 2}))
    graph = call("graph", 7, [], "?")
    code, said = compare(around("Net.forward", layers, "a", "c"), around("Net.forward", graph, "a", "d"))
    tap.equal("calls within one with another result", (first(said)[0], labels(said)), ("Net.forward", {"aligned": 1, "inside": 3}))
    code, said = compare(around("Net.forward", layers, "a", "c"), around("Net.forward", call("linear", 1, ["a"], "b"), "a", "d"))
    tap.equal("one that is missing there is missing", labels(said), {"aligned": 2, "missing": 1})
    wrapped = around("DDP.forward", around("Net.forward", layers, "a", "c"), "a", "c")
    code, said = compare(around("Net.forward", layers, "a", "c"), wrapped)
    tap.equal("a call around it passes on its result", (code, labels(said)), (0, {"aligned": 3, "around": 1}))
    code, said = compare(around("Net.forward", layers, "a", "c"), around("DDP.forward", around("Net.forward", layers, "a", "c"), "a", "e"))
    tap.equal("one that does not is extra", (code, labels(said)), (1, {"aligned": 3, "extra": 1}))


def micro_batches() -> None:
    """More steps of one run than of the other are in a window: only those of the same step correspond."""
    def run(times: int, shape: int) -> str:
        return "".join(f"step {n}\n" + call("forward", 1, [f"{n}"], f"{n}{shape}", shape) * times + "begin step 2 step SGD\nend\n"
                       f"state Net w {n}\n" for n in range(1, 1200))

    code, said = compare(run(1, 8), run(4, 2))
    tap.equal("rounds of a loop", labels(said), {"aligned": 2 * 1199, "repeated": 3 * 1199})
    row = table(said, "alignment")[0]
    tap.equal("states of the same steps are compared", (row["same"], row["inherited"]), (1199, 1198))


def settings() -> None:
    text = "setting torch num_threads {}\n" + call("mm", 1, ["a"], "{}")
    code, said = compare(text.format(1, "b"), text.format(2, "b"))
    tap.equal("a setting is no difference", (code, said["status"]), (0, "identical"))
    code, said = compare(text.format(1, "b"), text.format(2, "c"))
    tap.equal("it stands beside one", (first(said)[0], table(said, "alignment")[0]["settings"]), ("mm", "torch.num_threads 1 and 2"))
    code, said = compare("setting SGD lr 1\n", "setting SGD lr 2\n")
    tap.equal("a number of an optimizer is one", first(said)[0], "SGD.lr")


def shards() -> None:
    """A rank holds only a part of a parameter, as with FSDP."""
    text = "held Net w {0} {1}\nstate Net w {1}\n" + call("relu", 1, ["a"], "{2}") + "state Net w.grad {1}\n"
    code, said = compare(text.format(8, "1", "b"), text.format(4, "2", "b"))
    tap.equal("a part is not compared with the whole", (code, said["status"]), (3, "not_measured"), said)
    tap.check("a note counts them", any("3 values of parameters and gradients were not compared" in note for note in said["notes"]), said["notes"])
    tap.equal("what is computed is", first(compare(text.format(8, "1", "b"), text.format(4, "2", "c"))[1])[0], "relu")
    tap.equal("as are parameters that both hold whole", first(compare(text.format(8, "1", "b"), text.format(8, "2", "b"))[1])[0], "Net.w")


def sampled() -> None:
    """Steps are omitted: parameters that are read behind them show what happened in them."""
    def run(*steps: "tuple[int, str]") -> str:
        return "thinned\n" + "".join(f"step {n}\n" + call("forward", 1, ["a"], "b") + (f"state Net w {hash}\n" if hash else "") for n, hash in steps)

    code, said = compare(run((0, "1"), (1, ""), (2, "3"), (3, "")), run((0, "1"), (1, ""), (2, "3"), (3, "")))
    tap.equal("identical up to the last parameters", (code, said["status"], said["steps"]), (0, "identical", 2), said)
    code, said = compare(run((0, ""), (1, "")), run((0, ""), (1, "")))
    tap.equal("without parameters: not measured", (code, said["status"]), (3, "not_measured"))
    code, said = compare(run((0, "1"), (1, ""), (2, "3")), run((0, "1"), (1, ""), (2, "4")))
    tap.equal("a parameter that differs", (code, first(said)[0]), (1, "Net.w"))
    code, said = compare(run((0, "1"), (1, "2"), (2, "")), run((0, "1"), (1, ""), (2, "3")))
    tap.equal("parameters of different steps are not compared", (code, said["status"], said["steps"]), (0, "identical", 0), said)


def launched() -> None:
    """One process against two ranks that a launcher has started."""
    work = call("relu", 1, ["a"], "{}")
    make("a", work.format("b"))
    make("b", call("launch", 7, ["1"], "1"))
    for number, rank in ((2, 0), (3, 1)):
        subprocess.run([MAKE, f"b/000{number}.wt"], input=f"rank {rank}\n" + work.format("c"), text=True, check=True)
    done = subprocess.run([WHEELTAP, "diff", "--tensors", "--json", "a", "b"], capture_output=True, text=True)
    said = json.loads(done.stdout)
    tap.equal("the first rank corresponds, not the launcher", (first(said)[0], labels(said)), ("relu", {"aligned": 1}), said)
    tap.equal("the others are named", [note for note in said["notes"] if "only in the second run" in note],
              ["process 1 is only in the second run", "rank 1 is only in the second run"])


def fails_closed() -> None:
    text = call("relu", 1, ["a"], "b")
    code, said = compare(text + "lost 3\n", text)
    tap.equal("lost events: not measured", (code, said["status"]), (3, "not_measured"))
    code, said = compare("step 0\n", "step 0\n")
    tap.equal("nothing to compare: not measured", (code, said["status"]), (3, "not_measured"))
    tap.check("a note says what would record more", any("--modules numpy" in note for note in said["notes"]), said)
    text = call("mm", 1, ["a"], "?")
    code, said = compare(text, text)
    tap.equal("a result that was not read: not measured", (code, said["status"]), (3, "not_measured"))
    text = "begin mm 1\nin x 8 a\nout 8 ?\nend\n" + "begin relu 2\nin x 8 ?\nout 8 {}\nend\n"
    code, said = compare(text.format("1"), text.format("2"))
    tap.equal("weaker evidence is called so", table(said, "first")[0]["evidence"], "inputs equal as far as seen")
    text = call("relu", 1, ["a"], "b") + "counter seconds {}\n"
    code, said = compare(text.format(1.5), text.format(1.25))
    tap.check("values that are only reported are noted", code == 0 and any("only reported" in note for note in said["notes"]), said)


def rerun(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([WHEELTAP, "rerun", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment(**variables))


def edit(run: str, **changes: Any) -> None:
    path = Path(run) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refuses() -> None:
    script = Path("touch.sh")
    script.write_text("#!/bin/sh\ntouch was-run\n")
    script.chmod(0o755)
    subprocess.run([WHEELTAP, "record", "-q", "-o", "run", "--", "./touch.sh"], check=True, env=environment())
    Path("was-run").unlink()
    for name, words in (("without --yes", ()), ("another command", ("--yes", "./other.sh")), ("a beginning", ("--yes", "./touch"))):
        done = rerun("run", *words)
        tap.equal(f"nothing is run: {name}", (done.returncode, Path("was-run").exists()), (2, False), done)
    tap.check("the command is shown", "./touch.sh" in rerun("run").stderr)
    edit("run", environment={"OMP_NUM_THREADS": "7", "LD_PRELOAD": "/tmp/x.so"})
    done = rerun("run", "--yes", "./touch.sh")
    tap.equal("a variable that would be set has to be named", (done.returncode, Path("was-run").exists()), (2, False), done)
    tap.check("others than known ones are not set", "LD_PRELOAD" not in done.stderr and "OMP_NUM_THREADS=7" in done.stderr, done)
    edit("run", environment={}, config={"options": ["--on-finding=touch was-run", "--force", "--check", "-o", "elsewhere", "--detail=lean"]})
    done = rerun("run", "--yes", "./touch.sh")
    tap.equal("with its name it is run", Path("was-run").exists(), True, done)
    tap.equal("no value, no verdict", done.returncode, 3, done)
    tap.equal("options of the recording are not obeyed blindly", Path("elsewhere").exists(), False)
    script.write_text("#!/bin/sh\nexit 7\n")
    done = rerun("run", "--yes", "./touch.sh")
    tap.check("a program that fails is said to", "ended with status 7" in done.stderr, done)
    both = rerun("run", "--yes", "./touch.sh", "--narrow", "--no-narrow")
    tap.equal("to narrow and not to is refused", both.returncode, 2, both)
    edit("run", command=["./not-there.sh"])
    tap.check("a missing program is named", "'./not-there.sh' is missing" in rerun("run").stderr, rerun("run"))
    edit("run", command=["python3", "gone.py"])
    tap.check("a missing script is named", "'gone.py' is missing" in rerun("run").stderr, rerun("run"))
    edit("run", command=["./touch.sh", "--key", "********"])
    tap.check("a masked word is named", "masked" in rerun("run").stderr, rerun("run"))
    edit("run", command=["./touch.sh"], directory="/not/there")
    tap.check("a missing folder is named", "'/not/there'" in rerun("run").stderr, rerun("run"))
    edit("run", directory=os.getcwd(), command=[os.getcwd()])
    tap.check("a folder is no program", "cannot be executed" in rerun("run").stderr, rerun("run"))
    edit("run", command=["./touch.sh"] + ["x"] * 70000)
    tap.check("too many words are", "words" in rerun("run").stderr, rerun("run"))
    edit("run", command=["./touch.sh"], environment=["OMP_NUM_THREADS=7"])
    tap.equal("variables without names are none", rerun("run").returncode, 2, rerun("run"))
    script.write_text("#!/bin/sh\ntouch run-again\n")
    for stream in Path("run").glob("*.wt"):
        stream.unlink()
    done = rerun("run", "--yes", "./touch.sh")
    tap.equal("without a trace to compare with nothing is run", (done.returncode, Path("run-again").exists()), (3, False), done)
    edit("run", command=[])
    tap.equal("no command, no rerun", rerun("run").returncode, 3)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in (identical, origins, states, memory, seeds, overwritten, resumed, workers, pools, alignment, single, compiled, micro_batches, settings, shards, sampled,
                     launched, fails_closed, refuses):
            tap.case(case.__name__, case)
        os.chdir("/")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
