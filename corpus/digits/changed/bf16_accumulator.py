#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Scores of a linear layer; the sum over its inputs goes to bfloat16."""

import sys
from fractions import Fraction

import torch

torch.manual_seed(6)
weights = torch.randn(8, 64)
inputs = torch.randn(4, 64)


def exact():
    rows = [[Fraction(x) for x in row] for row in weights.tolist()]
    return [float(sum(Fraction(a) * b for a, b in zip(sample, row))) for sample in inputs.tolist() for row in rows]


def scores():
    total = torch.zeros(4, 8)  # before
    total = torch.zeros(4, 8, dtype=torch.bfloat16)  # after
    for column in range(64):
        total = total + inputs[:, column, None] * weights[None, :, column]  # before
        total = total + (inputs[:, column, None] * weights[None, :, column]).bfloat16()  # after
    return total.float()


print(*(exact() if sys.argv[1:] == ["exact"] else scores().ravel().tolist()))
