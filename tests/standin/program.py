# SPDX-License-Identifier: Apache-2.0
"""Calls the gadget from two threads and prints which call has which correlation."""

import threading

import gadget

import wheeltap

print("start", gadget.start())


def steps(device: int) -> None:
    for _ in range(5):
        print("multiply", gadget.multiply(device), flush=True)
        upload, multiply = gadget.layer(device)
        print("layer", upload, flush=True)
        print("layer", multiply, flush=True)
        print("replay", gadget.replay(device), flush=True)
        with wheeltap.range("outer"):
            with wheeltap.range("in_range"):  # not by a function that is recorded
                print("in_range", gadget.raw(gadget.KERNEL, device, 7, b"multiply"), flush=True)


other = threading.Thread(target=steps, args=(1,))
other.start()
other.join()
steps(0)
