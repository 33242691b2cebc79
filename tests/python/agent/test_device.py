# SPDX-License-Identifier: Apache-2.0
"""Tensors on an accelerator, as far as that can be tried without one: tensors of the CPU are said to be elsewhere, and
a stand-in for an event says when they have been copied."""

from __future__ import annotations

from recorded import Harness, main

PROGRAM = """
import torch
from wheeltap import _wheeltap as core

class Event:
    made, ready = [], False
    def record(self): Event.made.append(self)
    def query(self): return Event.ready

callbacks = core.callbacks()
callbacks.is_near = lambda tensor: tensor.dtype is torch.uint8
callbacks.device_copies.pinned = False
callbacks.device_copies.new_event = lambda device: None if {refuse} else Event()
x = torch.arange(12, dtype=torch.float32).view(3, 4).t()
z = torch.tensor([1 + 2j, 3 - 4j]).conj()
torch.neg(x)
torch.neg(z)
Event.ready = {ready}
x.mul_(2)          # what was copied is the value of then
torch.neg(torch.zeros(1))
torch.neg(torch.zeros(1))
print(len(Event.made) > 0, callbacks.device_copies.bytes <= 64 << 20)
"""

NEAR = """
import torch
x = torch.arange(12, dtype=torch.float32).view(3, 4).t()
z = torch.tensor([1 + 2j, 3 - 4j]).conj()
torch.neg(x)
torch.neg(z)
"""

FLAG_NO_HASH, FLAG_LATE = 8, 64


def digests(run, late: bool) -> list[tuple]:
    calls = {event["seq"]: event["fields"]["callee"] for event in run.events if event["kind"] == "call_begin"}
    return [(x["shape"], x["dtype"], x["position"], x["hash"], x["mean"], x["m2"]) for x in run.of("tensor")
            if bool(x["flags"] & FLAG_LATE) == late and not x["flags"] & FLAG_NO_HASH and calls.get(x["call"]) == "neg"]


def test_late(t: Harness) -> None:
    near = digests(t.record(NEAR), False)
    run = t.record(PROGRAM.format(refuse=False, ready=True))
    told = digests(run, True)
    described = [x for x in run.of("tensor") if x["sort"] == "device"]
    t.equal("the program runs", (run.status, run.output), (0, "True True\n"), run.errors[-2000:])
    t.check("described at once", described and all(x["flags"] & FLAG_NO_HASH for x in described))
    t.check("told late, with the hash that the CPU gives, the call and the position", near and told[:len(near)] == near,
            near, told)


def test_not_ready(t: Harness) -> None:
    run = t.record(PROGRAM.format(refuse=False, ready=False))
    t.equal("what the device never finished is not made up", (run.status, digests(run, True)), (0, []), run.errors[-2000:])
    run = t.record(PROGRAM.format(refuse=True, ready=True))
    t.equal("nor what cannot be copied without waiting", (run.status, digests(run, True), run.output),
            (0, [], "False True\n"), run.errors[-2000:])


MANY = """
import torch
from wheeltap import _wheeltap as core
class Event:
    def record(self): pass
    def query(self): return False
callbacks = core.callbacks()
callbacks.is_near = lambda tensor: tensor.dtype is torch.uint8
callbacks.device_copies.pinned = False
callbacks.device_copies.new_event = lambda device: Event()
x = torch.ones(1 << 20)
for _ in range(400):
    torch.neg(x)
print(0 < callbacks.device_copies.bytes <= 64 << 20)
"""


def test_scratch(t: Harness) -> None:
    run = t.record(MANY, "--tensors", "stats")
    t.equal("the scratch is bounded", (run.status, run.output), (0, "True\n"), run.errors[-2000:])


if __name__ == "__main__":
    main(test_late, test_not_ready, test_scratch, require=("torch",))
