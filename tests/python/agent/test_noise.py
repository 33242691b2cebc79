# SPDX-License-Identifier: Apache-2.0
"""Noise on results of operations: reproducible by its seed, on what rounds and on nothing else, harmless on everything."""

from __future__ import annotations

import hashlib
import os
import struct

from recorded import Harness, Run, main

# Adds lines to the settings that the recorder has left, and becomes the program.
SAMPLED = 128  # flag of a tensor, docs/events.md

WRAPPER = """
import os, sys
with open(os.path.join(os.environ["WHEELTAP_AGENT"].partition(":")[2], "settings"), "a") as file:
    file.write("\\n" + sys.argv[1].replace(";", "\\n") + "\\n")
os.execv(sys.executable, [sys.executable] + sys.argv[2:])
"""

TRAIN = """
import hashlib, torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 9, 10))
optimizer = torch.optim.OPTIMIZER(model.parameters(), lr=1e-2)
x, y = torch.randn(16, 1, 8, 8), torch.randint(0, 10, (16,))
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    if step == 0:
        print("forward", hashlib.md5(model(x).detach().numpy().tobytes()).hexdigest())
        print("gradients", *(hashlib.md5(p.grad.numpy().tobytes()).hexdigest() for p in model.parameters()))
    optimizer.step()
print("parameters", hashlib.md5(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
"""

