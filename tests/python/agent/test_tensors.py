# SPDX-License-Identifier: Apache-2.0
"""Digests of tensors and arrays, of every type and layout, against the definition computed by other means."""

from __future__ import annotations

from pathlib import Path

from recorded import Harness, main

PROGRAM = """
import ctypes, math, sys
sys.path.insert(0, {helpers!r})
import torch
from wheeltap import _wheeltap as core
from xxh3 import xxh3_64

def raw(tensor):
    # Whatever the type: the bytes of a packed copy.
    copy = torch.empty(tensor.shape, dtype=tensor.dtype)
    copy.copy_(tensor)
    return ctypes.string_at(copy.data_ptr(), copy.numel() * copy.element_size()) if copy.numel() else b""

def check(name, tensor):
    readable, dtype, count, hash, nan, inf, zeros, low, high, mean, m2 = core.digest(tensor)
    if not readable:
        print("not readable", name)
        return
    if hash != xxh3_64(raw(tensor)):
        print("wrong hash", name)
    values = tensor.detach()
    if values.is_complex():
        values = torch.view_as_real(values.clone())
    values = values.to(torch.float64).flatten()
    finite = values[torch.isfinite(values)]
    expected = (tensor.numel(), int(values.isnan().sum()), int(values.isinf().sum()), int((values == 0).sum()))
    if (count, nan, inf, zeros) != expected:
        print("wrong counts", name, (count, nan, inf, zeros), expected)
    if len(finite):
        if (low, high) != (finite.min().item(), finite.max().item()):
            print("wrong extremes", name, low, high)
        if not math.isclose(mean, finite.mean().item(), rel_tol=1e-9, abs_tol=1e-9):
            print("wrong mean", name, mean, finite.mean().item())
        if not math.isclose(m2, ((finite - finite.mean()) ** 2).sum().item(), rel_tol=1e-6, abs_tol=1e-6):
            print("wrong m2", name, m2)

torch.manual_seed(1)
for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
              torch.float32, torch.float64, torch.complex64, torch.complex128):
    base = (torch.randn(5, 6, 7) * 50).to(dtype)
    check(f"{{dtype}}", base)
    check(f"{{dtype}} transposed", base.transpose(0, 2))
    check(f"{{dtype}} sliced", base[1:4, ::2, 3:])
    check(f"{{dtype}} expanded", base[:, :1].expand(5, 4, 7))
    check(f"{{dtype}} scalar", base[0, 0, 0])
    check(f"{{dtype}} empty", base[:0])
# Random views of random tensors: cut, turned, expanded, conjugated, negated.
import random
chance = random.Random(7)
types = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
         torch.float32, torch.float64, torch.complex64, torch.complex128]
for number in range(300):
    dtype = chance.choice(types)
    x = (torch.randn([chance.randint(1, 9) for _ in range(chance.randint(0, 6))]) * 9).to(dtype)
    for _ in range(chance.randint(0, 4)):
        way = chance.randrange(5)
        if x.dim() and way == 0:
            x = x.transpose(chance.randrange(x.dim()), chance.randrange(x.dim()))
        elif x.dim() and way == 1:
            d = chance.randrange(x.dim())
            if x.shape[d]:
                x = x.narrow(d, chance.randrange(x.shape[d]), chance.randint(0, 1))
        elif x.dim() and way == 2:
            x = x[..., ::chance.randint(1, 3)]
        elif way == 3:
            x = x.unsqueeze(0).expand(chance.randint(0, 4), *x.shape)
        elif dtype.is_complex:
            x = chance.choice([torch.conj, torch._neg_view, lambda z: z.conj().imag if z.is_complex() else z])(x)
    check(f"random {{number}} {{x.dtype}} {{tuple(x.shape)}} {{x.stride()}} {{x.is_conj()}} {{x.is_neg()}}", x)
wide = torch.randn(700, 700)
check("block edges, strided", wide[1:, 3::2])
check("long rows", wide.t()[:, :699])
check("conjugated, long", torch.randn(3, 5000, dtype=torch.complex64).conj().transpose(0, 1))
odd = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-45, -3.5])
check("specials", odd)
check("payload", torch.tensor([0x7fc12345, 0x7f800001, 0x80000001], dtype=torch.int64).to(torch.int32).view(torch.float32))
check("long", torch.zeros(2, 1, 2, 1, 2, 1, 2, 1, 2).permute(*range(8, -1, -1)))
check("channels last", torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last))
check("parameter", torch.nn.Parameter(torch.randn(3, 3)))
with torch.inference_mode():
    check("inference", torch.randn(4, 4))
big = torch.randn(300, 301)
check("large", big)
check("large, transposed", big.t())

# The same bytes and as many elements, of one type after another.
bits = torch.randn(64, dtype=torch.float64)
for dtype in (torch.float64, torch.int64, torch.complex64, torch.float64):
    check(f"the same bytes as {{dtype}}", bits.view(dtype))
    check(f"the first of the same bytes as {{dtype}}", bits.view(dtype)[:3])
for count in (2, 63, 64, 2048, 2049, 4096, 4097):
    for _ in range(2):
        check(f"{{count}} elements that were seen before", torch.arange(count, dtype=torch.float32))

# The value at this moment, by whatever way it was written.
x = torch.zeros(4)
seen = [core.digest(x)[9]]
for write in (lambda: x.add_(1), lambda: x.data.mul_(2), lambda: x.numpy().fill(7), lambda: x.__setitem__(0, 1.0),
              lambda: torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).fill_(9)):
    write()
    seen.append(core.digest(x)[9])
x = torch.ones(2)
x.resize_(800).fill_(3)
seen.append(core.digest(x)[9])
print("values", seen)

# What cannot be read is described, not guessed.
z = torch.zeros(3, dtype=torch.complex64)
freed = torch.zeros(1000)
view = freed[3:9]
freed.storage().resize_(0)
part = torch.zeros(4)
part.set_(torch.zeros(8).storage(), 6, (2,))
part.storage().resize_(7)
for name, tensor in (("sparse", torch.eye(3).to_sparse()), ("sparse rows", torch.eye(3).to_sparse_csr()),
                     ("beyond its storage", part), ("view of freed", view),
                     ("meta", torch.zeros(2, device="meta")), ("freed", freed),
                     ("quantised", torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.qint8))):
    print(name, core.digest(tensor)[0])
print("layout", core.layout_known(), core.digest(3), core.digest("text"))

try:
    import numpy
except ImportError:
    print("numpy True")
else:
    array = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
    same = all(core.digest(view)[2:] == core.digest(torch.from_numpy(numpy.ascontiguousarray(view)))[2:]
               for view in (array, array.T, array[:, ::-1], array[0], array[..., 1:3], numpy.float32(3) * array))
    print("numpy", same and core.digest(array.astype(">f4"))[0] is False)
"""

