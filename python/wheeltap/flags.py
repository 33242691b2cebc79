# SPDX-License-Identifier: Apache-2.0
"""The bits of the fields `flags` and `lacks` by name, as `wheeltap view` prints them.

`frame["flags"] & wheeltap.TensorFlags.NO_HASH` and `wheeltap.TensorFlags(row["flags"])` are what they are for.
"""

from __future__ import annotations

from enum import IntFlag

__all__ = ["CallFlags", "MemberFlags", "StateFlags", "TensorFlags", "ThinnedFlags"]


class TensorFlags(IntFlag):
    """Of `tensor` events."""

    REQUIRES_GRAD = 1
    STRIDED = 2  # not contiguous
    NO_STATISTICS = 4  # nan, inf, zeros, min, max, mean and m2 are null
    NO_HASH = 8  # it was not read: hash is null
    BLOB = 16  # its bytes were kept: run.array(row)
    BLOB_LOST = 32
    LATE = 64


class StateFlags(IntFlag):
    """Of `state` events."""

    FIRST = 1
    ZEROS = 2


class CallFlags(IntFlag):
    """Of `call_begin` events, and of run.calls(). TRAIN says something only with MODE_KNOWN."""

    MODE_KNOWN = 1
    TRAIN = 2
    GRAD = 4
    AUTOCAST = 8
    INFERENCE = 16
    OUTERMOST = 32
    LEAF = 64


class MemberFlags(IntFlag):
    """Of `member` events."""

    REQUIRES_GRAD = 1


class ThinnedFlags(IntFlag):
    """What is not measured from a `thinned` event on: its field `lacks`."""

    DIGESTS = 1
    ARGUMENTS = 2
    CALLS = 4
    PARAMETERS = 8
    GRADIENTS = 16
    BUFFERS = 32
    OPTIMIZER = 64
    MODES = 128
    RNG = 256
    LOSSES = 512
    DATA = 1024
    STATISTICS = 2048
    UNNEEDED_CALLS = 4096
