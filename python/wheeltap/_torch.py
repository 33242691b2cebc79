# SPDX-License-Identifier: Apache-2.0
"""What is hooked in torch, and what the extension asks of the Python side while a program runs."""

from __future__ import annotations

import copy
import os
import sys
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any, Iterator

from . import _generators, _overrides, _shim
from ._describe import Describer, probes
from ._objects import Objects
from ._saved import contents

if TYPE_CHECKING:
    from ._agent import Settings

# Methods that only say what a tensor is, called far too often to be worth a record.
METADATA = {"size", "dim", "ndimension", "stride", "numel", "nelement", "data_ptr", "element_size", "storage_offset",
            "get_device", "is_contiguous", "is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg",
            "is_inference", "is_same_size", "is_set_to", "is_coalesced", "dense_dim", "sparse_dim", "type", "storage",
            "storage_type", "has_names", "requires_grad_", "_version", "_is_view", "_typed_storage", "_storage",
            "__len__", "__bool__", "__index__", "__hash__", "__contains__", "_make_subclass", "is_grad_enabled",
            "is_inference_mode_enabled", "is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_cpu_dtype",
            "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_anomaly_enabled", "get_num_threads",
            "get_num_interop_threads", "get_default_dtype", "can_cast", "result_type", "promote_types", "typename",
            "is_deterministic", "is_nonzero", "is_vulkan_available", "is_storage", "is_tensor", "is_cuda", "is_pinned"}

# Functions of torch that set something for all that follows on a thread: the state is told under their name.
SETTERS = {"_set_grad_enabled": "grad_enabled", "set_autocast_enabled": "autocast_enabled",
           "set_autocast_cpu_enabled": "autocast_cpu_enabled"}

# And for the whole process, with the function that says what it is now.
PROCESS_SETTERS = {"_set_deterministic_algorithms": ("deterministic_algorithms", "_get_deterministic_algorithms"),
                   "_set_cudnn_benchmark": ("cudnn_benchmark", "_get_cudnn_benchmark"),
                   "_set_cudnn_deterministic": ("cudnn_deterministic", "_get_cudnn_deterministic"),
                   "_set_cudnn_allow_tf32": ("cudnn_allow_tf32", "_get_cudnn_allow_tf32"),
                   "_set_cublas_allow_tf32": ("cublas_allow_tf32", "_get_cublas_allow_tf32"),
                   "_set_float32_matmul_precision": ("float32_matmul_precision", "_get_float32_matmul_precision"),
                   "set_autocast_cpu_dtype": ("autocast_cpu_dtype", ""),
                   "set_autocast_gpu_dtype": ("autocast_gpu_dtype", ""),
                   "_set_default_dtype": ("default_dtype", "get_default_dtype"),
                   "set_flush_denormal": ("flush_denormal", ""),
                   "set_num_threads": ("num_threads", "get_num_threads"),
                   "set_num_interop_threads": ("num_interop_threads", "get_num_interop_threads")}

# What is sent between ranks.
COLLECTIVES = ("all_gather", "all_gather_coalesced", "all_gather_into_tensor", "_all_gather_base", "all_gather_object",
               "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv",
               "broadcast", "broadcast_object_list", "gather", "gather_object", "irecv", "isend", "monitored_barrier",
               "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "_reduce_scatter_base", "scatter",
               "scatter_object_list", "send")

# Python functions that the program itself calls. Others are seen by what they call.
FUNCTIONS = {"torch": ("manual_seed", "use_deterministic_algorithms", "set_default_dtype", "stack", "einsum", "norm"),
             "torch.nn.utils": ("clip_grad_norm_", "clip_grad_value_"),
             "torch.nn.functional": ("cross_entropy", "softmax", "log_softmax",
                                     "relu", "gelu", "dropout", "layer_norm", "batch_norm", "embedding",
                                     "max_pool2d", "binary_cross_entropy", "binary_cross_entropy_with_logits",
                                     "kl_div", "interpolate", "pad", "normalize")}


