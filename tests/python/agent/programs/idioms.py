# SPDX-License-Identifier: Apache-2.0
"""What people do with torch. Each function prints something that depends on all that it did."""
import copy, functools, io, math, os, pickle, sys, threading, warnings
warnings.simplefilter("ignore")
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, Dataset
torch.manual_seed(3)
x = torch.randn(6, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

def show(name, *values):
    print(name, *[v.detach().double().sum().item().hex() if isinstance(v, torch.Tensor) else v for v in values])

def forward_hook():
    seen = []
    handle = model[0].register_forward_hook(lambda m, i, o: seen.append(o.shape))
    model(x); handle.remove(); model(x)
    show("forward hook", seen)

def backward_hook():
    seen = []
    handle = model[0].weight.register_hook(lambda g: seen.append(g.sum().item()))
    model(x).sum().backward(); handle.remove(); model.zero_grad()
    show("backward hook", seen)

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g

def custom_function():
    a = x.clone().requires_grad_()
    Square.apply(a).sum().backward()
    show("custom function", a.grad)

@torch.jit.script
def scripted(a, b: float):
    return F.relu(torch.add(a, b)) * 2

def jit_script():
    show("jit script", scripted(x, 0.5), torch.jit.script(nn.Linear(4, 2).eval()) is not None)

def jit_script_module():
    class M(nn.Module):
        def __init__(self):
            super().__init__(); self.l = nn.Linear(4, 3)
        def forward(self, a):
            return F.softmax(self.l(a), dim=1).sum()
    show("jit module", torch.jit.script(M())(x))

def jit_trace():
    show("jit trace", torch.jit.trace(model, x)(x))

def fx():
    import torch.fx
    graph = torch.fx.symbolic_trace(model)
    show("fx", graph(x), [node.op for node in graph.graph.nodes], graph.code.count("return"))

def fx_functions():
    import torch.fx
    class M(nn.Module):
        def forward(self, a): return torch.relu(a) + F.gelu(a)
    graph = torch.fx.symbolic_trace(M())
    show("fx functions", graph(x), [n.target.__name__ for n in graph.graph.nodes if n.op == "call_function"])

def deep_copy():
    other = copy.deepcopy(model)
    with torch.no_grad():
        other[0].weight.add_(1)
    show("deepcopy", model(x), other(x))

def pickled():
    show("pickle", pickle.loads(pickle.dumps(model))(x), pickle.loads(pickle.dumps(torch.add)) is torch.add,
         pickle.loads(pickle.dumps(F.relu)) is F.relu, pickle.loads(pickle.dumps(torch.manual_seed)) is torch.manual_seed)

def save_load():
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer); buffer.seek(0)
    other = copy.deepcopy(model); other.load_state_dict(torch.load(buffer))
    show("save and load", other(x))

class Numbers(Dataset):
    def __len__(self): return 7
    def __getitem__(self, i): return torch.full((2,), float(i))

def loader():
    show("loader", *[batch for batch in DataLoader(Numbers(), batch_size=3)])

def loader_workers():
    show("workers", *[batch for batch in DataLoader(Numbers(), batch_size=2, num_workers=2)])

def autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = model(x)
    show("autocast", y, y.dtype)

def checkpoint():
    from torch.utils.checkpoint import checkpoint as run
    a = x.clone().requires_grad_()
    run(model, a).sum().backward(); model.zero_grad()
    show("checkpoint", a.grad)

def parametrized():
    layer = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4))
    show("parametrization", (layer.weight @ layer.weight.t()).diagonal().sum().round())

def spectral_norm():
    torch.manual_seed(0)
    show("spectral norm", nn.utils.spectral_norm(nn.Linear(4, 4))(x))

class Tagged(torch.Tensor):
    calls = 0
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Tagged.calls += 1
        return super().__torch_function__(func, types, args, kwargs or {})

def torch_function():
    t = x.as_subclass(Tagged)
    y = torch.add(t, 1).mul(2) + t
    show("torch function", y.as_subclass(torch.Tensor), Tagged.calls, type(y).__name__)

def vmap():
    import functorch
    show("vmap", functorch.vmap(torch.dot)(x, x), functorch.grad(lambda a: (a ** 2).sum())(x))