NO_HASH = 8


def test_digests(t: Harness) -> None:
    helpers = str(Path(__file__).resolve().parents[1])
    run = t.record(PROGRAM.format(helpers=helpers))
    expected = ["values [0.0, 1.0, 2.0, 7.0, 5.5, 9.0, 3.0]", "sparse False", "sparse rows False",
                "beyond its storage False", "view of freed False", "meta False", "freed False", "quantised False", "layout True None None", "numpy True"]
    t.equal("every type and layout", (run.status, run.output.splitlines()), (0, expected), run.errors[-2000:])


FREED = """
import torch

class Attention(torch.nn.Module):
    def forward(self, x):
        return x.detach()

nan = float("nan")
whole = torch.full((1000,), nan)
middle = whole[3:9]
end = torch.full((8,), nan)[6:]
step = torch.full((40,), nan)[::13]
whole.storage().resize_(0)
end.storage().resize_(7)
step.storage().resize_(39)
attention = Attention()
for tensor in (whole, middle, end, step):
    attention(tensor)
attention(torch.full((5,), nan))
"""


def test_freed(t: Harness) -> None:
    """As FSDP leaves parameters behind: what a call is given and returns is not read beyond its storage, by whichever way it is seen."""
    for options in ((), ("--detail", "full", "--operators", "all")):
        run = t.record(FREED, *options)
        calls = [event["fields"].get("callee") for event in run.events]
        tensors = [event["fields"] for event in run.events[calls.index("Attention.forward"):] if event["kind"] == "tensor"]
        seen = {(tensor["shape"], tensor["flags"] & NO_HASH, tensor["nan"]) for tensor in tensors}
        expected = {(shape, NO_HASH, None) for shape in ("1000", "6", "2", "4")} | {("5", 0, 5)}
        t.equal(f"not read {options}", (run.status, seen), (0, expected), run.errors[-2000:])


if __name__ == "__main__":
    main(test_digests, test_freed, require=("torch",))
