# SPDX-License-Identifier: Apache-2.0
"""Tools that look at a program, as we do: profilers, tracers, inspection, warnings, tracebacks. Each prints what it saw."""
import cProfile, collections, copy, dis, functools, gc, inspect, io, logging, os, pickle, pstats, sys, threading, time, traceback
import types, unittest.mock, warnings
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(3)
x = torch.randn(6, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

def show(name, *values):
    print(name, *[v.detach().double().sum().item().hex() if isinstance(v, torch.Tensor) else v for v in values])

def work():
    y = torch.add(x, 1).mul(2); y = F.relu(y) + torch.relu(y); y += 1
    return model(y).softmax(dim=1).sum(dim=0, keepdim=True)

def short(path):
    return os.path.basename(path)

def profiled_by_c():
    work(); profile = cProfile.Profile(); profile.enable(); work(); profile.disable()
    stats = pstats.Stats(profile, stream=io.StringIO()).stats
    show("cProfile", sorted((short(f), line, name, calls[0], calls[1]) for (f, line, name), calls in stats.items()))

def set_profile():
    seen = []
    def watch(frame, event, argument):
        name = getattr(argument, "__qualname__", None) if event.startswith("c_") else frame.f_code.co_name
        seen.append((event, name, short(frame.f_code.co_filename), frame.f_lineno))
    sys.setprofile(watch)
    try: work()
    finally: sys.setprofile(None)
    show("setprofile", seen)

def set_trace():
    seen = []
    def watch(frame, event, argument):
        seen.append((event, frame.f_code.co_name, frame.f_lineno)); return watch
    old = sys.gettrace(); sys.settrace(watch)
    try: work()
    finally: sys.settrace(old)
    show("settrace", len(seen), seen[:60])

def monitored():
    if not hasattr(sys, "monitoring"): return show("monitoring", "none")
    m, seen = sys.monitoring, collections.Counter()
    m.use_tool_id(4, "test")
    m.register_callback(4, m.events.CALL, lambda code, offset, f, a: seen.update([getattr(f, "__qualname__", str(type(f)))]))
    m.register_callback(4, m.events.PY_START, lambda code, offset: seen.update(["start " + code.co_qualname]))
    m.set_events(4, m.events.CALL | m.events.PY_START); work(); m.set_events(4, 0); m.free_tool_id(4); show("monitoring", sorted(seen.items()))

def torch_profiler():
    from torch.profiler import ProfilerActivity, profile, record_function
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as told:
        with record_function("mine"): work()
    show("torch profiler", sorted((e.key, e.count) for e in told.key_averages()))

def benchmark():
    from torch.utils import benchmark as b
    show("benchmark", b.Timer("x.add(1)", globals={"x": x}).timeit(10).number_per_run)

def frames_seen():
    seen = []
    class Look(nn.Module):
        def forward(self, a):
            seen.append([(f.function, short(f.filename), f.lineno) for f in inspect.stack()]); return a
    Look()(x); seen.append([f.name for f in traceback.extract_stack()]); show("frames", seen)

def tracebacks():
    def shown(f):
        try: f()
        except Exception as error:
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            return [line for line in "".join(lines).splitlines() if "C++" not in line]
    class Bad(nn.Module):
        def forward(self, a): return torch.mm(a, a)
    class Worse(nn.Module):
        def forward(self, a):
            try: return Bad()(a)
            except RuntimeError as error: raise ValueError("worse") from error
    show("traceback", shown(lambda: Bad()(x))); show("chained", shown(lambda: Worse()(x))); show("argument", shown(lambda: torch.add("a")))
    show("keyword", shown(lambda: F.relu(x, no_such=1))); show("method", shown(lambda: x.view(7))); show("bound", shown(lambda: (x.mul)()))

def deep():
    def fall(n): return torch.add(x, fall(n + 1)) if n < 10 ** 6 else 0
    class Deep(nn.Module):
        def forward(self, a, n): depths.append(n); return self(a, n + 1)
    depths, old = [], sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    for name, f in (("functions", lambda: fall(0)), ("modules", lambda: Deep()(x, 0))):
        try: f()
        except RecursionError as error: show("recursion", name, str(error)[:60], depths[-1:] )
    sys.setrecursionlimit(old)

def warned():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        F.softmax(x); nn.Softmax()(x); F.mse_loss(torch.ones(2), torch.ones(2, 1)); torch.range(0, 2); nn.Tanh()(x)
        warnings.warn("mine", stacklevel=2); torch.nn.functional.tanh(x)
    show("warnings", [(str(w.message)[:60], short(w.filename), w.lineno, w.category.__name__) for w in caught])

def inspected():
    for f in (F.relu, torch.manual_seed, nn.Module.__call__, torch.optim.SGD.step, torch.save, nn.Linear.forward):
        show("inspected", f.__name__, f.__qualname__, f.__module__, str(inspect.signature(f))[:120], inspect.isfunction(f), len(inspect.getsource(f)),
             f.__code__.co_name, len(list(dis.get_instructions(f))), f.__closure__ is None, sorted(f.__annotations__)[:3], bool(f.__doc__), callable(f),
             f == f, hash(f) == hash(f), f.__get__(x).__func__ is f, repr(f).split(" at ")[0], isinstance(f, types.FunctionType), f.__class__ is types.FunctionType)
    for f in (torch.add, torch.Tensor.add, x.add, torch._C._nn.gelu, torch.relu_):
        show("inspected", f.__name__, repr(f).split(" at ")[0][:40], type(f).__name__, inspect.isbuiltin(f), inspect.ismethoddescriptor(f), inspect.isroutine(f),
             bool(f.__doc__), getattr(f, "__self__", None) is x, f == f, getattr(f, "__text_signature__", None))
    show("members", len(dir(torch.Tensor)), len(vars(torch)), inspect.ismethod(x.backward), [k for k in vars(nn.Module) if "wheeltap" in k])

def copied():
    show("copied", copy.copy(F.relu) is F.relu, copy.deepcopy(F.relu) is F.relu, pickle.loads(pickle.dumps([F.relu, torch.add, nn.Module.__call__,
         torch.Tensor.backward, nn.Linear, torch.Tensor.add_]))[2] is nn.Module.__call__, len(pickle.dumps(F.relu)), functools.partial(F.relu, inplace=False)(x))

def mocked():
    with unittest.mock.patch.object(F, "relu", wraps=F.relu) as fake: F.relu(x); show("mocked", fake.call_count, fake.call_args[0][0] is x)
    with unittest.mock.patch("torch.add") as fake: torch.add(x, 1); show("mocked", fake.call_count)
    show("mocked", torch.add(x, 1), F.relu(x))

def replaced():
    old = F.relu; F.relu = lambda a, inplace=False: old(a) * 2
    try: show("replaced", F.relu(x), nn.ReLU()(x))
    finally: F.relu = old
    old = nn.Linear.forward; nn.Linear.forward = lambda self, a: old(self, a) + 1
    try: show("replaced", model(x))
    finally: nn.Linear.forward = old
    old = nn.Module.__call__; nn.Module.__call__ = lambda self, *a, **k: old(self, *a, **k)
    try: show("replaced", model(x))
    finally: nn.Module.__call__ = old
    show("replaced", model(x))

def changed_code():
    def f(a): return a + 1
    def g(a): return a + 2
    keep = F.silu.__code__, F.silu.__defaults__
    F.silu.__defaults__ = (True,); y = x.clone(); F.silu(y); show("defaults", y); F.silu.__defaults__ = keep[1]
    F.silu.mark = 3; show("attribute", F.silu.mark, F.silu.__dict__); del F.silu.mark

def collected():
    gc.collect(); before = len(gc.get_objects()); [work() for _ in range(50)]; gc.collect(); after = len(gc.get_objects())
    show("collected", abs(after - before) < 50, gc.garbage, gc.isenabled(), gc.get_threshold())
    gc.freeze(); frozen = gc.get_freeze_count() > 0; gc.unfreeze(); show("frozen", frozen, work())

def logged():
    stream = io.StringIO(); handler = logging.StreamHandler(stream); handler.setFormatter(logging.Formatter("%(funcName)s %(lineno)d %(message)s"))
    log = logging.getLogger("mine"); log.addHandler(handler); log.propagate = False
    class M(nn.Module):
        def forward(self, a): log.warning("here"); return a
    M()(x); show("logged", stream.getvalue(), list(logging.root.manager.loggerDict)[:0])

def generators():
    def numbers():
        for i in range(3): yield torch.add(x, i).sum()
    async def later(): return torch.relu(x)
    import asyncio
    show("generators", *numbers(), asyncio.run(later()), *map(torch.neg, [x, x]), functools.reduce(torch.add, [x, x, x]), sorted([x[0, 0], x[0, 1]])[0])

def stopped_threads():
    box = []
    def loop():
        try:
            while True: torch.add(x, 1); begun.set()
        except SystemExit: box.append("stopped")
    import ctypes
    begun = threading.Event(); t = threading.Thread(target=loop); t.start(); begun.wait(); time.sleep(0.05)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(t.ident), ctypes.py_object(SystemExit)); t.join(20); show("async exception", box, t.is_alive())

tools = [profiled_by_c, set_profile, set_trace, monitored, torch_profiler, benchmark, frames_seen, tracebacks, deep, warned, inspected, copied, mocked,
         replaced, changed_code, collected, logged, generators, stopped_threads]
for tool in tools:
    try:
        tool()
    except Exception as error:
        print(tool.__name__, "failed", type(error).__name__, str(error)[:200])
print(len(tools), "tools")