# Each is a line "name hash"; inputs are drawn, made or integer-valued, which nothing perturbs.
EXACT_TORCH = """
import hashlib, torch
from torch.nn import functional as F
torch.manual_seed(1)
x, y, i = torch.randn(12, 16), torch.randn(12, 16), torch.randint(0, 12, (40,))
image = torch.randn(2, 3, 8, 8)
def show(name, value):
    for value in value if isinstance(value, (tuple, list)) else [value]:
        print(name, hashlib.md5(value.detach().contiguous().numpy().tobytes()).hexdigest())
operations = dict(
    view=lambda: x.view(16, 12), reshape=lambda: x.t().reshape(-1), transpose=lambda: x.transpose(0, 1), permute=lambda: image.permute(3, 0, 1, 2),
    contiguous=lambda: x.t().contiguous(), clone=lambda: x.clone(), detach=lambda: x.detach(), expand=lambda: x[:1].expand(5, 16),
    index=lambda: x[i], slice=lambda: x[2:7, ::3], select=lambda: x.select(0, 3), index_select=lambda: x.index_select(0, i), gather=lambda: x.gather(0, i.view(-1, 1)),
    take=lambda: torch.take(x, i), masked_select=lambda: x.masked_select(x > 0), masked_fill=lambda: x.masked_fill(x > 0, 0.3), where=lambda: torch.where(x > 0, x, y),
    cat=lambda: torch.cat([x, y]), stack=lambda: torch.stack([x, y]), pad=lambda: F.pad(x, (1, 2), value=0.1), flip=lambda: x.flip(0), roll=lambda: x.roll(3),
    repeat=lambda: x.repeat(2, 3), split=lambda: x.split(4), chunk=lambda: x.chunk(3), unbind=lambda: x.unbind(), tril=lambda: x.tril(), diag=lambda: torch.diag(x[:12, :12]),
    maximum=lambda: torch.maximum(x, y), minimum=lambda: torch.minimum(x, y), max=lambda: x.max(0), amin=lambda: x.amin(1), sort=lambda: x.sort(), topk=lambda: x.topk(3),
    median=lambda: x.median(1), kthvalue=lambda: x.kthvalue(2), cummax=lambda: x.cummax(0), clamp=lambda: x.clamp(-0.3, 0.4), relu=lambda: F.relu(x), relu_=lambda: x.clone().relu_(),
    hardtanh=lambda: F.hardtanh(x), max_pool2d=lambda: F.max_pool2d(image, 2), adaptive_max=lambda: F.adaptive_max_pool2d(image, 3), unfold=lambda: F.unfold(image, 2),
    neg=lambda: -x, abs=lambda: x.abs(), floor=lambda: x.floor(), trunc=lambda: x.trunc(), frac=lambda: x.frac(), sign=lambda: x.sign(), fmod=lambda: torch.fmod(x, 0.3),
    zeros=lambda: torch.zeros(5), full=lambda: torch.full((5,), 0.1), linspace=lambda: torch.linspace(0, 1, 64), arange=lambda: torch.arange(0, 1, 0.01), eye=lambda: torch.eye(3),
    full_like=lambda: torch.full_like(x, 0.7), tensor=lambda: torch.tensor([0.1, 0.2]), from_numpy=lambda: torch.from_numpy(x.numpy()), rand=lambda: torch.rand(70), randn=lambda: torch.randn(70),
    normal_=lambda: torch.empty(70).normal_(0, 0.3), uniform_=lambda: torch.empty(70).uniform_(-0.1, 0.3), bernoulli=lambda: torch.bernoulli(torch.full((70,), 0.5)),
    double=lambda: x.double(), to=lambda: x.to(torch.float64), widened=lambda: x.bfloat16().fill_(0.1).float(), embedding=lambda: F.embedding(i, x), copy_=lambda: torch.empty(12, 16).copy_(x),
    fill_=lambda: torch.empty(9).fill_(0.1), setitem=lambda: x.clone().__setitem__(0, 0.1) or x, nan_to_num=lambda: x.nan_to_num(), ldexp=lambda: torch.frexp(x)[0], real=lambda: torch.complex(x, y).real,
    one=lambda: F.one_hot(i).float(), integers=lambda: torch.arange(100.0) * 3 + 1, meshgrid=lambda: torch.meshgrid(x[0], y[0], indexing="ij"), dropout=lambda: F.dropout(x, 0.5, False))
for name, operation in operations.items():
    show(name, operation())
show("x", x), show("y", y), show("image", image)  # nothing has changed its inputs
"""
EXACT_NUMPY = """
import hashlib, numpy as np
rng = np.random.default_rng(3)
x, y, i = rng.standard_normal((12, 16)), rng.random((12, 16)), rng.integers(0, 12, 40)
def show(name, value):
    print(name, hashlib.md5(np.ascontiguousarray(value).tobytes()).hexdigest())
operations = dict(
    reshape=lambda: x.reshape(16, 12), transpose=lambda: x.T.copy(), index=lambda: x[i], slice=lambda: x[2:7, ::3], take=lambda: np.take(x, i, axis=0), mask=lambda: x[x > 0],
    concatenate=lambda: np.concatenate([x, y]), stack=lambda: np.stack([x, y]), pad=lambda: np.pad(x, 2), tile=lambda: np.tile(x, 2), repeat=lambda: np.repeat(x, 2), roll=lambda: np.roll(x, 3),
    flip=lambda: np.flip(x), where=lambda: np.where(x > 0, x, y), choose=lambda: np.choose(i[:16] % 2, [x[0], y[0]]), sort=lambda: np.sort(x), partition=lambda: np.partition(x, 3),
    maximum=lambda: np.maximum(x, y), minimum=lambda: np.minimum.reduce(x), fmax=lambda: np.fmax.accumulate(x), max=lambda: x.max(axis=0), amin=lambda: np.amin(x, axis=1), clip=lambda: x.clip(-0.3, 0.4),
    neg=lambda: -x, abs=lambda: abs(x), floor=lambda: np.floor(x), rint=lambda: np.rint(x), sign=lambda: np.sign(x), copysign=lambda: np.copysign(x, y), fmod=lambda: np.fmod(x, 0.3),
    array=lambda: np.array([0.1, 0.2]), full=lambda: np.full(70, 0.1), linspace=lambda: np.linspace(0, 1, 64), arange=lambda: np.arange(0, 1, 0.01), eye=lambda: np.eye(3), astype=lambda: x.astype("f4").astype("f8")[:0],
    widened=lambda: np.full(70, 0.1, "f4").astype("f8"), broadcast=lambda: np.broadcast_to(x[0], (3, 16)), diag=lambda: np.diag(x), triu=lambda: np.triu(x), copy=lambda: x.copy(), ravel=lambda: x.ravel(),
    draws=lambda: np.random.default_rng(5).normal(size=70), uniform=lambda: np.random.RandomState(5).uniform(size=70), integers=lambda: np.arange(100.0) * 3 + 1, frombuffer=lambda: np.frombuffer(x.tobytes()),
    item=lambda: float(x[0, 0]), scalar=lambda: x[0, 0], ldexp=lambda: np.ldexp(x, 3), nan_to_num=lambda: np.nan_to_num(x), unique=lambda: np.unique(x), insert=lambda: np.insert(x, 1, y[0], axis=0))
for name, operation in operations.items():
    show(name, operation())
show("x", x), show("y", y)
"""
ROUNDING_TORCH = """
import hashlib, torch
from torch.nn import functional as F
torch.manual_seed(1)
x, y, image = torch.rand(16, 16) + 0.1, torch.rand(16, 16) + 0.1, torch.randn(2, 3, 8, 8)
d = x.double()
def show(name, value):
    value = value[0] if isinstance(value, (tuple, list)) else value
    value = value.float() if value.dtype == torch.bfloat16 else value
    print(name, hashlib.md5(value.detach().contiguous().numpy().tobytes()).hexdigest())
operations = dict(
    add=lambda: x + y, sub=lambda: x - y, mul=lambda: x * y, div=lambda: x / y, rsub=lambda: 0.3 - x, pow=lambda: x ** 1.3, matmul=lambda: x @ y, mm=lambda: torch.mm(x, y), sin=lambda: x.sin(), exp=lambda: torch.exp(x),
    softmax=lambda: F.softmax(x, 1), gelu=lambda: F.gelu(x), linear=lambda: F.linear(x, y), conv2d=lambda: F.conv2d(image, torch.rand(4, 3, 3, 3)), mean=lambda: x.mean(0), sum=lambda: x.sum(1), cumsum=lambda: x.cumsum(0),
    var=lambda: x.var(0), norm=lambda: x.norm(dim=1), layer_norm=lambda: F.layer_norm(x, (16,)), batch_norm=lambda: F.batch_norm(image, None, None, training=True), avg_pool2d=lambda: F.avg_pool2d(image, 2),
    add_=lambda: x.clone().add_(y), iadd=lambda: x.clone().__iadd__(y), mul_=lambda: x.clone().mul_(0.3), out=lambda: torch.add(x, y, out=torch.empty(16, 16)), einsum=lambda: torch.einsum("ij,jk->ik", x, y),
    solve=lambda: torch.linalg.solve(d, d.t() + 1), svd=lambda: torch.linalg.svd(d)[1], qr=lambda: torch.linalg.qr(d)[1], fft=lambda: torch.view_as_real(torch.fft.fft(x)), narrowed=lambda: d.mul(0.3).float(),
    bfloat16=lambda: (x.bfloat16() * 0.3), foreach=lambda: torch._foreach_mul([x, y], 0.3), foreach_=lambda: (lambda a: torch._foreach_mul_(a, 0.3) or a)([x.clone(), y.clone()]), lerp=lambda: torch.lerp(x, y, 0.3),
    leaky=lambda: F.leaky_relu(-x, 0.3), slice_=lambda: (lambda a: a[::2, 1::3].mul_(0.3) is not None and a)(x.clone()), channels=lambda: image.to(memory_format=torch.channels_last) * 0.3,
    scatter_add=lambda: torch.zeros(16, 16).scatter_add(0, torch.zeros(16, 16, dtype=torch.long), x), index_add_=lambda: x.clone().index_add_(0, torch.arange(16), y))
for name, operation in operations.items():
    show(name, operation())
"""
ROUNDING_NUMPY = """
import hashlib, numpy as np
rng = np.random.default_rng(3)
x, y = rng.uniform(0.1, 1.1, (16, 16)), rng.uniform(0.1, 1.1, (16, 16))
f = x.astype("f4")
def show(name, value):
    print(name, hashlib.md5(np.ascontiguousarray(value).tobytes()).hexdigest())
def at():
    a = x.ravel().copy(); np.add.at(a, np.arange(0, 256, 2), 0.3); return a
def scalars(operate):
    return [operate(np.float64(a), np.float64(b)) for a, b in zip(x.ravel().tolist(), y.ravel().tolist())]
operations = dict(
    add=lambda: x + y, sub=lambda: x - y, mul=lambda: x * y, div=lambda: x / y, rsub=lambda: 0.3 - x, pow=lambda: x ** 1.3, square=lambda: x ** 2, matmul=lambda: x @ y, dot=lambda: np.dot(x, y), sin=lambda: np.sin(x),
    exp32=lambda: np.exp(f), sum=lambda: x.sum(axis=0), mean=lambda: np.mean(x, axis=1), cumsum=lambda: np.cumsum(x), reduce=lambda: np.add.reduce(x), accumulate=lambda: np.multiply.accumulate(x), outer=lambda: np.multiply.outer(x[0], y[0]),
    iadd=lambda: np.copy(x).__iadd__(y), out=lambda: np.add(x, y, out=np.empty((16, 16))), positional=lambda: np.add(x, y, np.empty((16, 16))), at=at, var=lambda: x.var(axis=0), einsum=lambda: np.einsum("ij,jk", x, y),
    solve=lambda: np.linalg.solve(x, y), svd=lambda: np.linalg.svd(x)[1], inv=lambda: np.linalg.inv(x), fft=lambda: np.fft.fft(x), interp=lambda: np.interp(x.ravel(), np.arange(5.0), y[0][:5]), narrowed=lambda: x.astype("f4"),
    complex=lambda: (x + 1j * y) * (0.3 + 0.7j), half=lambda: x.astype("f2") * np.float16(0.3), scalar_add=lambda: scalars(lambda a, b: a + b), scalar_mul=lambda: scalars(lambda a, b: a * b), scalar_pow=lambda: scalars(lambda a, b: a ** b),
    scalar_div=lambda: scalars(lambda a, b: a / 3.0), scalar_ufunc=lambda: scalars(lambda a, b: np.sqrt(a)), convolve=lambda: np.convolve(x[0], y[0]), std=lambda: x.std(axis=1), norm=lambda: np.linalg.norm(x, axis=0))
for name, operation in operations.items():
    show(name, operation())
show("untouched", at()[1::2]), show("x", x), show("y", y)
"""
ROUNDING_SCIPY = """
import hashlib, numpy as np, scipy.fft, scipy.linalg, scipy.sparse, scipy.special
rng = np.random.default_rng(3)
x, y = rng.uniform(0.1, 1.1, (16, 16)), rng.uniform(0.1, 1.1, 16)
def show(name, value):
    print(name, hashlib.md5(np.ascontiguousarray(value).tobytes()).hexdigest())
operations = dict(lu=lambda: scipy.linalg.lu_factor(x)[0], blas=lambda: scipy.linalg.blas.dgemm(1.0, x, x), solve=lambda: scipy.linalg.solve(x, y), eig=lambda: scipy.linalg.eigh(x + x.T)[0],
    gamma=lambda: scipy.special.gamma(x), erf=lambda: scipy.special.erf(x), fft=lambda: scipy.fft.rfft(x), matvec=lambda: scipy.sparse.csr_matrix(x) @ y, matmat=lambda: (scipy.sparse.csr_matrix(x) @ scipy.sparse.csr_matrix(x)).data)
for name, operation in operations.items():
    show(name, operation())
show("x", x), show("transposed", scipy.sparse.csr_matrix(x).T.tocsr().data), show("y", y)
"""
STOPPED = """
import numpy as np, wheeltap
x = np.arange(1.0, 300.0)
wheeltap.stop()
print((x * 0.3).tobytes().hex() + (np.float64(3) * np.float64(0.3)).hex())
wheeltap.start()
print((x * 0.3).tobytes().hex())
"""
# Arrays that nothing may be written into, or that hold no numbers.
ODD = """
import warnings
import numpy as np
warnings.simplefilter("ignore")
read_only = np.arange(5) * 0.3
kept = read_only.copy()
read_only.flags.writeable = False
np.sin(read_only), read_only + 0.1, read_only.sum(), np.dot(read_only, read_only)
print((read_only == kept).all())
try:
    np.add(read_only, 1, out=read_only)
except ValueError:
    print("read-only")
structured = np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])
structured["a"] += 0.5
objects = np.array([0.1, 2, "x"], dtype=object)
print((objects[:2] * 3).tolist() == [0.1 * 3, 6])
masked = np.ma.array([0.1, 0.2, 0.3], mask=[0, 1, 0])
print((masked * 2).mask.tolist(), np.ma.mean(masked) > 0)
print(np.sin(np.zeros((0, 3))).shape, np.zeros(0).sum(), (np.zeros((3, 0)) @ np.zeros((0, 2))).shape)
overlapping = np.lib.stride_tricks.as_strided(np.arange(8.0) / 3, (4, 5), (8, 8))
print((overlapping * 1.5).shape)
overlapping[...] *= 1.1
big = np.arange(5).astype(">f8") / 3
print((big * 1.1).dtype.byteorder in ">=", np.datetime64("2020-01-01") + np.timedelta64(1, "D"), np.array(["a"]) == "a")
print(np.longdouble(0.1) * 3 > 0, np.zeros(3, dtype="U3").sum if False else 1)
class Sub(np.ndarray):
    pass
print(type(np.arange(3.0).view(Sub) * 0.3).__name__, np.matrix([[0.1, 0.2]]) .T.shape)
print(np.frompyfunc(lambda a: a, 1, 1)(kept).dtype, np.vectorize(lambda a: a * 0.5)(kept).shape)
scalar = np.float64(0.1); same = scalar; scalar += 0.2
print(same == 0.1, hash(np.float64(0.5)) == hash(0.5))
table = {np.float64(0.25): 1}; print(table[0.25])
a = np.arange(6.0) / 7; v = a[::-2]; v *= 0.3; np.divide(a, 3, out=a, where=a > 0.5)
print(a[0] == 0, np.modf(a)[1].tolist(), np.divmod(a, 0.1)[0].shape)
"""
LOADER = """
import hashlib, torch
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __len__(self): return 32
    def __getitem__(self, i): return torch.arange(1.0, 9.0) / (i + 3)
if __name__ == "__main__":
    rows = torch.cat([batch * 0.3 for batch in DataLoader(Data(), batch_size=4, num_workers=2)])
    print(hashlib.md5(rows.numpy().tobytes()).hexdigest())
"""
ACCURACY = """
import torch
from torch import nn
torch.manual_seed(0)
centres = torch.randn(4, 1, 8, 8)
def batch(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    return centres[y] + 0.8 * torch.randn(n, 1, 8, 8, generator=g), y
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(60):
    x, y = batch(32, step)
    optimizer.zero_grad(); nn.functional.cross_entropy(model(x), y).backward(); optimizer.step()
x, y = batch(512, 1000)
print((model(x).argmax(1) == y).float().mean().item())
"""
THREADS = """
import hashlib, sys, torch
torch.set_num_threads(int(sys.argv[1]))
x = torch.arange(1.0, 1 << 20) / 3
for value in (x.sin(), x * 0.7, x.exp(), torch.sqrt(x), x.clone().mul_(0.1)):
    print(hashlib.md5(value.numpy().tobytes()).hexdigest())
"""
LINES = """
import torch
x = torch.arange(1.0, 300.0)
a = x * 0.3
b = x * 0.7
c = torch.sin(x)
for value, factor in ((a, 0.3), (b, 0.7)):
    print(bool((value.double() - x.double() * factor).abs().max() > 0), hash(value.numpy().tobytes()) and value.numpy().tobytes().hex()[:2000])
print(c.numpy().tobytes().hex()[:2000])
"""
TWICE = """
import torch
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 0.3
    @staticmethod
    def backward(ctx, g): return g * 0.3
x = (torch.arange(1.0, 4097.0)).requires_grad_()
Scale.apply(x).sum().backward()
ulps = (x.grad.view(torch.int32) - torch.tensor(0.3).view(torch.int32)).abs()
print(int(ulps.max()), 0.4 < float((ulps == 0).float().mean()) < 0.6)
"""
INPUTS = """
import torch
x = (torch.arange(1.0, 300.0) / 3).requires_grad_()
before, version = x.detach().clone(), x._version
y = torch.tanh(x) * 2
y.sum().backward()
print(torch.equal(x.detach(), before), x._version == version, x.grad is not None and x.grad.shape == x.shape, x.is_leaf)
running = torch.zeros(3)
torch.nn.functional.batch_norm(torch.randn(4, 3), running, torch.ones(3), training=True)
print(bool(running.abs().sum() > 0), y.detach().numpy().tobytes().hex()[:400])
"""