class Callbacks(Describer, Objects):
    """What the extension asks for, rarely: when a sort of tensor or an object is new, and at saving and loading."""

    def __init__(self, torch: ModuleType, core: ModuleType) -> None:
        Describer.__init__(self, torch)
        Objects.__init__(self, torch, core)

    def contents(self, told: tuple[int, int, Any]) -> None:
        """What is saved or has been loaded: (call, position, object)."""
        call, position, thing = told
        for path, value in contents(self.torch, thing):
            self.core.value(call, position, path, value)

    def graph_traced(self, nothing: object) -> None:
        """Said once: from here on some of what the program does happens in graphs, where we do not look."""
        self.core.own_line(1, "not_measured: calls within graphs (torch.compile, torch.fx, torch.export, torch.jit.trace)")

    def group_made(self, group: Any) -> None:
        """This process has become a rank: of the world, or of a smaller group."""
        distributed = self.torch.distributed
        local = int(os.environ.get("LOCAL_RANK", distributed.get_rank()))
        if group is None:
            self.core.rank(distributed.get_rank(), distributed.get_world_size(), local, "world")
            return
        ranks = sorted(distributed.distributed_c10d.get_process_group_ranks(group))
        if distributed.get_rank() in ranks:
            name = "ranks " + ",".join(str(rank) for rank in ranks)
            self.core.rank(ranks.index(distributed.get_rank()), len(ranks), local, name)

    def worker_begun(self, arguments: tuple[Any, ...]) -> None:
        """This process is a worker of a loader: which one, and what it is seeded with."""
        function: Any = self.torch.utils.data._utils.worker._worker_loop
        given = dict(zip(function.__code__.co_varnames, arguments))
        worker, seed = given.get("worker_id"), given.get("base_seed")
        if isinstance(worker, int) and isinstance(seed, int):
            self.core.state("worker", "id", worker)
            self.core.state("worker", "seed", seed + worker)


def _c_functions(torch: ModuleType) -> Iterator[tuple[Any, str, str]]:
    """Everything of torch that is written in C and does something: (callable, module, name)."""
    functions = torch._C._VariableFunctions
    for name in dir(functions):
        if not name.startswith("__"):
            yield getattr(functions, name), "torch", name
    for space, module in (("_nn", "torch.nn.functional"), ("_special", "torch.special"), ("_linalg", "torch.linalg"),
                          ("_fft", "torch.fft"), ("_sparse", "torch.sparse")):
        holder = getattr(torch._C, space, None)
        for name in dir(holder) if holder is not None else ():
            if not name.startswith("__"):
                yield getattr(holder, name), module, name
    for name, method in vars(torch._C._TensorBase).items():
        yield method, "torch", f"Tensor.{name}"


def _hook_c(torch: ModuleType, core: ModuleType, settings: Settings) -> None:
    kinds = (BuiltinFunctionType, MethodDescriptorType)
    for function, module, name in _c_functions(torch):
        short = name.rpartition(".")[2]
        wanted = settings.wants(module, name)
        if isinstance(function, kinds) and short not in METADATA and (wanted or settings.noise.is_on):
            core.hook(function, module, name, 0 if wanted else core.QUIET)


def _hook_functions(core: ModuleType, settings: Settings) -> None:
    for module, names in FUNCTIONS.items():
        holder = sys.modules.get(module)
        losses = [name for name in vars(holder or sys) if name.endswith("_loss") and module == "torch.nn.functional"]
        for name in (*names, *losses):
            function = getattr(holder, name, None)
            if isinstance(function, FunctionType) and settings.wants(module, name):
                core.hook(function, module, name)


def _hook_slots(torch: ModuleType, core: ModuleType, settings: Settings) -> None:
    """Indexing and attributes."""
    base: Any = torch._C._TensorBase
    if settings.wants("torch", "Tensor.__getitem__") or settings.wants("torch", "Tensor.__setitem__"):
        core.hook_index(base, "torch")
    for name in ("data", "grad"):
        if settings.wants("torch", f"Tensor.{name}"):
            core.hook_attribute(vars(base).get(name), "torch", f"Tensor.{name}")


