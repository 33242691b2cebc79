# SPDX-License-Identifier: Apache-2.0
"""Torch turned inside out: transforms, subclasses, modes, graphs, wrappers. Each function prints what it computed."""
import copy, gc, io, os, pickle, sys, threading, warnings, weakref
warnings.simplefilter("ignore")
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
torch.manual_seed(3)
x = torch.randn(6, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
MODERN = hasattr(torch, "func")

def show(name, *values):
    print(name, *[v.detach().double().sum().item().hex() if isinstance(v, torch.Tensor) else v for v in values])

def transforms():
    return torch.func if MODERN else __import__("functorch")

def vmap_of_grad():
    f = transforms(); show("vmap of grad", f.vmap(f.grad(lambda a: (a.sin() ** 2).sum()))(x))

def vmap_random():
    f = transforms(); torch.manual_seed(1)
    show("vmap random", f.vmap(lambda a: a + torch.rand(4), randomness="different")(x))

def jacobians():
    f = transforms(); g = lambda a: torch.tanh(a) @ torch.ones(4, 3)
    show("jacobians", f.jacrev(g)(x[0]), f.jacfwd(g)(x[0]), f.jacrev(f.jacrev(lambda a: a.pow(3).sum()))(x[0]))

def forward_mode():
    import torch.autograd.forward_ad as forward
    with forward.dual_level():
        show("forward mode", forward.unpack_dual(model(forward.make_dual(x, torch.ones_like(x)))).tangent)

def functional_call():
    weights = {name: p * 2 for name, p in model.named_parameters()}
    call = torch.func.functional_call if MODERN else torch.nn.utils.stateless.functional_call
    show("functional call", call(model, weights, (x,)))

def ensemble():
    if not MODERN: return show("ensemble", "none")
    models = [copy.deepcopy(model) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(models)
    run = lambda p, b, a: torch.func.functional_call(model, (p, b), (a,))
    show("ensemble", torch.func.vmap(run, in_dims=(0, 0, None))(parameters, buffers, x))

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a); ctx.mark_non_differentiable(); return a ** 3
    @staticmethod
    def backward(ctx, g):
        a, = ctx.saved_tensors; return 3 * a ** 2 * g

def function_twice():
    a = x[0].double().clone().requires_grad_()
    g, = torch.autograd.grad(Cube.apply(a).sum(), a, create_graph=True); g.sum().backward()
    show("function twice", a.grad, torch.autograd.gradgradcheck(Cube.apply, (a,)), torch.autograd.gradcheck(Cube.apply, (a,)))

def own_parametrization():
    from torch.nn.utils import parametrize
    class Symmetric(nn.Module):
        def forward(self, w): return w.triu() + w.triu(1).t()
    layer = nn.Linear(4, 4); parametrize.register_parametrization(layer, "weight", Symmetric())
    out = layer(x); out.sum().backward(); parametrize.remove_parametrizations(layer, "weight")
    show("own parametrization", out, type(layer).__name__, list(dict(layer.named_parameters())))

def weight_norm():
    layer = nn.utils.weight_norm(nn.Linear(4, 4)); out = layer(x); nn.utils.remove_weight_norm(layer)
    show("weight norm", out, layer(x))

def pruned():
    import torch.nn.utils.prune as prune
    layer = nn.Linear(4, 4); prune.l1_unstructured(layer, "weight", 0.5); show("pruned", layer(x), (layer.weight == 0).sum().item())

def packed():
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
    lstm = nn.LSTM(4, 5, batch_first=True, bidirectional=True)
    padded = pad_sequence([x[:3], x[:2], x[:1]], batch_first=True)
    out, _ = lstm(pack_padded_sequence(padded, [3, 2, 1], batch_first=True)); out, lengths = pad_packed_sequence(out, batch_first=True)
    out.sum().backward(); show("packed", out, lengths.tolist(), lstm.weight_hh_l0.grad)

def own_operator():
    library = torch.library.Library("wheeltap_test", "DEF")
    library.define("twice(Tensor a) -> Tensor"); library.impl("twice", lambda a: a * 2, "CPU")
    show("own operator", torch.ops.wheeltap_test.twice(x), str(torch.ops.wheeltap_test.twice.default))

def own_operator_modern():
    if not hasattr(torch.library, "custom_op"): return show("custom_op", "none")
    @torch.library.custom_op("wheeltap_test::thrice", mutates_args=())
    def thrice(a: torch.Tensor) -> torch.Tensor: return a * 3
    thrice.register_fake(lambda a: torch.empty_like(a))
    thrice.register_autograd(lambda ctx, g: g * 3)
    a = x.clone().requires_grad_(); thrice(a).sum().backward(); show("custom_op", a.grad)

class Logged(torch.Tensor):
    seen = []
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=inner.device)
        made.held = inner
        return made
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(str(func))
        open_ = lambda a: a.held if isinstance(a, Logged) else a
        out = func(*[open_(a) for a in args], **{k: open_(v) for k, v in (kwargs or {}).items()})
        return Logged(out) if isinstance(out, torch.Tensor) else out

