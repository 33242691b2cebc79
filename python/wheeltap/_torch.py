# SPDX-License-Identifier: Apache-2.0
"""What is hooked in torch, and what only torch itself can say about its objects."""

from __future__ import annotations

import os
import sys
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any, Iterator

from . import _shim

if TYPE_CHECKING:
    from ._agent import Settings

# The dtype names of schema/events.toml, by torch's.
DTYPES = {"bool": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "uint32": 6, "int32": 7, "uint64": 8, "int64": 9,
          "float16": 10, "bfloat16": 11, "float32": 12, "float64": 13, "complex64": 14, "complex128": 15,
          "float8_e4m3fn": 16, "float8_e5m2": 17}

# Dispatch keys of tensors whose elements lie in memory as they are. Any other key stands for something in between: a
# conjugate, a batch of vmap, a fake tensor of torch.compile, a subclass that dispatches by itself.
PLAIN_KEYS = {"CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU", "Named"}

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

# Functions of torch that set something for all that follows: the state is told under their name.
SETTERS = {"_set_grad_enabled": "grad_enabled", "set_autocast_enabled": "autocast_enabled",
           "set_autocast_cpu_enabled": "autocast_cpu_enabled",
           "_set_deterministic_algorithms": "deterministic_algorithms", "_set_cudnn_benchmark": "cudnn_benchmark",
           "_set_cudnn_deterministic": "cudnn_deterministic"}

# Python functions that the program itself calls. Others are seen by what they call.
FUNCTIONS = {"torch": ("manual_seed", "use_deterministic_algorithms", "set_default_dtype", "stack", "einsum", "norm"),
             "torch.nn.utils": ("clip_grad_norm_", "clip_grad_value_"),
             "torch.nn.functional": ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "softmax", "log_softmax",
                                     "relu", "gelu", "dropout", "layer_norm", "batch_norm", "embedding",
                                     "max_pool2d", "binary_cross_entropy", "binary_cross_entropy_with_logits",
                                     "kl_div", "smooth_l1_loss", "interpolate", "pad", "normalize")}


class Callbacks:
    """What the extension asks for, rarely: once for each sort of tensor, model and optimizer."""

    def __init__(self, torch: ModuleType, core: ModuleType) -> None:
        self.torch = torch
        self.core = core
        self.model_names: dict[str, int] = {}

    def describe(self, tensor: Any) -> tuple[bool, int, int, str]:
        """Whether the memory of tensors of this sort may be read, their dtype, item size and device."""
        with self.torch._C.DisableTorchFunction():
            return self._is_plain(tensor), self._dtype(tensor), self._item(tensor), str(tensor.device)

    def describe_shape(self, tensor: Any) -> tuple[int, int, str, tuple[int, ...]]:
        """What can be said of a tensor whose memory is not to be read."""
        with self.torch._C.DisableTorchFunction():
            return self._dtype(tensor), self._item(tensor), str(tensor.device), self._shape(tensor)

    def _shape(self, tensor: Any) -> tuple[int, ...]:
        """Subclasses that dispatch by themselves may compute it: of those only torch's own are asked. A symbolic extent
        is left, because to ask for its value ties the graph to that value."""
        if "Python" in self._keys(tensor) and not type(tensor).__module__.startswith("torch."):
            return ()
        return tuple(n if type(n) is int else 0 for n in tensor.shape)

    def _keys(self, tensor: Any) -> set[str]:
        return set(str(self.torch._C._dispatch_keys(tensor)).partition("(")[2].rstrip(")").split(", "))

    def _dtype(self, tensor: Any) -> int:
        return DTYPES.get(str(tensor.dtype).rpartition(".")[2], 0)

    def _item(self, tensor: Any) -> int:
        try:
            return int(tensor.element_size())
        except RuntimeError:
            return 0

    def _is_plain(self, tensor: Any) -> bool:
        torch = self.torch
        return (tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
                and not tensor.is_conj() and not tensor.is_neg() and self._dtype(tensor) != 0
                and self._keys(tensor) <= PLAIN_KEYS)

    def graph_traced(self, nothing: object) -> None:
        """Said once: from here on some of what the program does happens in graphs, where we do not look."""
        self.core.line(1, "not_measured calls_within_graphs")

    def model_found(self, model: Any) -> None:
        """Names the parameters and buffers of a model, and its modules."""
        name = type(model).__name__
        number = self.model_names.get(name, 0)
        self.model_names[name] = number + 1
        owner = f"{name}#{number}" if number else name
        for prefix, module in model.named_modules():
            self.core.follow_model(module, f"{owner}.{prefix}" if prefix else owner, prefix)
            if module._buffers:
                self.core.follow_buffers(module, owner, prefix)
        for path, parameter in model.named_parameters():
            self.core.follow_tensor(parameter, owner, path)

    def optimizer_made(self, optimizer: Any) -> None:
        """Hooks step and zero_grad of the class, which torch makes anew when its first optimizer is made."""
        kind = type(optimizer)
        for name, action in (("step", self.core.STEP), ("zero_grad", 0)):
            function = getattr(kind, name, None)
            if isinstance(function, FunctionType):
                self.core.hook(function, kind.__module__, f"{kind.__qualname__}.{name}", self.core.ALWAYS, action)


    def group_made(self, nothing: object) -> None:
        """torch.distributed has been initialised: this process is a rank."""
        distributed = self.torch.distributed
        rank = distributed.get_rank()
        self.core.rank(rank, distributed.get_world_size(), int(os.environ.get("LOCAL_RANK", rank)), "world")