def script(t: Harness, code: str) -> str:
    """Always the same file: its name is part of what random numbers are drawn by."""
    path = t.folder / f"noisy_{hashlib.md5(code.encode()).hexdigest()[:8]}.py"
    path.write_text(code)
    return str(path)


def noisy(t: Harness, code: str, lines: str, *arguments: str, env: dict[str, str] | None = None) -> Run:
    return t.record_command([t.python, script(t, WRAPPER), lines, script(t, code), *arguments], env=env)


def lines_of(run: Run) -> dict[str, str]:
    """By the first word of each line, the rest; several of one name together."""
    found: dict[str, str] = {}
    for line in run.output.splitlines():
        name, _, rest = line.partition(" ")
        found[name] = found.get(name, "") + rest
    return found


def test_seeds(t: Harness) -> None:
    for optimizer in ("SGD", "Adam"):
        code = TRAIN.replace("OPTIMIZER", optimizer)
        bare = t.bare(code)
        one, again = noisy(t, code, "noise=rr;noise_seed=1"), noisy(t, code, "noise=rr;noise_seed=1")
        other, off = noisy(t, code, "noise=rr;noise_seed=2"), noisy(t, code, "noise=off;noise_seed=1")
        t.equal(f"{optimizer}: the same seed gives the same bits", one.output, again.output, one.errors)
        t.check(f"{optimizer}: noise off changes nothing", (off.status, off.output) == (0, bare.output), off.errors, off.output)
        for a, b in ((one, bare), (other, bare), (one, other)):
            same = [name for name, value in lines_of(a).items() if lines_of(b).get(name) == value]
            t.equal(f"{optimizer}: forward, gradients and parameters differ", (a.status, same), (0, []), a.errors)


