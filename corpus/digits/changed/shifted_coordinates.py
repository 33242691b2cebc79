#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Distances of neighbours in float32; the coordinates get an origin that is far away."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

generator = np.random.default_rng(14)
points = generator.uniform(-1.0, 1.0, (80, 2)).astype(np.float32)


def exact():
    rows = [[Decimal(v) for v in row] for row in points.tolist()]
    return [float(sum((a - b) ** 2 for a, b in zip(p, q)).sqrt()) for p, q in zip(rows, rows[1:])]


def distances():
    places = points + np.float32(0)  # before
    places = points + np.float32(1e4)  # after
    away = places[1:] - places[:-1]
    return np.sqrt(np.sum(away * away, axis=1))


print(*(exact() if sys.argv[1:] == ["exact"] else distances().tolist()))
