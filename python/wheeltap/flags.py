# SPDX-License-Identifier: Apache-2.0
# Made from schema/events.toml by schema/generate.py; do not edit.
"""The bits of the fields `flags` and `lacks` by name.

`frame["flags"] & wheeltap.TensorFlags.NO_HASH` and `wheeltap.TensorFlags(row["flags"])` are what they are for.
"""

from __future__ import annotations

from enum import IntFlag

__all__ = [
    "CallFlags",
    "ConfigurationFlags",
    "MemberFlags",
    "OperatorEndFlags",
    "SignalFlags",
    "SpanFlags",
    "StateFlags",
    "SyscallFlags",
    "TaskEndFlags",
    "TensorFlags",
    "ThinnedFlags",
]


class StateFlags(IntFlag):
    """Of a state that has changed: `flags` of `state`."""

    FIRST = 1  # the first value: nothing was known before
    ZEROS = 2  # of a tensor: all elements are zero


class ConfigurationFlags(IntFlag):
    """Where a value of the configuration comes from: `flags` of `configuration`."""

    DEFAULT = 1  # it is the one that the program declares: nobody has given another


class TensorFlags(IntFlag):
    """Of a tensor, and of what was kept of it: `flags` of `tensor`."""

    REQUIRES_GRAD = 1  # it requires a gradient
    STRIDED = 2  # it is not contiguous
    NO_STATISTICS = 4  # nan, inf, zeros, min, max, mean and m2 were not measured
    NO_HASH = 8  # it was not read: the hash is not known
    BLOB = 16  # its bytes are kept as blobs/HASH
    BLOB_LOST = 32  # its bytes should have been kept and were not
    LATE = 64  # emitted late, when a device had copied it
    SAMPLED = 128  # it was sampled before: its sample and its sketch are those of the last tensor on this track with this hash, dtype and count. A reader has to keep 128 tensors with the samples that followed them: of those whose hashes are equal modulo 128 the last. Samples of more than one event are not referred to


class CallFlags(IntFlag):
    """In which modes a call runs; all but the last two are of modules: `flags` of `call_begin`."""

    MODE_KNOWN = 1  # the module has a mode: the next bit is valid
    TRAIN = 2  # the module is in training mode
    GRAD = 4  # gradients are on
    AUTOCAST = 8  # autocast is on
    INFERENCE = 16  # inference mode is on
    OUTERMOST = 32  # no module is called around it
    LEAF = 64  # of a backward: the loss has no graph behind it
    INNER = 128  # under noise: the work of a library, in a function that the user's code did not call itself


class MemberFlags(IntFlag):
    """Of a tensor that belongs to an object: `flags` of `member`."""

    REQUIRES_GRAD = 1  # it requires a gradient


class OperatorEndFlags(IntFlag):
    """How an operator ended: `flags` of `operator_end`."""

    EXCEPTION = 1  # by an exception


class ThinnedFlags(IntFlag):
    """What is not measured: `lacks` of `thinned`."""

    DIGESTS = 1  # digests of arguments and returns
    ARGUMENTS = 2  # arguments and returns
    CALLS = 4  # calls that the level lean does not record
    PARAMETERS = 8  # parameters
    GRADIENTS = 16  # gradients
    BUFFERS = 32  # buffers
    OPTIMIZER = 64  # settings and tensors of optimizers
    MODES = 128  # modes
    RNG = 256  # states of random generators
    LOSSES = 512  # losses
    DATA = 1024  # batches and inputs
    STATISTICS = 2048  # statistics of states
    UNNEEDED_CALLS = 4096  # calls that no invariant needs


class SyscallFlags(IntFlag):
    """What is special about a system call: `flags` of `syscall`."""

    UNFINISHED = 1  # it did not return: the thread ended in it, or a seccomp filter sent a signal instead
    JOINED = 2  # it began before the recording: when is not known, nor the memory of its arguments
    OWN = 4  # made by the recorder's guests, no part of the program
    UNREAD = 8  # memory could not be read
    RESTARTS = 16  # it was interrupted and begins again
    GOES_ON = 32  # with unfinished: the recording ended, not the thread


class TaskEndFlags(IntFlag):
    """Of a thread that has ended: `flags` of `task_end`."""

    LAST = 1  # the last thread of its process
    DUMPED = 2  # its memory was dumped


class SignalFlags(IntFlag):
    """Of a signal: `flags` of `signal`."""

    STOPPED = 1  # the thread has stopped for it; emitted besides its delivery


class SpanFlags(IntFlag):
    """What kind of work a span is; none: an ordinary span: `flags` of `span_begin`."""

    RUNTIME = 1  # a call of a device's programming interface: cudaLaunchKernel, hipMemcpyAsync, clEnqueueNDRangeKernel
    OPERATOR = 2  # an operator of a framework: aten::mm
    ANNOTATION = 4  # a range that the user named
    PYTHON = 8  # a Python function