def dispatching_subclass():
    a = Logged(x); b = (a + 1).mul(2); c = torch.relu(b).sum(); show("dispatch subclass", c.held, Logged.seen, tuple(b.shape))

class Sized(Logged):
    asked = 0
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=inner.device,
                                                   dispatch_sizes_strides_policy="sizes")
        made.held = inner
        return made
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Sized.asked += 1
        return func(*[a.__dict__.get("held", x) if isinstance(a, Sized) else a for a in args], **(kwargs or {}))

def sized_subclass():
    a = Sized(x); out = torch.relu(a); show("sized subclass", out, Sized.asked)

def dispatch_mode():
    from torch.utils._python_dispatch import TorchDispatchMode
    seen = []
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func)); return func(*args, **(kwargs or {}))
    with Mode():
        y = model(x).relu().sum()
    show("dispatch mode", y, seen)

def function_mode():
    from torch.overrides import TorchFunctionMode
    seen = []
    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(getattr(func, "__name__", "?")); return func(*args, **(kwargs or {}))
    with Mode():
        y = model(x).relu().sum(); y.shape; y.device
    show("function mode", y, seen)

class Unit(torch.Tensor):
    asked = []
    @property
    def requires_grad(self): Unit.asked.append("requires_grad"); return super().requires_grad
    @property
    def shape(self): Unit.asked.append("shape"); return super().shape
    def __repr__(self): Unit.asked.append("repr"); return "unit"
    def __getattribute__(self, name): Unit.asked.append(name); return super().__getattribute__(name)

def nosy_subclass():
    u = x.as_subclass(Unit); y = torch.add(u, 1); F.relu(u); u.mul(2); show("nosy subclass", Unit.asked)

class Lazy(nn.Module):
    def __init__(self): super().__init__(); self.asked = []; self.l = nn.Linear(4, 2)
    def __getattr__(self, name):
        if name not in ("l",) and "asked" in self.__dict__: self.asked.append(name)
        return super().__getattr__(name)
    def forward(self, a): return self.l(a)

def nosy_module():
    m = Lazy(); m(x); show("nosy module", sorted(set(m.asked)), len(m.asked) < 100)

def trace_and_save():
    traced = torch.jit.trace(lambda a, b: torch.where(a > 0, a, b).sum(1), (x, -x)); buffer = io.BytesIO()
    torch.jit.save(traced, buffer); buffer.seek(0)
    show("jit save", torch.jit.load(buffer)(x, x), str(traced.graph).count("aten::"), traced.code.count("torch."))

def traced_sizes():
    graph = str(torch.jit.trace(lambda a: a.view(a.size(0), -1) + a.shape[1], x).graph)
    show("traced sizes", graph.count("aten::size"), graph.count("aten::"))

def fx_transformer():
    import torch.fx
    class Swap(torch.fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.sigmoid if target is torch.relu else target, args, kwargs)
    class M(nn.Module):
        def forward(self, a): return torch.relu(a).sum(dim=1) + a[:, 0]
    graph = torch.fx.symbolic_trace(M()); show("fx transformer", Swap(graph).transform()(x), graph.code)

def fx_interpreter():
    import torch.fx
    seen = []
    class Watch(torch.fx.Interpreter):
        def run_node(self, node): seen.append(node.op); return super().run_node(node)
    show("fx interpreter", Watch(torch.fx.symbolic_trace(model)).run(x), seen)

def make_fx():
    from torch.fx.experimental.proxy_tensor import make_fx as make
    graph = make(lambda a: F.relu(a).add(1).sum())(x); show("make_fx", [str(n.target) for n in graph.graph.nodes], graph(x))

def saved_hooks():
    seen = []
    a = x.clone().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(tuple(t.shape)) or t, lambda t: t):
        (a * a).exp().sum().backward()
    show("saved tensor hooks", seen, a.grad)

