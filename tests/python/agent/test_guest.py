# SPDX-License-Identifier: Apache-2.0
"""The program is a host, the agent a guest: each program here prints the same with us and without."""

from __future__ import annotations

from harness import Harness, main

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


if __name__ == "__main__":
    main(test_plain)
