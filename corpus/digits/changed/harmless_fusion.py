#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A weighted square error by one function of linear algebra instead of two steps."""

import sys
from fractions import Fraction

import numpy as np

generator = np.random.default_rng(23)
away = generator.normal(0.0, 1.0, 900)
weights = generator.uniform(0.5, 1.0, 900)


def exact():
    return [float(sum(Fraction(w) * Fraction(a) ** 2 for w, a in zip(weights.tolist(), away.tolist())))]


def error():
    squares = away * away
    return np.sum(weights * squares)  # before
    return np.dot(weights, squares)  # after


print(*(exact() if sys.argv[1:] == ["exact"] else [error()]))