def node_hooks():
    seen = []; a = x.clone().requires_grad_(); y = (a * 2).sum()
    y.grad_fn.register_hook(lambda i, o: seen.append((len(i), len(o)))); y.backward(); show("node hooks", seen, type(y.grad_fn).__name__)

def module_hooks():
    seen = []; layer = nn.Linear(4, 2)
    layer.register_full_backward_hook(lambda m, i, o: seen.append("back"))
    layer.register_forward_pre_hook(lambda m, i: seen.append("pre") or (i[0] * 2,))
    every = nn.modules.module.register_module_forward_hook(lambda m, i, o: seen.append(type(m).__name__))
    model(layer(x.clone().requires_grad_())[:, :1].expand(-1, 4)).sum().backward(); every.remove(); model.zero_grad()
    show("module hooks", seen, layer.weight.grad)

def checkpoint_sequential():
    from torch.utils.checkpoint import checkpoint_sequential as run
    torch.manual_seed(0); net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 4), nn.ReLU())
    a = x.clone().requires_grad_(); run(net, 2, a).sum().backward(); show("checkpoint sequential", a.grad)

def scaler():
    s = torch.cuda.amp.GradScaler(enabled=False); optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    s.scale(model(x).sum()).backward(); s.unscale_(optimizer); s.step(optimizer); s.update()
    show("scaler", model[0].weight.grad, s.get_scale()); model.zero_grad()

def autocast_nested():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = model(x)
        with torch.autocast("cpu", enabled=False):
            b = model(x)
    show("autocast nested", a, b, a.dtype, b.dtype)

def optimizer_pickled():
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01); model(x).sum().backward(); optimizer.step(); model.zero_grad()
    a, b = copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))
    show("optimizer pickled", len(a.state), len(b.state), *[s["exp_avg"] for s in b.state.values()], str(optimizer).count("lr"))

def optimizer_hooks():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0); seen = []
    if not hasattr(optimizer, "register_step_post_hook"): return show("optimizer hooks", "none")
    optimizer.register_step_pre_hook(lambda *a: seen.append("pre")); optimizer.register_step_post_hook(lambda *a: seen.append("post"))
    model(x).sum().backward(); optimizer.step(); model.zero_grad(); show("optimizer hooks", seen)

def averaging():
    from torch.optim.swa_utils import AveragedModel, SWALR, update_bn
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)); optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    average, schedule = AveragedModel(net), SWALR(optimizer, swa_lr=0.05)
    for _ in range(3):
        optimizer.zero_grad(); net(x).pow(2).sum().backward(); optimizer.step(); average.update_parameters(net); schedule.step()
    update_bn(DataLoader(TensorDataset(x), batch_size=3), average); show("averaging", average(x), optimizer.param_groups[0]["lr"].hex())

def quantized():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    try:
        small = torch.ao.quantization.quantize_dynamic(net, {nn.Linear}, dtype=torch.qint8); show("quantized", small(x))
    except RuntimeError as error:
        show("quantized", type(error).__name__)
    q = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8); show("quantized tensor", q.dequantize(), q.int_repr().sum().item())

def sparse():
    s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (6, 4)); w = s.clone().requires_grad_()
    torch.sparse.mm(w, x.t()).sum().backward()
    show("sparse", torch.sparse.mm(s, x.t()), s.coalesce().values(), x.to_sparse_csr().values(), w.grad.to_dense())
    table = nn.Embedding(10, 3, sparse=True); optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    table(torch.tensor([1, 2])).sum().backward(); optimizer.step(); show("sparse gradients", table.weight, table.weight.grad.is_sparse)

def odd_tensors():
    c = torch.randn(3, dtype=torch.complex64).conj()
    show("odd tensors", c.imag, torch.empty(0, 3).sum(), torch.ones((), dtype=torch.bool), torch.empty(2, device="meta").shape,
         torch._efficientzerotensor(3).sum(), torch.arange(6).view(2, 3).t()[::2], torch.ones(1).expand(5), x.storage().nbytes())

def lazy_modules():
    net = nn.Sequential(nn.LazyLinear(3), nn.ReLU()); net(x); show("lazy modules", type(net[0]).__name__, tuple(net[0].weight.shape))

def shared_weights():
    a, b = nn.Linear(4, 4), nn.Linear(4, 4); b.weight = a.weight; net = nn.Sequential(a, b)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1); net(x).sum().backward(); optimizer.step()
    show("shared weights", a.weight, a.weight is b.weight, len(list(net.parameters())))

