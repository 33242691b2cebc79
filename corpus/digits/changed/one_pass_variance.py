#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The variance of losses in one pass over them instead of two."""

import sys
from fractions import Fraction

import numpy as np

generator = np.random.default_rng(9)
losses = 250.0 + generator.normal(0.0, 0.01, 500)


def exact():
    x = [Fraction(v) for v in losses.tolist()]
    mean = sum(x) / len(x)
    return [float(sum((v - mean) ** 2 for v in x) / len(x))]


def variance():
    mean = np.mean(losses)
    away = losses - mean  # before
    return np.mean(away * away)  # before
    return np.mean(losses * losses) - mean * mean  # after


print(*(exact() if sys.argv[1:] == ["exact"] else [variance()]))
