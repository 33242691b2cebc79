# SPDX-License-Identifier: Apache-2.0
"""Threads that write, resize, exchange and free tensors while they are read: no crash, and nothing made up."""

from __future__ import annotations

from recorded import Harness, main

PROGRAM = """
import threading, time
import torch
from wheeltap import _wheeltap as core

big = 1 << 19  # elements: 2 MB, which the allocator gives back to the system when freed
shared = [torch.zeros(big) for _ in range(4)]
halves = [tensor[::2] for tensor in shared]  # made now: torch itself checks extents when it makes a view
stop = False
turns = [0] * 5
problems = []

def guarded(number, work):
    def run():
        try:
            while not stop:
                work()
                turns[number] += 1
        except Exception as problem:
            problems.append(repr(problem))
    return threading.Thread(target=run, daemon=True)

def resize():
    shared[0].resize_(1)
    shared[0].untyped_storage().resize_(0) if hasattr(shared[0], "untyped_storage") else shared[0].storage().resize_(0)
    shared[0].resize_(big)

def exchange():
    shared[1].set_(torch.ones(big if turns[1] % 2 else 3))

def reshape():
    shared[2].resize_(2, 1, 2, 1, 2, 1, 2, big // 16)
    shared[2].resize_(big)

def write():
    shared[3].fill_(turns[3] % 3)

def views():
    x = torch.empty(64, 512)
    x.t().resize_(3)

threads = [guarded(i, work) for i, work in enumerate((resize, exchange, reshape, write, views))]
alone = core.digest(shared[3])[0]
for thread in threads:
    thread.start()
reads = described = 0
end = time.monotonic() + {seconds}
whole = torch.arange(big, dtype=torch.float32)
expected = core.digest(whole)
while time.monotonic() < end:
    for tensor in (*shared, *halves):
        described += not core.digest(tensor)[0]
        reads += 1
    if core.digest(whole) != expected or core.digest(whole.view(1024, -1).t())[3] == expected[3]:
        problems.append("a tensor that nobody touched was read wrongly")
    time.sleep(0)  # the others' turn
stop = True
for thread in threads:
    thread.join()
print(alone, problems, reads > 100, min(turns) > 10)
"""


def test_threads(t: Harness) -> None:
    run = t.record(PROGRAM.format(seconds=6))
    t.equal("threads that resize, free and write", (run.status, run.output.strip()), (0, "True [] True True"),
            run.errors[-2000:])


TOLD = """
import threading, time, torch
stop = threading.Event()
shared = torch.zeros(1 << 16)

def resize():
    while not stop.is_set():
        shared.resize_(1)
        shared.storage().resize_(0)
        shared.resize_(1 << 16)
        time.sleep(0.0005)

thread = threading.Thread(target=resize)
thread.start()
for _ in range(100):
    shared.detach()
    torch.detach(shared)
stop.set()
thread.join()
print("done")
"""


def test_told(t: Harness) -> None:
    run = t.record(TOLD, "--detail", "full")
    t.equal("the same in a recorded program", (run.status, run.output), (0, "done\n"), run.errors[-2000:])


GRADIENTS = """
import threading, time, torch

def model():
    net = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(4)])
    return net, torch.optim.SGD(net.parameters(), lr=1e-6)

other, _other_optimizer = model()
stop = False
turns = 0

def replace():
    global turns
    x = torch.ones(4, 16)
    while not stop:
        # With a graph of its own a gradient is not added to: another takes its place, without the interpreter's lock.
        other(x).pow(2).sum().backward(create_graph=True)
        turns += 1
        if turns % 8 == 0:
            for p in other.parameters():
                p.grad = None

thread = threading.Thread(target=replace)
thread.start()
net, optimizer = model()
steps = 0
end = time.monotonic() + 3
while time.monotonic() < end or steps < 20:
    optimizer.zero_grad()
    net(torch.ones(4, 16)).sum().backward()  # before which all gradients are looked at
    optimizer.step()
    steps += 1
stop = True
thread.join()
print(turns > 10)
"""


def test_gradients(t: Harness) -> None:
    run = t.record(GRADIENTS)
    t.equal("gradients that another thread replaces", (run.status, run.output), (0, "True\n"), run.errors[-2000:])
    counted = [row for row in run.of("gradients") if row["moment"] == "step"]
    t.check("those that nobody touches are read", len(counted) >= 20 and all(row["nonzero"] == 8 for row in counted), counted[:3])


if __name__ == "__main__":
    main(test_threads, test_told, test_gradients, require=("torch",))
