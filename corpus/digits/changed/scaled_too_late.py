#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The length of short vectors in float32: they are scaled after the squares instead of before."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

generator = np.random.default_rng(7)
vectors = (generator.normal(0.0, 1.0, (50, 3)) * 3e-21).astype(np.float32)
SCALE = np.float32(1e20)


def exact():
    return [float(sum(Decimal(x) ** 2 for x in row).sqrt() * Decimal(1e20)) for row in vectors.tolist()]


def lengths():
    scaled = vectors * SCALE  # before
    return np.sqrt(np.sum(scaled * scaled, axis=1))  # before
    squares = np.sum(vectors * vectors, axis=1)  # after
    return np.sqrt(squares) * SCALE  # after


print(*(exact() if sys.argv[1:] == ["exact"] else lengths().tolist()))