def double_backward():
    a = torch.tensor([2.0], requires_grad=True)
    g, = torch.autograd.grad(a ** 3, a, create_graph=True)
    show("double backward", *torch.autograd.grad(g, a))

def in_place():
    a = x.clone(); a += 1; a[0] = 5; a[:, 1].mul_(2); a.clamp_(max=4)
    show("in place", a)

def indexing():
    show("indexing", x[1:3, ::2], x[x > 0], x[[0, 2]], x[..., None].shape)

def gradient_accumulation():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    for part in x.chunk(3):
        (model(part).sum() / 3).backward()
    optimizer.step(); show("accumulation", model[0].weight.grad); optimizer.zero_grad()

def lbfgs():
    a = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([a], max_iter=5)
    def closure():
        optimizer.zero_grad(); loss = ((a - 3) ** 2).sum(); loss.backward(); return loss
    optimizer.step(closure); show("closure", a)

def optimizer_subclass():
    class Mine(torch.optim.Optimizer):
        def __init__(self, params): super().__init__(params, {"lr": 0.1})
        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])
    a = torch.ones(3, requires_grad=True); (a ** 2).sum().backward(); Mine([a]).step(); show("own optimizer", a)

def optimizer_state():
    optimizer = torch.optim.Adam(model.parameters()); model(x).sum().backward(); optimizer.step()
    state = copy.deepcopy(optimizer.state_dict()); optimizer.load_state_dict(state)
    show("optimizer state", len(state["state"]), *[s["exp_avg"] for s in state["state"].values()]); model.zero_grad()

def scheduler():
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
    rates = []
    for _ in range(4):
        optimizer.step(); schedule.step(); rates.append(schedule.get_last_lr()[0].hex())
    show("scheduler", rates)

def ema():
    average = torch.optim.swa_utils.AveragedModel(model); average.update_parameters(model); show("ema", average(x))

def no_grad_decorator():
    @torch.no_grad()
    def f(a): return a * 2
    show("no_grad", f(x.requires_grad_(True)).requires_grad, torch.is_grad_enabled()); x.requires_grad_(False)

def state_dict_hooks():
    layer = nn.Linear(2, 2); layer._register_state_dict_hook(lambda m, s, p, l: (s.pop("bias"), s)[1])
    show("state dict hook", sorted(layer.state_dict()))

def identity():
    from torch import add, relu
    table = {torch.add: 1, F.relu: 2, torch.Tensor.add: 3}
    show("identity", add is torch.add, table[add], table[F.relu], table[torch.Tensor.add], torch.Tensor.add.__name__,
         torch.overrides.is_tensor_method_or_property(torch.Tensor.add), callable(torch.nn.Module.__call__))

def bound():
    f = x.add; g = functools.partial(x.sum, dim=1)
    show("bound", f(1), g(), *map(x.mul, (1, 2)))

def errors():
    for wrong in (lambda: torch.mm(x, x), lambda: x.add(), lambda: x.view(5), lambda: model("x"), lambda: x[99]):
        try:
            wrong()
        except Exception as error:
            show("error", type(error).__name__, str(error).splitlines()[0][:60])

def anomaly():
    with torch.autograd.detect_anomaly():
        try:
            a = torch.zeros(1, requires_grad=True); (a / 0 * 0).sum().sqrt().backward()
        except RuntimeError as error:
            show("anomaly", "nan" in str(error))

def distributed():
    import torch.distributed as dist
    if not dist.is_available():
        return show("distributed", "none")
    dist.init_process_group("gloo", init_method="file://" + os.path.join(os.getcwd(), f"group{os.getpid()}"), rank=0, world_size=1)
    wrapped = nn.parallel.DistributedDataParallel(copy.deepcopy(model)); wrapped(x).sum().backward()
    show("distributed", wrapped.module[0].weight.grad); dist.destroy_process_group()

def threads():
    out = [None] * 3
    def run(i): out[i] = (x + i).sum().item()
    ts = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    for t in ts: t.start()
    for t in ts: t.join()
    show("threads", out)

idioms = [value for name, value in list(globals().items())
          if type(value).__name__ == "function" and value.__module__ == "__main__" and name not in ("show", "scripted")]
for idiom in idioms:
    try:
        idiom()
    except Exception as error:
        print(idiom.__name__, "failed", type(error).__name__, str(error)[:200])
print(len(idioms), "idioms")
