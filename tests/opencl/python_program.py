# SPDX-License-Identifier: Apache-2.0
"""A pyopencl program: what it enqueued and computed, as the C programs print it."""
import hashlib

import numpy
import pyopencl

SOURCE = """
__kernel void twice(__global const float *a, __global float *b)
{
	int i = get_global_id(0);
	b[i] = 2 * a[i];
}
"""
LAUNCHES = 3


def launch(program: pyopencl.Program, queue: pyopencl.CommandQueue, a: pyopencl.Buffer, b: pyopencl.Buffer) -> None:
    program.twice(queue, (1024,), None, a, b)


def main() -> None:
    context = pyopencl.create_some_context(interactive=False)
    queue = pyopencl.CommandQueue(context)
    flags = pyopencl.mem_flags
    numbers = numpy.arange(1024, dtype=numpy.float32)
    a = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=numbers)
    b = pyopencl.Buffer(context, flags.WRITE_ONLY, numbers.nbytes)
    program = pyopencl.Program(context, SOURCE).build()
    for _ in range(LAUNCHES):
        launch(program, queue, a, b)
    doubled = numpy.empty_like(numbers)
    pyopencl.enqueue_copy(queue, doubled, b)
    print("result", hashlib.sha256(doubled.tobytes()).hexdigest())
    print("answer properties", queue.properties)
    print("references buffer", b.get_info(pyopencl.mem_info.REFERENCE_COUNT))
    print("commands kernel", LAUNCHES)
    print("commands copy", 1)


main()