def test_exact(t: Harness) -> None:
    for name, code in (("torch", EXACT_TORCH), ("numpy", EXACT_NUMPY)):
        if not t.has(name):
            continue
        bare, run = lines_of(t.bare(code)), noisy(t, code, "noise=rr;noise_seed=3")
        changed = [key for key, value in lines_of(run).items() if bare.get(key) != value]
        t.check(f"{name}: the list is not empty", len(bare) > 40, bare)
        t.equal(f"{name}: exact operations are not perturbed", (run.status, changed, len(bare) - len(lines_of(run))), (0, [], 0), run.errors)


def test_rounding(t: Harness) -> None:
    for name, code, stays in (("torch", ROUNDING_TORCH, []), ("numpy", ROUNDING_NUMPY, ["untouched", "x", "y"]),
                              ("scipy", ROUNDING_SCIPY, ["x", "transposed", "y"])):
        if not t.has(name):
            continue
        bare = lines_of(t.bare(code))
        for mode in ("rr", "rr:12", "sr:7") if name != "scipy" else ("rr",):
            run = noisy(t, code, f"noise={mode};noise_seed=3")
            same = [key for key, value in lines_of(run).items() if bare.get(key) == value]
            t.equal(f"{name}: what rounds is perturbed, by {mode}", (run.status, same), (0, stays), run.errors)