class Framework:
    """What every level needs: objects of the run, their methods, losses, data, saving and loading, settings."""

    def __init__(self, torch: ModuleType, core: ModuleType) -> None:
        self.torch: Any = torch
        self.core: Any = core

    def hook(self, holder: Any, name: str, module: str, flags: int = 0, action: int = 0, callee: str = "") -> None:
        """Hooks a function or a method that the holder has, if it has it."""
        function = vars(holder).get(name) if holder is not None else None
        if isinstance(function, (FunctionType, BuiltinFunctionType, MethodDescriptorType)):
            shown = callee or (f"{holder.__name__}.{name}" if isinstance(holder, type) else name)
            self.core.hook(function, module, shown, self.core.ALWAYS | flags, action)

    def hook_all(self) -> None:
        self.modules()
        self.optimizers()
        self.schedulers_and_scalers()
        self.losses()
        self.data()
        self.ranks()
        self.settings()

    def modules(self) -> None:
        torch, core = self.torch, self.core
        module, quiet = torch.nn.Module, core.QUIET | core.MAKES
        self.hook(module, "__call__", "torch.nn", 0, core.MODULE)
        self.hook(module, "__init__", "torch.nn", quiet, core.MODULE_MADE)
        self.hook(module, "__setstate__", "torch.nn", quiet, core.MODULE_RESTORED)
        self.hook(module, "zero_grad", "torch.nn", core.ARGUMENTS, core.MODULE_CLEAR)
        self.hook(module, "state_dict", "torch.nn", 0, core.MODULE_METHOD)
        self.hook(module, "train", "torch.nn", core.ARGUMENTS, core.MODULE_METHOD)
        self.hook(module, "load_state_dict", "torch.nn", core.ARGUMENTS, core.MODULE_LOADED)
        self.hook(getattr(torch.optim.swa_utils, "AveragedModel", None), "update_parameters", "torch.optim.swa_utils", 0,
                  core.AVERAGE)
        self.hook(copy, "deepcopy", "copy", core.QUIET, core.COPY)

    def optimizers(self) -> None:
        core, kind = self.core, self.torch.optim.Optimizer
        self.hook(kind, "__init__", "torch.optim", core.QUIET | core.MAKES, core.MADE)
        self.hook(kind, "__setstate__", "torch.optim", core.QUIET | core.MAKES, core.MADE)
        self.hook(kind, "zero_grad", "torch.optim", core.ARGUMENTS, core.CLEAR)
        self.hook(kind, "state_dict", "torch.optim", 0, core.METHOD)
        self.hook(kind, "load_state_dict", "torch.optim", 0, core.OPTIMIZER_LOADED)
        self.hook(kind, "add_param_group", "torch.optim", 0, core.GROUP_ADDED)

    def schedulers_and_scalers(self) -> None:
        core = self.core
        for kind in dict.fromkeys(core.callbacks().schedulers):
            self.hook(kind, "__init__", "torch.optim.lr_scheduler", core.QUIET | core.MAKES, core.MADE)
            self.hook(kind, "step", "torch.optim.lr_scheduler", core.ARGUMENTS, core.SCHEDULE)
            self.hook(kind, "state_dict", "torch.optim.lr_scheduler", 0, core.METHOD)
            self.hook(kind, "load_state_dict", "torch.optim.lr_scheduler", 0, core.METHOD)
        for kind in dict.fromkeys(core.callbacks().scalers):
            self.hook(kind, "__init__", "torch.amp", core.QUIET | core.MAKES, core.MADE)
            for name in ("scale", "unscale_", "step", "update"):
                self.hook(kind, name, "torch.amp", 0, core.SCALE)

    def losses(self) -> None:
        torch, core = self.torch, self.core
        self.hook(torch.Tensor, "backward", "torch", core.ARGUMENTS, core.BACKWARD)
        self.hook(torch.autograd, "backward", "torch.autograd", core.ARGUMENTS, core.BACKWARD)
        self.hook(torch.autograd, "grad", "torch.autograd", core.ARGUMENTS)
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            self.hook(torch.nn.utils, name, "torch.nn.utils", core.ARGUMENTS)

    def data(self) -> None:
        torch, core = self.torch, self.core
        data = torch.utils.data
        self.hook(data.DataLoader, "__init__", "torch.utils.data", core.QUIET | core.MAKES, core.MADE)
        self.hook(data.DataLoader, "__iter__", "torch.utils.data", 0, core.EPOCH)
        self.hook(data.dataloader._BaseDataLoaderIter, "__next__", "torch.utils.data", 0, core.BATCH,
                  "DataLoader.__next__")
        for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
            self.hook(getattr(data._utils.fetch, name, None), "fetch", "torch.utils.data", 0, core.FETCH,
                      "DataLoader.fetch")
        self.hook(data._utils.worker, "_worker_loop", "torch.utils.data", 0, core.WORKER, "DataLoader.worker")
        self.hook(getattr(data, "DistributedSampler", None), "set_epoch", "torch.utils.data", core.ARGUMENTS, core.METHOD)
        self.hook(torch, "save", "torch", core.ARGUMENTS, core.SAVE)
        self.hook(torch, "load", "torch", core.ARGUMENTS, core.LOAD)
        _generators.hook(torch, core)

    def ranks(self) -> None:
        core, distributed = self.core, getattr(self.torch.distributed, "distributed_c10d", None)
        self.hook(distributed, "init_process_group", "torch.distributed", core.ARGUMENTS, core.GROUP)
        self.hook(distributed, "new_group", "torch.distributed", core.ARGUMENTS, core.GROUP)
        for name in COLLECTIVES:
            self.hook(distributed, name, "torch.distributed", core.SIZES)

    def settings(self) -> None:
        """The settings there are, and each change of them."""
        torch, core = self.torch, self.core
        core.set_modes(tuple(self.modes()))
        _shim.check_modes(torch, core)  # before anything is hooked: it changes modes for a moment
        for name, state in SETTERS.items():
            holder = torch._C if hasattr(torch._C, name) else torch
            self.hook(holder, name, "torch", core.QUIET, core.SETTER, state)
        for name, (state, ask) in PROCESS_SETTERS.items():
            holder = torch._C if hasattr(torch._C, name) else torch
            self.hook(holder, name, "torch", core.QUIET, core.SET, state)
            now = getattr(torch._C, ask, None) or getattr(torch, ask, None)
            if ask and now is not None:
                core.state("torch", state, now())
        for name in ("__enter__", "__exit__"):
            self.hook(torch.autograd.grad_mode.inference_mode, name, "torch", core.QUIET, core.MODES)

    def modes(self) -> Iterator[Any]:
        """Functions that say whether gradients, autocast and inference mode are on."""
        torch = self.torch
        anywhere = getattr(torch._C, "_is_any_autocast_enabled", None)
        yield torch.is_grad_enabled
        yield anywhere or torch.is_autocast_enabled
        yield torch.is_inference_mode_enabled
        if anywhere is None:
            yield torch.is_autocast_cpu_enabled


