#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Versines of small angles: the identity with the half angle is written out."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

angles = np.linspace(1e-4, 1e-2, 60)


def exact():
    out = []
    for angle in angles.tolist():
        square, term, total, k = Decimal(angle) ** 2, Decimal(1), Decimal(0), 0
        while k < 40:
            k += 2
            term = -term * square / (k * (k - 1))
            total -= term
        out.append(float(total))
    return out


def versines():
    half = np.sin(angles / 2.0)  # before
    return 2.0 * half * half  # before
    return 1.0 - np.cos(angles)  # after


print(*(exact() if sys.argv[1:] == ["exact"] else versines()))