def test_threads(t: Harness) -> None:
    one = noisy(t, THREADS, "noise=rr;noise_seed=4", "1", env={"OMP_NUM_THREADS": "1"})
    four = noisy(t, THREADS, "noise=rr;noise_seed=4", "4", env={"OMP_NUM_THREADS": "4"})
    t.equal("the number of threads does not matter", (one.status, one.output), (four.status, four.output), one.errors)
    t.equal("loaders with workers: the same each time", *(noisy(t, LOADER, "noise=rr;noise_seed=5").output for _ in range(2)))


def test_accuracy(t: Harness) -> None:
    bare, run = float(t.bare(ACCURACY).output), noisy(t, ACCURACY, "noise=rr;noise_seed=6")
    t.check("a network learns the same", abs(float(run.output or 0) - bare) < 0.02 and bare > 0.9, bare, run.output, run.errors)


def test_odd(t: Harness) -> None:
    bare = t.bare(ODD)
    for mode in ("rr", "pb", "mca", "cancellation", "sr:20"):
        run = noisy(t, ODD, f"noise={mode};noise_seed=7")
        t.equal(f"odd arrays, by {mode}", (run.status, run.output), (0, bare.output), run.errors)


def test_places(t: Harness) -> None:
    bare = t.bare(LINES).output.splitlines()
    for lines, changed in (("noise_only={}:4", [0]), ("noise_skip={}:4", [1, 2]), ("noise_only=torch.sin", [2]),
                           ("noise_skip=torch.Tensor.*", [2]), ("noise_skip=*", [])):
        run = noisy(t, LINES, "noise=rr;noise_seed=8;" + lines.format(os.path.basename(script(t, LINES))))
        found = [i for i, line in enumerate(run.output.splitlines()) if line != bare[i]]
        t.equal(f"{lines.partition('=')[0]} {lines.rpartition(':')[2]}", (run.status, found), (0, changed), run.errors)


