#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A system with a good matrix, solved by its inverse: that costs no digit."""

import sys
from fractions import Fraction

import numpy as np

SIZE = 6
generator = np.random.default_rng(20)
matrix = np.eye(SIZE) + 0.1 * generator.normal(0.0, 1.0, (SIZE, SIZE))
right = generator.normal(0.0, 1.0, SIZE)


def exact():
    rows = [[Fraction(v) for v in row] + [Fraction(r)] for row, r in zip(matrix.tolist(), right.tolist())]
    for i in range(SIZE):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k in range(SIZE):
            if k != i:
                rows[k] = [v - rows[k][i] * w for v, w in zip(rows[k], rows[i])]
    return [float(row[SIZE]) for row in rows]


def solution():
    return np.linalg.solve(matrix, right)  # before
    return np.linalg.inv(matrix) @ right  # after


print(*(exact() if sys.argv[1:] == ["exact"] else solution()))