def shared_memory():
    import torch.multiprocessing as processes
    t = torch.zeros(4); t.share_memory_()
    child = processes.get_context("fork").Process(target=t.fill_, args=(7.0,)); child.start(); child.join(); show("shared memory", t)

def queue():
    import torch.multiprocessing as processes
    processes.set_sharing_strategy("file_system"); context = processes.get_context("fork"); q = context.SimpleQueue()
    child = context.Process(target=lambda: q.put(torch.arange(5.0))); child.start(); got = q.get().clone(); child.join(); show("queue", got)

class Stream(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        return iter(torch.arange(float(info.id), 8.0, info.num_workers) if info else torch.arange(8.0))

def loaders():
    stream = DataLoader(Stream(), batch_size=2, num_workers=2, persistent_workers=True, prefetch_factor=2)
    show("loaders", *[sum(b.sum() for b in stream) for _ in range(3)])
    parts = random_split(TensorDataset(x, torch.arange(6)), [4, 2], generator=torch.Generator().manual_seed(1))
    show("split", *[b for a, b in DataLoader(parts[0], batch_size=2, shuffle=True, generator=torch.Generator().manual_seed(2))])
    del stream

def aliases():
    import numpy
    a = torch.zeros(4); n = a.numpy(); n[1] = 5; a.data[2] = 6; d = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(a)); d[3] = 7
    show("aliases", a, torch.from_numpy(numpy.arange(3.0)), torch.as_tensor(n) is not a, float(numpy.sum(a.numpy())))

def nothing_kept():
    class Thing(torch.Tensor): pass
    gc.disable(); t = torch.randn(3).as_subclass(Thing); ref = weakref.ref(t); y = torch.add(t, 1); F.relu(t); t.mul(2); del t
    m = nn.Linear(2, 2); optimizer = torch.optim.SGD(m.parameters(), lr=0.1); m(torch.ones(2)).sum().backward(); optimizer.step()
    alive = [weakref.ref(m.weight), weakref.ref(optimizer)]; del m, optimizer, y
    gc.collect(); gc.enable(); show("nothing kept", ref() is None, [r() is None for r in alive])

def reference_counts():
    a = torch.ones(3); before = sys.getrefcount(a); torch.add(a, a); a.mul(a); F.relu(a); torch.stack([a, a]); torch.cat((a, a), dim=0)
    try: torch.mm(a, a)
    except RuntimeError: pass
    show("reference counts", sys.getrefcount(a) - before, sys.getrefcount(None) > 100)

def static_graph():
    import torch.distributed as dist
    if not dist.is_available(): return show("static graph", "none")
    dist.init_process_group("gloo", init_method="file://" + os.path.join(os.getcwd(), f"static{os.getpid()}"), rank=0, world_size=1)
    wrapped = nn.parallel.DistributedDataParallel(copy.deepcopy(model), static_graph=True)
    for _ in range(3): wrapped.zero_grad(); wrapped(x).sum().backward()
    with wrapped.no_sync(): wrapped(x).sum().backward()
    t = torch.ones(2); dist.all_reduce(t); show("static graph", wrapped.module[0].weight.grad, t); dist.destroy_process_group()

def inference():
    with torch.inference_mode():
        a = model(x); b = a * 2
    try: b.requires_grad_(); (b * model(x)).sum().backward()
    except RuntimeError as error: show("inference", a, b.is_inference(), str(error)[:50])

def derivatives():
    import torch.autograd.functional as derive
    show("derivatives", derive.jacobian(torch.tanh, x[0]), derive.hessian(lambda a: (a ** 3).sum(), x[0]), derive.vjp(torch.exp, x[0], x[0])[1])

def deferred():
    a = torch.ones(3, requires_grad=True)
    def work(out): out.append(torch.autograd.grad((a ** 2).sum(), a)[0])
    out = []; ts = [threading.Thread(target=work, args=(out,)) for _ in range(4)]
    for t in ts: t.start()
    for t in ts: t.join()
    show("threads of autograd", *out)

idioms = [value for name, value in list(globals().items())
          if type(value).__name__ == "function" and value.__module__ == "__main__" and name not in ("show", "transforms")]
if __name__ == "__main__":
    for idiom in idioms:
        try:
            idiom()
        except Exception as error:
            print(idiom.__name__, "failed", type(error).__name__, str(error)[:200])
    print(len(idioms), "idioms")
