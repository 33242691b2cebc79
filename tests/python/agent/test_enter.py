# SPDX-License-Identifier: Apache-2.0
"""How the agent gets into interpreters, what it leaves as it was, and what a program may say itself."""

from __future__ import annotations

import sys
from pathlib import Path

from recorded import Harness, main

LOOK = """
import os, sys
names = sorted(name for name in sys.modules if name.split(".")[0] not in ("wheeltap", "_wheeltap"))
print(sys.path[1:], [type(finder).__name__ for finder in sys.meta_path if type(finder).__name__ != "Watcher"])
print(sys.modules.get("sitecustomize"), sys.argv[1:], sys.flags, [entry for entry in os.environ.get("PYTHONPATH", "").split(":") if entry.endswith("/own")])
"""


def test_as_before(t: Harness) -> None:
    folder = t.folder / "own"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nprint('the program has a sitecustomize', __file__)\n")
    for env in ({}, {"PYTHONPATH": str(folder)}):
        bare, run = t.bare(LOOK, env=env), t.record(LOOK, env=env)
        t.equal(f"paths and modules are as without us ({'own' if env else 'no'} PYTHONPATH)", run.output, bare.output,
                run.errors)
        t.equal("it joined", len(run.of("process")) or "1 process" in run.errors, True, run.errors)


def test_ways_in(t: Harness) -> None:
    (t.folder / "amodule.py").write_text("import wheeltap; wheeltap.log(way=1)\n")
    path = str(t.folder)
    ways = {
        "-m": [t.python, "-m", "amodule"],
        "-c": [t.python, "-c", "import amodule"],
        "a shell": ["sh", "-c", f"{t.python} -m amodule; exit 3"],
        "a subprocess": [t.python, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-m', 'amodule'])"],
    }
    for name, command in ways.items():
        run = t.record_command(command, env={"PYTHONPATH": path})
        t.equal(f"by {name}", [c["value"] for c in run.of("counter")], [1.0], run.errors)


def test_children(t: Harness) -> None:
    run = t.record("""
        import multiprocessing, os, sys, threading
        import wheeltap
        def work(n):
            wheeltap.log(work=n)
        if __name__ == "__main__":
            for number, method in enumerate(("fork", "spawn", "forkserver")):
                process = multiprocessing.get_context(method).Process(target=work, args=(number,))
                process.start()
                process.join()
            threads = [threading.Thread(target=work, args=(10 + n,)) for n in range(3)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            if os.fork() == 0:
                work(20)
                os._exit(0)
            os.wait()
            work(30)
        """)
    t.equal("forked, spawned, served, threads, _exit", sorted(c["value"] for c in run.of("counter")),
            [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 20.0, 30.0], run.errors)


def test_said(t: Harness) -> None:
    program = """
        import wheeltap
        print(wheeltap.recording())
        wheeltap.step(5)
        wheeltap.stage("eval")
        wheeltap.context(fold=3, name="abc")
        wheeltap.log(loss=0.25, lr=1)
        wheeltap.message("epoch 3 loss 0.25")
        wheeltap.message("a private sentence that nobody should read", level="warning")
        with wheeltap.range("augment"):
            pass
        wheeltap.stop()
        print(wheeltap.recording())
        wheeltap.log(loss=99)
        print(wheeltap.start())
        wheeltap.log(loss=0.5)
        try:
            wheeltap.context(bad=[])
        except TypeError as error:
            print(error)
        """
    run = t.record(program)
    t.equal("the program sees whether it is recorded", run.output.splitlines(),
            ["True", "False", "True", "'bad' must be int, float or str"], run.errors)
    context = [(c["key"], c["text"] or c["value"]) for c in run.of("context")]
    t.equal("context", context, [("step", 5), ("stage", "eval"), ("fold", 3), ("name", "abc")])
    t.equal("numbers, and none while stopped", [(c["name"], c["value"]) for c in run.of("counter")],
            [("loss", 0.25), ("lr", 1.0), ("loss", 0.5)])
    lines = [line["text"] for line in run.of("log")]
    t.check("texts that may be private are not kept", lines[0] == "epoch 3 loss 0.25" and "private" not in lines[1], lines)
    t.equal("ranges", [s["name"] for s in run.of("span_begin", "span_end")], ["augment", "augment"])
    package = Path(t.wheeltap).parent / "python"
    bare = t.bare(f"import sys; sys.path.insert(0, {str(package)!r})\nimport wheeltap\nwheeltap.step(1)\n"
                  "with wheeltap.range('x'): pass\nwheeltap.log(a=1)\nprint(wheeltap.recording(), wheeltap.start())\n")
    t.equal("nothing happens when nobody records", bare.output, "False False\n", bare.errors)


def test_private(t: Harness) -> None:
    program = """
        from wheeltap import _wheeltap as core
        def f(*values, **more):
            return values[0]
        core.hook(f, "test", "f")
        f("the patient said words that nobody should read", mode="mean", **{"odd words of mine": 1})
        f(["inner prompt of a customer, in full"], {"some private key here": 1.0, "lr": 0.5})
        """
    run = t.record(program)
    said = str(run.events)
    t.equal("what is private is in no event", [word for word in ("patient", "odd words", "prompt", "private key")
            if word in said], [])
    t.check("what is not is kept", "mean" in said and "[lr]" in said and len(run.calls("f")) == 2, said[-1500:])
    kept = t.record(program, "--strings", "keep")
    t.check("unless it was asked for", "patient" in str(kept.events), kept.errors)


if __name__ == "__main__":
    main(test_as_before, test_ways_in, test_children, test_said, test_private)
    sys.exit(0)