def test_backward(t: Harness) -> None:
    code = TRAIN.replace("OPTIMIZER", "SGD")
    bare, run = lines_of(t.bare(code)), noisy(t, code, "noise=rr;noise_seed=9;noise_only=torch.autograd.*")
    settings = {event["key"]: event for event in run.of("setting")}
    if "backward" in str(settings.get("not_measured", "")):
        print("# no shim: backward is not perturbed, and the trace says so")
        return
    found = lines_of(run)
    t.equal("backward alone", [name for name in bare if found.get(name) != bare[name]], ["gradients", "parameters"], run.errors)
    gradients = zip(bare["gradients"].split(), found["gradients"].split())
    t.check("in every parameter's gradient", all(a != b for a, b in gradients), found)
    twice = noisy(t, TWICE, "noise=rr;noise_seed=9")
    t.equal("a backward in Python is perturbed once", twice.output.split(), ["1", "True"], twice.errors)


def test_inputs(t: Harness) -> None:
    bare = t.bare(INPUTS).output.split()
    for mode in ("pb", "mca"):
        run = noisy(t, INPUTS, f"noise={mode};noise_seed=10")
        t.equal(f"{mode}: originals, versions and running statistics stay", run.output.split()[:5], ["True"] * 5, run.errors)
        t.check(f"{mode}: results differ", run.output.split()[5:] != bare[5:])


