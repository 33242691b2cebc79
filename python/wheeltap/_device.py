# SPDX-License-Identifier: Apache-2.0
"""Copies of tensors that lie on an accelerator: asked for without waiting, fetched when the device has made them."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Optional

SCRATCH_BYTES_MAX = 64 << 20  # of host memory, in use and kept for the next copies together


class Copy:
    """One tensor on its way. `buffer` begins with its bytes, in order, once ready() has said so."""

    def __init__(self, copies: Copies, buffer: Any, event: Any) -> None:
        self.copies, self.buffer, self.event = copies, buffer, event

    def ready(self) -> bool:
        return bool(self.event.query())

    def done(self) -> None:
        self.copies.free.setdefault(self.buffer.numel(), []).append(self.buffer)


class Copies:
    """Host memory for copies, pinned, because only into such memory a device copies by itself."""

    def __init__(self, torch: ModuleType) -> None:
        self.torch: Any = torch
        self.free: dict[int, list[Any]] = {}
        self.bytes = 0
        self.new_event: Callable[[Any], Any] = self._new_event
        self.pinned = True  # tests, which have no accelerator, say otherwise

    def begin(self, tensor: Any) -> Optional[Copy]:
        """Queues a copy behind what the program has queued so far. None: it cannot be had without waiting, the scratch
        is used up, or a graph is being captured, of which the copy would become a part."""
        torch, device = self.torch, tensor.device
        with torch._C.DisableTorchFunction(), torch.no_grad():
            if self._is_capturing(device):
                return None
            event = self.new_event(device)
            buffer = self._buffer(tensor.numel() * tensor.element_size()) if event is not None else None
            if buffer is None:
                return None
            host = buffer[:tensor.numel() * tensor.element_size()].view(tensor.dtype).view(tensor.shape)
            host.copy_(tensor, non_blocking=True)
            event.record()
            return Copy(self, buffer, event)

    def _backend(self, device: Any) -> Any:
        return getattr(self.torch, device.type, None)

    def _is_capturing(self, device: Any) -> bool:
        ask = getattr(self._backend(device), "is_current_stream_capturing", None)
        return ask is not None and bool(ask())

    def _new_event(self, device: Any) -> Any:
        make = getattr(self._backend(device), "Event", None)
        if make is None or device.index not in (None, self._backend(device).current_device()):
            return None  # an event belongs to the device that is current
        return make()

    def _buffer(self, size: int) -> Any:
        size = max(4096, 1 << (size - 1).bit_length())
        if self.free.get(size):
            return self.free[size].pop()
        if self.bytes + size > SCRATCH_BYTES_MAX:
            return None
        try:
            buffer = self.torch.empty(size, dtype=self.torch.uint8, pin_memory=self.pinned)
        except RuntimeError:
            return None
        self.bytes += size
        return buffer
