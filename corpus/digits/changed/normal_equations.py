#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A polynomial is fitted by the normal equations instead of an orthogonal factorisation."""

import sys
from fractions import Fraction

import numpy as np

x = np.linspace(0.0, 1.0, 40)
basis = np.stack([x**k for k in range(8)], axis=1)
target = np.exp(x)


def exact():
    a = [[Fraction(v) for v in row] for row in basis.tolist()]
    t = [Fraction(v) for v in target.tolist()]
    n = len(a[0])
    rows = [[sum(r[i] * r[j] for r in a) for j in range(n)] + [sum(r[i] * v for r, v in zip(a, t))] for i in range(n)]
    for i in range(n):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [v - rows[k][i] * w for v, w in zip(rows[k], rows[i])]
    return [float(row[n]) for row in rows]


def fit():
    q, r = np.linalg.qr(basis)  # before
    return np.linalg.solve(r, q.T @ target)  # before
    return np.linalg.solve(basis.T @ basis, basis.T @ target)  # after


print(*(exact() if sys.argv[1:] == ["exact"] else fit()))
