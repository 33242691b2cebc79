#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Small roots of quadratic equations: by the product of the roots, then by the formula from school."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

b = np.linspace(1e4, 1e5, 100)
c = np.linspace(0.3, 0.7, 100)


def exact():
    return [float((-Decimal(p) + (Decimal(p) ** 2 - 4 * Decimal(q)).sqrt()) / 2) for p, q in zip(b.tolist(), c.tolist())]


def small_roots():
    root = np.sqrt(b * b - 4.0 * c)
    return 2.0 * c / (-b - root)  # before
    return (root - b) / 2.0  # after


print(*(exact() if sys.argv[1:] == ["exact"] else small_roots()))
