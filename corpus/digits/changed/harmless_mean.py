#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The mean square of a layer's outputs: the mean is written as a sum and a division."""

import sys
from fractions import Fraction

import torch

torch.manual_seed(24)
outputs = torch.randn(64, 16)


def exact():
    squares = [Fraction(v) ** 2 for row in outputs.tolist() for v in row]
    return [float(sum(squares) / len(squares))]


def square():
    return (outputs * outputs).mean()  # before
    return (outputs * outputs).sum() / 1024.0  # after


print(*(exact() if sys.argv[1:] == ["exact"] else [square().item()]))
