# SPDX-License-Identifier: Apache-2.0
"""The program is a host, the agent a guest: each program here prints the same with us and without."""

from __future__ import annotations

from recorded import Harness, main

# Python alone: interrupts, forks and threads in the middle of hooked calls. Without the agent nothing is hooked.
PLAIN = """
import errno, ctypes, faulthandler, gc, math, os, signal, sys, threading, time, traceback, warnings
try:
    from wheeltap import _wheeltap as core
    hook = lambda f: core.hook(f, "test", f.__name__)
except ImportError:
    hook = lambda f: None
faulthandler.enable()

def outer(depth, action):
    return action() if depth == 0 else outer(depth - 1, action)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)

def fork():
    if os.fork() == 0:
        outer(3, lambda: math.sqrt(4.0))
        os._exit(7)
    return os.waitstatus_to_exitcode(os.wait()[1])

def alarm(signum, frame):
    raise TimeoutError("late")

hook(outer), hook(math.sqrt), hook(time.sleep), hook(os.kill)
try:
    outer(3, interrupt)
except KeyboardInterrupt as error:
    print("interrupted", [frame.name for frame in traceback.extract_tb(error.__traceback__)])
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        outer(2, lambda: math.sqrt(2.0))
except TimeoutError as error:
    print("alarm", error)
print("fork", outer(3, fork))

class Counted:
    alive = 0
    def __init__(self): Counted.alive += 1
    def __del__(self): Counted.alive -= 1
for _ in range(100):
    outer(1, Counted)
gc.collect()
print("collected", Counted.alive, sys.getrefcount(outer) < 20)

results = []
def work():
    for i in range(2000):
        outer(2, lambda: math.sqrt(i))
    results.append(i)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("threads", results)

library = ctypes.CDLL(None, use_errno=True)
library.open(b"/nonexistent", 0)
saved = ctypes.get_errno()
outer(1, lambda: math.sqrt(1.0))
print("errno", saved == ctypes.get_errno() == errno.ENOENT)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    outer(1, lambda: warnings.warn("careful", stacklevel=2))
    print("warning", caught[0].lineno)
def fail():
    try:
        math.sqrt(-1.0)
    except ValueError as inner:
        raise KeyError("x") from inner
try:
    outer(2, fail)
except KeyError as error:
    print("cause", type(error.__cause__).__name__, [f.name for f in traceback.extract_tb(error.__traceback__)])
gc.freeze()
import atexit
atexit.register(lambda: print("at exit", math.sqrt(4.0)))
"""

def test_plain(t: Harness) -> None:
    bare, run = t.bare(PLAIN), t.record(PLAIN, "--detail", "full")
    t.equal("interrupts, alarms, forks, threads, errors", (run.status, run.output), (bare.status, bare.output), run.errors)
    t.check("it was recorded", len(run.calls("outer")) > 1000 and "interrupted" in run.output, run.errors)


# Imports: a finder of the program's is asked once, an import that fails looks as ever, a file that is called as a module of the
# standard library is found if nobody has loaded that before.
IMPORTS = """
import os, sys, traceback
class Finder:
    asked = []
    @classmethod
    def find_spec(cls, name, path=None, target=None): cls.asked.append(name)
sys.meta_path.insert(0, Finder)
sys.path.insert(0, "own")
os.makedirs("own/torch", exist_ok=True)
for name, text in (("torch/__init__", "from . import part"), ("torch/part", "raise ValueError('no torch')"), ("numpy", "import nowhere"),
                   ("random", "mine = True"), ("copy", "print('own copy')")):
    with open(f"own/{name}.py", "w") as file: print(text, file=file)
for name in ("torch", "numpy"):
    try: __import__(name)
    except Exception: print(traceback.format_exc())
print(Finder.asked.count("torch"), Finder.asked.count("numpy"))
import random
print(random.mine)
with open("own/torch/__init__.py", "w") as file: print("def add(a, b): return a + b", file=file)
import torch
print(torch.add(1, 2), "copy" in sys.modules)
"""

# Tracers and profilers, from the making of a model to its first steps: what they see of files that are not ours is all they see.
WATCHED = """
import collections, sys, torch
def work():
    class Net(torch.nn.Module):
        def __init__(self): super().__init__(); self.a = torch.nn.Linear(2, 2)
        def forward(self, x): return self.a(x)
    model = Net(); optimizer = torch.optim.Adam(model.parameters())
    for batch in torch.utils.data.DataLoader(range(3)):
        model(torch.ones(2) * batch).sum().backward(); optimizer.step()
    torch.save(model.state_dict(), "saved"); model.load_state_dict(torch.load("saved"))
    torch.neg(torch.eye(2).to_sparse())
work()
seen = collections.Counter()
def watch(frame, event, argument):
    seen[frame.f_code.co_filename, frame.f_code.co_name, event] += 1
    return watch
for begin in (sys.settrace, sys.setprofile):
    begin(watch); work(); begin(None)
    for item in sorted(seen.items()): print(item)
"""

# A handler that raises, while a thread that sleeps takes signals that we keep from our own code: nothing is lost.
HANDLED = """
import signal, threading, time, torch
class Late(Exception): pass
fired = 0
def late(number, frame):
    global fired
    fired += 1
    raise Late(fired)
signal.signal(signal.SIGALRM, late)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
sparse, lost = torch.eye(3).to_sparse(), 0
for i in range(60):
    before = fired
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + i * 0.00003)
        while fired == before: torch.neg(sparse)
        for _ in range(1000): pass
        lost += 1
    except Late as error:
        names, trace = [], error.__traceback__
        while trace: names.append(trace.tb_frame.f_code.co_name); trace = trace.tb_next
        if names != ["<module>", "late"]: print(names)
print(lost, "lost of", fired)
"""


def same(t: Harness, what: str, program: str, *options: str) -> None:
    command = [t.python, t.script(program)]
    bare, run = t.execute(command), t.record_command(command, *options)
    ours, theirs = run.output.splitlines(), bare.output.splitlines()
    t.equal(what, (run.status, len(ours), [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]), (bare.status, len(theirs), []),
            run.errors[-1500:])


def test_imports(t: Harness) -> None:
    same(t, "imports through the program's finders, and imports that fail", IMPORTS, "--modules", "torch,numpy")


def test_torch(t: Harness) -> None:
    if not t.has("torch"):
        print("# skip tracers and handlers: no torch")
        return
    same(t, "tracers and profilers see nothing of ours", WATCHED, "--detail", "full")
    same(t, "what handlers raise in our code arrives", HANDLED, "--detail", "full")


if __name__ == "__main__":
    main(test_plain, test_imports, test_torch)
