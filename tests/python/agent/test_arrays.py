# SPDX-License-Identifier: Apache-2.0
"""Arrays that are not torch's: numpy's of every type and layout, buffers, DLPack's exchange interface; no code of theirs runs."""

from __future__ import annotations

from pathlib import Path

from recorded import Harness, main

NUMPY = """
import random, struct, sys
sys.path.insert(0, {helpers!r})
import numpy as np
from wheeltap import _wheeltap as core
from xxh3 import xxh3_64

def check(name, array):
    readable, dtype, count, hash, nan, inf, zeros, low, high, mean, m2 = core.digest(array)
    if not readable:
        return print("not readable", name)
    packed = np.ascontiguousarray(array)
    if (count, hash) != (array.size, xxh3_64(packed.tobytes())):
        print("wrong hash", name, count)
    values = packed.view(packed.real.dtype) if packed.dtype.kind == "c" else packed
    with np.errstate(all="ignore"):
        values = values.astype(np.float64).ravel()
        finite = values[np.isfinite(values)]
        expected = (int(np.isnan(values).sum()), int(np.isinf(values).sum()), int((values == 0).sum()))
        if (nan, inf, zeros) != expected:
            print("wrong counts", name, (nan, inf, zeros), expected)
        if len(finite) and np.abs(finite).max() < 1e150:  # where numpy's own sums do not overflow
            if (low, high) != (finite.min(), finite.max()):
                print("wrong extremes", name)
            if not np.isclose(mean, finite.mean(), rtol=1e-9, atol=1e-300 + 1e-12 * np.abs(finite).max(), equal_nan=True):
                print("wrong mean", name, mean, finite.mean())
            if not np.isclose(m2, ((finite - finite.mean()) ** 2).sum(), rtol=1e-6, atol=1e-6, equal_nan=True):
                print("wrong m2", name, m2)

chance = random.Random(3)
types = "? b B h H i I l L q Q e f d F D".split()
for number in range(600):
    dtype = np.dtype(types[number % len(types)])
    shape = [chance.randint(0, 7) for _ in range(chance.randint(0, 5))]
    size = int(np.prod(shape, dtype=int))
    raw = chance.randbytes(size * dtype.itemsize)  # every bit pattern: payloads of NaN, denormals
    if dtype == bool:
        raw = bytes(b & 1 for b in raw)
    array = np.frombuffer(raw, dtype).reshape(shape)
    for _ in range(chance.randint(0, 4)):
        way = chance.randrange(4)
        if array.ndim and way == 0:
            array = array.transpose(chance.sample(range(array.ndim), array.ndim))
        elif array.ndim and way == 1:
            array = array[..., ::chance.choice([-2, -1, 1, 2])]
        elif array.ndim and way == 2:
            array = array[chance.randint(0, 2):]
        elif way == 3:
            array = np.broadcast_to(array, (chance.randint(1, 3), *array.shape))
    check(f"{{number}} {{dtype}} {{array.shape}} {{array.strides}}", array)
check("large", np.random.default_rng(1).normal(size=(500, 300)))
check("large, turned", np.random.default_rng(1).normal(size=(500, 300)).T[::-1])
check("matrix", np.arange(12.0).reshape(3, 4).view(np.matrix))
class Mine(np.ndarray):
    def __array_finalize__(self, other): pass
    def __getattribute__(self, name): print("ran", name); return super().__getattribute__(name)
    def __buffer__(self, flags): print("ran __buffer__")
mine = np.arange(4.0).view(Mine)
print("derived", core.digest(mine)[:3] == (True, 13, 4))

described = [np.array(["2020-01-01"], dtype="M8[D]"), np.array([object()]), np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
             np.array(["text"]), np.zeros(3, ">f8"), np.zeros(2, np.longdouble), np.array([b"x"])]
print("described", [(core.digest(array)[0], core.digest(array)[2]) for array in described])
print("scalar", core.digest(np.float32(1.5))[9])
"""

BUFFERS = """
import array, ctypes, mmap, os, struct, tempfile
from wheeltap import _wheeltap as core

print("array", core.digest(array.array("d", [1.0, 2.0, 4.5]))[9], core.digest(memoryview(array.array("h", [1, 3])))[9])
print("turned", core.digest(memoryview(array.array("i", range(6)))[::-2])[7:10])
print("records", core.digest(memoryview(bytearray(16)).cast("B"))[2], core.digest(b"bytes"))

# A file that is cut while it is mapped: to read it would be SIGBUS.
with tempfile.TemporaryFile() as file:
    file.write(bytes(3 * mmap.PAGESIZE))
    file.flush()
    mapped = mmap.mmap(file.fileno(), 0)
    before = core.digest(mapped)[0]
    os.ftruncate(file.fileno(), mmap.PAGESIZE)
    print("cut file", before, core.digest(mapped)[0])

class Exporter:
    def __buffer__(self, flags): print("ran __buffer__"); return memoryview(b"1234")
    def __dlpack__(self, *a, **k): print("ran __dlpack__")
    def __dlpack_device__(self): print("ran __dlpack_device__")
    @property
    def __array_interface__(self): print("ran __array_interface__")
print("class", core.digest(Exporter()))

# DLPack's exchange interface: a table of C functions in a capsule of the type.
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]
values, sizes, strides = (ctypes.c_float * 7)(*range(7)), (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)(1, 2)
Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
device = 1
def look(object, ret):
    ret[0] = Tensor(ctypes.addressof(values), device, 0, 2, 2, 32, 1, sizes, strides, 4)
    return 0
function = Function(look)
table = (ctypes.c_uint64 * 8)(1 | 2 << 32, 0, 0, 0, 0, ctypes.cast(function, ctypes.c_void_p).value, 0, 0)
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
class Exchanged:
    __dlpack_c_exchange_api__ = new(ctypes.addressof(table), b"dlpack_exchange_api", None)
    def __dlpack__(self): print("ran __dlpack__")
told = core.digest(Exchanged())
same = core.digest(memoryview(array.array("f", [1, 3, 5, 2, 4, 6])))
print("exchange", told[:3], told[3:] == same[3:])
device = 2
print("elsewhere", core.digest(Exchanged())[0])
"""


def test_numpy(t: Harness) -> None:
    if not t.has("numpy"):
        return print(f"# {t.python} has no numpy")
    run = t.record(NUMPY.format(helpers=str(Path(__file__).resolve().parents[1])))
    expected = ["derived True", "described [(False, 1), (False, 1), (False, 2), (False, 1), (False, 3), (False, 2), (False, 1)]",
                "scalar 1.5"]
    t.equal("numpy: every type and layout", (run.status, run.output.splitlines()), (0, expected), run.errors[-2000:])


def test_buffers(t: Harness) -> None:
    run = t.record(BUFFERS)
    expected = ["array 2.5 2.0", "turned (1.0, 5.0, 3.0)", "records 16 None", "cut file True False", "class None",
                "exchange (True, 12, 6) True", "elsewhere False"]
    t.equal("buffers and DLPack, and nothing in Python runs", (run.status, run.output.splitlines()), (0, expected),
            run.errors[-2000:])


if __name__ == "__main__":
    main(test_numpy, test_buffers)