def _unmeasured(core: ModuleType, what: str) -> None:
    """A line where it happened, and a setting, which `info` and `doctor` read."""
    core.own_line(2, f"not_measured: {what}")
    core.settings({"not_measured": what})


def instrument(core: ModuleType, settings: Settings) -> None:
    """Hooks torch, which has just been imported."""
    torch: Any = sys.modules["torch"]
    callbacks = Callbacks(torch, core)
    core.set_torch(torch._C._TensorBase, torch.Tensor, torch.nn.Parameter, torch.nn.Module)
    core.set_callbacks(callbacks)
    probed: list[tuple[Any, ...]] = []
    try:
        probed = probes(torch)
        core.learn_layout(probed)
    except Exception:
        _unmeasured(core, "contents of tensors, as the layout of this torch is not known")
    try:
        _generators.learn(torch, core)
    except Exception:
        _unmeasured(core, "states of random generators, as the layout of this torch is not known")
    _shim.attach(torch, core, settings, probed)
    core.begin()
    Framework(torch, core).hook_all()
    _overrides.hook(torch, core)
    if settings.detail != "lean" or settings.noise.is_on:
        _hook_c(torch, core, settings)
    if settings.detail != "lean":
        _hook_functions(core, settings)
        _hook_slots(torch, core, settings)


def catch_up(core: ModuleType) -> None:
    """Finds what was made before we came, or while we were stopped."""
    callbacks = core.callbacks()
    if callbacks is not None:
        callbacks.walk()
