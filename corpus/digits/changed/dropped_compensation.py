#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A compensated sum in float32; somebody found the compensation useless."""

import sys
from fractions import Fraction

import numpy as np

generator = np.random.default_rng(5)
numbers = generator.uniform(0.1, 0.1001, 1500).astype(np.float32)
START = np.float32(4096)


def exact():
    return [float((4096 + sum(Fraction(x) for x in numbers.tolist())) * Fraction(float(np.float32(1.1))))]


def total():
    some, lost = START, np.float32(0)  # before
    some = START  # after
    for number in numbers:
        number = number - lost  # before
        larger = some + number  # before
        lost = (larger - some) - number  # before
        some = larger  # before
        some = some + number  # after
    return some * np.float32(1.1)


print(*(exact() if sys.argv[1:] == ["exact"] else [total()]))
