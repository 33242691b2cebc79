# SPDX-License-Identifier: Apache-2.0
"""What only torch can say about its tensors, and what the extension needs to read them by itself."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Optional

from ._device import Copies, Copy

# The dtype names of schema/events.toml, by torch's.
DTYPES = {"bool": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "uint32": 6, "int32": 7, "uint64": 8, "int64": 9,
          "float16": 10, "bfloat16": 11, "float32": 12, "float64": 13, "complex64": 14, "complex128": 15,
          "float8_e4m3fn": 16, "float8_e5m2": 17, "complex32": 18, "float8_e4m3fnuz": 19, "float8_e5m2fnuz": 20,
          "float8_e8m0fnu": 21}

# Dispatch keys of tensors whose elements lie in memory as they are. Any other key stands for something in between: a
# conjugate, a batch of vmap, a fake tensor of torch.compile, a subclass that dispatches by itself.
PLAIN_KEYS = {"CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU", "Named"}



class Describer:
    """Asked once for each sort of tensor."""

    def __init__(self, torch: ModuleType) -> None:
        self.torch: Any = torch
        self.device_copies = Copies(torch)
        self.is_near = lambda tensor: tensor.device.type == "cpu"  # its memory is ours; tests say otherwise

    def copy_begin(self, tensor: Any) -> Optional[Copy]:
        """A copy of a tensor on an accelerator, on its way."""
        return self.device_copies.begin(tensor)

    def describe(self, tensor: Any) -> tuple[str, int, int, str, bool, bool]:
        """What tensors of this sort are, if their memory is not to be read (otherwise nothing); their dtype, item size
        and device; whether they have yet to be conjugated or negated."""
        with self.torch._C.DisableTorchFunction():
            return (self._sort(tensor), self._dtype(tensor), self._item(tensor), str(tensor.device),
                    bool(tensor.is_conj()), bool(tensor.is_neg()))

    def describe_shape(self, tensor: Any) -> tuple[int, int, str, tuple[int, ...], bool]:
        """What can be said of a tensor whose memory is not to be read."""
        with self.torch._C.DisableTorchFunction():
            return (self._dtype(tensor), self._item(tensor), str(tensor.device), self._shape(tensor),
                    bool(self.torch._C._TensorBase.requires_grad.__get__(tensor)))

    def parts(self, tensor: Any) -> tuple[Any, ...]:
        """What a sparse tensor is made of: names and tensors in turn. They share its memory."""
        names = {"sparse_coo": ("_indices", "_values"),
                 "sparse_csr": ("crow_indices", "col_indices", "values"),
                 "sparse_bsr": ("crow_indices", "col_indices", "values"),
                 "sparse_csc": ("ccol_indices", "row_indices", "values"),
                 "sparse_bsc": ("ccol_indices", "row_indices", "values")}
        with self.torch._C.DisableTorchFunction(), self.torch.no_grad():
            found: list[Any] = []
            for name in names.get(self._sort(tensor), ()):
                found += (name.lstrip("_"), getattr(tensor, name)())
            return tuple(found)

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

    def _sort(self, tensor: Any) -> str:
        """Nothing for elements in memory, or a word."""
        if tensor.layout is not self.torch.strided:
            return str(tensor.layout).rpartition(".")[2]  # sparse_coo, sparse_csr, jagged
        if tensor.is_quantized:
            return "quantized"
        if getattr(tensor, "is_nested", False):
            return "nested"
        keys = self._keys(tensor) - PLAIN_KEYS
        if "Python" in keys or "FuncTorchBatched" in keys or "FuncTorchGradWrapper" in keys:
            return "wrapped"
        if not self.is_near(tensor):
            return "meta" if tensor.device.type == "meta" else "device"
        if keys - {"Conjugate", "Negative"} or self._dtype(tensor) == 0:
            return "other"
        if tensor.is_neg() and not (tensor.is_floating_point() or tensor.is_complex()):
            return "other"
        return ""


def probes(torch: ModuleType) -> list[tuple[Any, ...]]:
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
