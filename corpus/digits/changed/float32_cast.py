#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A weighted mean; the weights are cast to float32 on the way."""

import sys
from fractions import Fraction

import numpy as np

generator = np.random.default_rng(1)
values = generator.normal(3.0, 1.0, 4000)
weights = generator.uniform(0.5, 1.5, 4000)


def exact():
    w, v = [Fraction(x) for x in weights.tolist()], [Fraction(x) for x in values.tolist()]
    return [float(sum(a * b for a, b in zip(w, v)) / sum(w))]


def mean():
    shares = weights / np.sum(weights)  # before
    shares = weights.astype(np.float32) / np.sum(weights.astype(np.float32))  # after
    return np.sum(shares * values)


print(*(exact() if sys.argv[1:] == ["exact"] else [mean()]))
