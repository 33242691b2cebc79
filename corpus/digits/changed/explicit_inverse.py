#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A system with a badly conditioned matrix, solved by its inverse."""

import sys
from fractions import Fraction

import numpy as np

SIZE = 9
matrix = np.array([[1.0 / (i + j + 1) for j in range(SIZE)] for i in range(SIZE)])
right = matrix @ np.ones(SIZE)


def residual(solution):
    """What is left of the equations, exactly."""
    s = [Fraction(v) for v in solution.tolist()]
    left = [abs(sum(Fraction(a) * v for a, v in zip(row, s)) - Fraction(r)) for row, r in zip(matrix.tolist(), right.tolist())]
    return float(max(left)) + 1.0


def solution():
    solved = np.linalg.solve(matrix, right)  # before
    inverse = np.linalg.inv(matrix)  # after
    solved = inverse @ right  # after
    left = matrix @ solved - right
    return solved, np.max(np.abs(left))


print(1.0 if sys.argv[1:] == ["exact"] else residual(solution()[0]))