def _probes(torch: ModuleType) -> list[tuple[Any, ...]]:
    """Tensors of all sorts, and what they are: (tensor, implementation, storage, data, bytes, offset, dtype, sort,
    sizes, strides)."""
    plain = [torch.zeros(3, 5, 7)[1:, 1:, 2:], torch.zeros(2, 3, 4, 5, 6, 7, 2)[1:], torch.zeros(11)[4:],
             torch.zeros(4, 6).t(), torch.zeros(()), torch.zeros(2, 1, 3, 2, 2, 3)[:, :, 1:], torch.zeros(0, 3)]
    for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64", "complex64"):
        plain.append(torch.zeros(9, 2, dtype=getattr(torch, name))[3:])
    conjugate = torch.zeros(5, dtype=torch.complex64)[2:].conj()
    negative = torch.zeros(5, dtype=torch.complex64)[2:].conj().imag
    with torch.inference_mode():
        inference = torch.zeros(5, 2)[2:]
    probes = [(tensor, 0) for tensor in plain] + [(conjugate, 1), (negative, 2), (inference, 3)]
    return [_probe(torch, tensor, sort) for tensor, sort in probes]


def _probe(torch: ModuleType, tensor: Any, sort: int) -> tuple[Any, ...]:
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
    else:
        storage = tensor.storage()
        storage = getattr(storage, "_storage", storage)
    return (tensor, tensor._cdata, storage._cdata, storage.data_ptr(), storage.nbytes(), tensor.storage_offset(),
            DTYPES[str(tensor.dtype).rpartition(".")[2]], sort, tuple(tensor.shape), tuple(tensor.stride()))


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
        if isinstance(function, kinds) and short not in METADATA and settings.wants(module, name):
            core.hook(function, module, name)


def _hook_functions(core: ModuleType, settings: Settings) -> None:
    for module, names in FUNCTIONS.items():
        holder = sys.modules.get(module)
        for name in names:
            function = getattr(holder, name, None)
            if isinstance(function, FunctionType) and settings.wants(module, name):
                core.hook(function, module, name)


def _hook_framework(torch: ModuleType, core: ModuleType) -> None:
    """What every level needs: modules, optimizers, losses, loaders, saving and loading, settings."""
    always = core.ALWAYS
    core.hook(torch.nn.Module.__call__, "torch.nn", "Module.__call__", always, core.MODULE)
    core.hook(torch.optim.Optimizer.__init__, "torch.optim", "Optimizer.__init__", always | core.QUIET,
              core.OPTIMIZER_MADE)
    core.hook(torch.Tensor.backward, "torch", "Tensor.backward", always, core.BACKWARD)
    core.hook(torch.utils.data.DataLoader.__iter__, "torch.utils.data", "DataLoader.__iter__", always, core.EPOCH)
    core.hook(torch.save, "torch", "save", always, core.SAVE)
    core.hook(torch.load, "torch", "load", always, core.LOAD)
    group = getattr(torch.distributed, "init_process_group", None)
    if isinstance(group, FunctionType):
        core.hook(group, "torch.distributed", "init_process_group", always, core.GROUP)
    for name, state in SETTERS.items():
        function = getattr(torch._C, name, None) or getattr(torch, name, None)
        if isinstance(function, BuiltinFunctionType):
            core.hook(function, "torch", state, always | core.QUIET, core.SETTER)


def instrument(core: ModuleType, settings: Settings) -> None:
    """Hooks torch, which has just been imported."""
    torch: Any = sys.modules["torch"]
    callbacks = Callbacks(torch, core)
    core.set_torch(torch._C._TensorBase, torch.Tensor, torch.nn.Parameter, torch.nn.Module)
    core.set_callbacks(callbacks)
    probes: list[tuple[Any, ...]] = []
    try:
        probes = _probes(torch)
        core.learn_layout(probes)
    except Exception:
        core.line(2, "tensors_not_read unknown_layout")
    _shim.attach(torch, core, settings, probes)
    _hook_framework(torch, core)
    if settings.detail != "lean":
        _hook_c(torch, core, settings)
        _hook_functions(core, settings)
    core.begin()