def test_samples(t: Harness) -> None:
    code = "import numpy as np\nx = np.arange(1.0, 2001.0) / 7\ny = np.sqrt(x)\nz = np.arange(5) + 1\nprint(y.tobytes().hex())\n"
    run = noisy(t, code, "noise=rr;noise_seed=11;elements=16")
    y = bytes.fromhex(run.output.strip())
    root = [event["seq"] for event in run.events if event["kind"] == "call_begin" and event["fields"]["callee"] == "sqrt"][0]
    results = [event["seq"] for event in run.events if event["kind"] == "tensor" and event["fields"]["call"] == root
               and event["fields"]["position"] == -1]
    samples = [event for event in run.of("sample") if event["tensor"] in results]
    wanted = b"".join(y[8 * place:8 * place + 8] for place in ((2 * j + 1) * 2000 // 32 for j in range(16)))
    t.equal("elements at fixed places", [(event["elements"], event["first"], event["values"]) for event in samples],
            [(16, 0, wanted.hex())])
    sketches = [struct.unpack("<64d", bytes.fromhex(event["values"])) for event in run.of("sketch") if event["tensor"] in results]
    t.equal("and a sketch of all", (len(sketches), sketches and sketches[0] == sketch(y)), (1, True))
    integers = [event["seq"] for event in run.events if event["kind"] == "tensor" and event["fields"]["dtype"] == "i64"]
    t.equal("integers are not sampled", [event for event in run.of("sample", "sketch") if event["tensor"] in integers], [])
    t.equal("nothing is sampled unless it is wanted", noisy(t, code, "noise=rr;noise_seed=11").of("sample", "sketch"), [])


def test_sampled_before(t: Harness) -> None:
    code = ("import numpy as np\nx = np.arange(1.0, 2001.0) / 7\ny = np.sqrt(x)\nfor i in range(3):\n    z = np.multiply(y, y)\n"
            "print(len(y))\n")
    run = noisy(t, code, "noise=rr;noise_seed=11;elements=16")
    values = [event for event in run.events if event["kind"] == "tensor" and event["fields"]["dtype"] == "f64"]
    sampled = {event["tensor"] for event in run.of("sample")}
    kept: dict[int, str] = {}  # as docs/events.md says: by the hash modulo 128, the last one
    wrong = []
    for event in values:
        fields = event["fields"]
        is_known = bool(fields.get("flags", 0) & SAMPLED)
        if is_known == (event["seq"] in sampled) or is_known != (kept.get(int(fields["hash"], 16) % 128) == fields["hash"]):
            wrong.append(fields)
        kept[int(fields["hash"], 16) % 128] = fields["hash"]
    t.equal("what was sampled before refers to it", (len(values) > 9, wrong), (True, []))


def test_stopped(t: Harness) -> None:
    bare, run = t.bare("import sys, types\nsys.modules['wheeltap'] = types.SimpleNamespace(stop=int, start=int)\n" + STOPPED), noisy(t, STOPPED, "noise=rr;noise_seed=12")
    same = [a == b for a, b in zip(bare.output.splitlines(), run.output.splitlines())]
    t.equal("nothing is perturbed while recording is stopped", (run.status, same), (0, [True, False]), run.errors)


def sketch(data: bytes) -> tuple[float, ...]:
    """As src/digest/sample.h defines it, with exact sums."""
    from fractions import Fraction

    sums = [Fraction(0)] * 64
    for i, x in enumerate(struct.unpack(f"<{len(data) // 8}d", data)):
        mask = (1 << 64) - 1
        signs = (i // 64 + 0x9E3779B97F4A7C15) & mask
        signs = (signs ^ signs >> 30) * 0xBF58476D1CE4E5B9 & mask
        signs = (signs ^ signs >> 27) * 0x94D049BB133111EB & mask
        signs ^= signs >> 31
        sums[i % 64] += Fraction(-x if signs >> i % 64 & 1 else x)
    return tuple(float(each) for each in sums)


if __name__ == "__main__":
    main(test_seeds, test_exact, test_rounding, test_threads, test_accuracy, test_odd, test_places, test_backward, test_inputs, test_samples, test_sampled_before,
         test_stopped, require=("numpy", "torch"))
