#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A sum of float32 numbers of many sizes, from the largest to the smallest instead of the other way."""

import sys
from fractions import Fraction

import numpy as np

generator = np.random.default_rng(3)
sizes = np.concatenate([generator.uniform(0.001, 0.006, 1500), generator.uniform(2e4, 4e4, 8)])
numbers = np.sort(sizes).astype(np.float32)


def exact():
    return [float(sum(Fraction(x) for x in numbers.tolist()))]


def total():
    some = np.float32(0)
    ordered = numbers  # before
    ordered = numbers[::-1]  # after
    for number in ordered:
        some = some + number
    return some


print(*(exact() if sys.argv[1:] == ["exact"] else [total()]))
