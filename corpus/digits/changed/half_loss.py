#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The loss of a small network goes to half precision before it is averaged."""

import sys
from fractions import Fraction

import torch

torch.manual_seed(16)
outputs = torch.randn(96, 5)
targets = torch.randn(96, 5)


def exact():
    squares = [(Fraction(a) - Fraction(b)) ** 2 for p, q in zip(outputs.tolist(), targets.tolist()) for a, b in zip(p, q)]
    return [float(sum(squares) / len(squares))]


def loss():
    squares = (outputs - targets) ** 2
    return squares.mean()  # before
    return squares.half().float().mean()  # after


print(*(exact() if sys.argv[1:] == ["exact"] else [loss().item()]))
