#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A mean of numbers of one size, summed in another order: the last bit may change."""

import sys
from fractions import Fraction

import numpy as np

generator = np.random.default_rng(21)
numbers = generator.uniform(1.0, 2.0, 3000)


def exact():
    return [float(sum(Fraction(x) for x in numbers.tolist()) / len(numbers))]


def mean():
    return np.sum(numbers) / 3000.0  # before
    return np.sum(numbers[::-1]) / 3000.0  # after


print(*(exact() if sys.argv[1:] == ["exact"] else [mean()]))
