# SPDX-License-Identifier: Apache-2.0
"""A small training program whose output is the same each time: a logistic regression, or with `torch` the same in torch.

usage: limits_program.py [torch] [threads] [filter]

Prints the loss of each epoch, writes a checkpoint of some 20 kB into the current folder, and reads it again. With
`threads` each epoch has a thread of its own, all alive at the same time. With `filter` it forbids itself, after the
training, all system calls but those that it makes itself from there on; whoever makes another one is killed.
"""

import math
import random
import sys
import threading

EPOCHS = 3


def train_plain() -> "list[float]":
    generator = random.Random(1)
    data = [(generator.gauss(0, 1), generator.gauss(0, 1)) for _ in range(200)]
    weights = [0.0, 0.0]
    losses = []
    for _ in range(EPOCHS):
        loss = 0.0
        for x, y in data:
            target = 1.0 if x + 0.5 * y > 0 else 0.0
            guess = 1 / (1 + math.exp(-(weights[0] * x + weights[1] * y)))
            loss -= math.log(guess if target else 1 - guess)
            weights[0] += 0.1 * (target - guess) * x
            weights[1] += 0.1 * (target - guess) * y
        losses.append(loss / len(data))
    return losses


def train_torch() -> "list[float]":
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(1)
    x = torch.randn(64, 4)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def save(losses: "list[float]") -> None:
    text = "\n".join(f"{loss:.6f}" for loss in losses) + "\n"
    with open("checkpoint.txt", "w") as file:
        file.write(text * 700)
    with open("checkpoint.txt") as file:
        print("saved", len(file.read()) // len(text), file=sys.stderr)


def together() -> None:
    barrier = threading.Barrier(EPOCHS + 1)
    threads = [threading.Thread(target=barrier.wait, daemon=True) for _ in range(EPOCHS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    for thread in threads:
        thread.join()
    print("threads", len(threads))


# Of x86-64: read write close fstat lseek mmap munmap brk rt_sigaction rt_sigprocmask ioctl mremap madvise futex
# clock_gettime exit_group openat newfstatat sigaltstack getrandom, and getpid, which a library of torch makes
OWN_CALLS = (0, 1, 3, 5, 8, 9, 11, 12, 13, 14, 16, 25, 28, 202, 228, 231, 257, 262, 131, 318, 39)


def forbid() -> None:
    """Installs a filter of seccomp: an instruction is a code, two jumps and a number."""
    import ctypes
    import struct

    allow, kill = 0x7FFF0000, 0x80000000
    code = struct.pack("<HBBI", 0x20, 0, 0, 0)
    for number in OWN_CALLS:
        code += struct.pack("<HBBI", 0x15, 0, 1, number) + struct.pack("<HBBI", 0x06, 0, 0, allow)
    code += struct.pack("<HBBI", 0x06, 0, 0, kill)
    text = ctypes.create_string_buffer(code)
    program = struct.pack("<H6xQ", len(code) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program):
        print("no filter:", ctypes.get_errno())
        sys.exit(77)


def main() -> None:
    losses = train_torch() if "torch" in sys.argv else train_plain()
    if "filter" in sys.argv:
        forbid()
    for epoch, loss in enumerate(losses):
        print(f"epoch {epoch} loss {loss:.6f}")
    if "threads" in sys.argv:
        together()
    save(losses)


main()
