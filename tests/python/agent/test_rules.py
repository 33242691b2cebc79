# SPDX-License-Identifier: Apache-2.0
"""More rules for a guest: ends of programs, sub-interpreters, memory over long runs, a run that is killed."""

from __future__ import annotations

import json

from recorded import Harness, main

HOOKED = """
import atexit, faulthandler, gc, math, os, signal, sys, threading, time
try:
    from wheeltap import _wheeltap as core
    hook = lambda f: core.hook(f, "test", getattr(f, "__name__", "f"))
except ImportError:
    hook = lambda f: None
def outer(n, f):
    return f() if n == 0 else outer(n - 1, f)
hook(outer), hook(math.sqrt), hook(os.getpid)
"""

ENDS = {
    "an exception": "outer(2, lambda: math.sqrt(-1))",
    "sys.exit in a call": "outer(2, lambda: sys.exit(5))",
    "a text for sys.exit": "outer(2, lambda: sys.exit('bye'))",
    "os._exit in a call": "outer(2, lambda: (print('x', flush=True), os._exit(6)))",
    "os.abort in a call": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); outer(2, os.abort)",
    "a signal in a call": "outer(2, lambda: os.kill(os.getpid(), signal.SIGTERM)); time.sleep(5)",
    "KeyboardInterrupt": "outer(2, lambda: signal.raise_signal(signal.SIGINT))",
    "atexit, in order": "for n in range(3): atexit.register(lambda n=n: print('exit', n, outer(1, lambda: math.sqrt(n))))",
    "an exception at exit": "atexit.register(lambda: outer(1, lambda: 1 / 0))",
    "threads that outlive main": "threading.Thread(target=lambda: (time.sleep(0.2), print(outer(2, lambda: 'late')))).start()",
    "daemon threads": "threading.Thread(target=lambda: [outer(2, lambda: math.sqrt(2)) for _ in iter(int, 1)], daemon=True).start(); time.sleep(0.1)",
    "objects that die at the end": "class D:\\n    def __del__(self): print('gone', outer(1, lambda: math.sqrt(4)))\\nkeep = D(); keep.me = keep",
    "faulthandler": "faulthandler.enable(); outer(3, lambda: faulthandler.dump_traceback(sys.stdout.fileno() and 1))",
    "a crash with faulthandler": "faulthandler.enable(); import ctypes, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); outer(2, lambda: ctypes.string_at(1))",
    "a watchdog": "faulthandler.dump_traceback_later(0.2, exit=True); outer(2, lambda: time.sleep(5))",
    "a handler that counts": "seen = []; signal.signal(signal.SIGALRM, lambda *a: seen.append(1)); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\\n"
                             "while len(seen) < 30: outer(3, lambda: math.sqrt(2))\\nsignal.setitimer(signal.ITIMER_REAL, 0); print(len(seen) >= 30)",
    "too deep": "sys.setrecursionlimit(120)\\ndef deep(n):\\n    try: return outer(0, lambda: deep(n + 1))\\n    except RecursionError: return n\\nprint(deep(0))",
    "deep from C": "sys.setrecursionlimit(200)\\nclass A:\\n    def __call__(self): return outer(0, self)\\ntry: A()()\\nexcept RecursionError as e: print(e)",
    "a lowered memory limit": "import resource\\nlimit = 3 << 30\\nresource.setrlimit(resource.RLIMIT_AS, (limit, limit))\\n"
                              "try: outer(1, lambda: bytearray(1 << 40))\\nexcept MemoryError: print('no memory')",
    "no more descriptors": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))\\n"
                           "t = threading.Thread(target=lambda: print(outer(2, lambda: 'new thread'))); t.start(); t.join()",
    "all descriptors closed": "os.closerange(3, 4096); print(outer(2, lambda: 'closed')); t = threading.Thread(target=lambda: print(outer(2, lambda: 'new'))); t.start(); t.join()",
}

INTERPRETERS = HOOKED + """
try:
    import _interpreters as sub
except ImportError:
    import _xxsubinterpreters as sub
code = "import sys, math; print(math.sqrt(4.0), sorted(set(sys.modules) & {'numpy', 'torch'}), len(sys.path) > 1)"
for _ in range(3):
    other = sub.create()
    sub.run_string(other, code)
    sub.destroy(other)
    print(outer(2, lambda: math.sqrt(9.0)))
"""

LONG = """
import resource, sys, torch, torch.nn as nn
torch.set_num_threads(1)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
x = torch.randn(3, 4)
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    if step == 2000:
        before = resident()
print(resident() - before, "KiB more")
"""

KILLED = """
import os, signal, torch, torch.nn as nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1000):
    optimizer.zero_grad()
    model(torch.ones(3, 4)).sum().backward()
    if step == 137:
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.step()
"""


def clean(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("wheeltap: ")]
    return [line.split(" (most recent call first)")[0] if line.startswith(("Current thread", "Thread 0x")) else line
            for line in lines if line and not line.startswith("Extension modules:")]


def without_addresses(lines: list[str]) -> list[str]:
    return [" ".join(word for word in line.split() if not word.startswith("0x")) for line in lines]


def test_ends(t: Harness) -> None:
    for name, code in ENDS.items():
        script = t.script(HOOKED + code.replace("\\n", "\n"))
        bare, run = t.execute([t.python, script]), t.record_command([t.python, script], "--detail", "full")
        status = bare.status if bare.status >= 0 else 128 - bare.status
        t.equal(f"{name}: status {status} and output", (run.status, without_addresses(clean(run.output))),
                (status, without_addresses(clean(bare.output))), run.errors)
        t.equal(f"{name}: what it complains", without_addresses(clean(run.errors)), without_addresses(clean(bare.errors)))


def test_interpreters(t: Harness) -> None:
    bare, run = t.bare(INTERPRETERS), t.record(INTERPRETERS, "--detail", "full")
    if "Error" in bare.errors:
        print(f"# skip sub-interpreters: {bare.errors.strip().splitlines()[-1]}")
        return
    t.equal("sub-interpreters are left alone", (run.status, run.output, clean(run.errors)),
            (bare.status, bare.output, clean(bare.errors)))
    t.check("the main one is recorded", len(run.calls("outer")) >= 9, len(run.calls("outer")))


def test_long(t: Harness) -> None:
    if not t.has("torch"):
        print("# skip long runs: no torch")
        return
    script = t.script(LONG)
    for level in ("lean", "full"):
        run = t.record_command([t.python, script, "6000"], "--detail", level)
        grown = int(run.output.split()[0]) if run.output else 1 << 30
        t.check(f"{level}: 4000 steps more take no more memory ({grown} KiB)", run.status == 0 and grown < 4096, run.output,
                run.errors)


def test_killed(t: Harness) -> None:
    if not t.has("torch"):
        print("# skip a killed run: no torch")
        return
    run = t.record(KILLED)
    t.equal("killed at once, in the middle of a step", run.status, 137, run.errors)
    told = t.execute([t.wheeltap, "info", str(t.folder / f"run{t.runs}")])
    t.check("info says in which step it died", "137" in told.output and "killed" in told.output, told.output, told.errors)
    facts = json.loads(t.execute([t.wheeltap, "info", "--json", str(t.folder / f"run{t.runs}")]).output)
    t.check("and so it does as JSON", "137" in json.dumps(facts), json.dumps(facts)[:2000])
    calls = [len(run.calls(name)) for name in ("Linear.forward", "Tensor.backward", "SGD.step")]
    t.equal("everything up to then is in the trace", calls, [138, 138, 137])


if __name__ == "__main__":
    main(test_ends, test_interpreters, test_long, test_killed)
