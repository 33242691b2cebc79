#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A polynomial near its roots, in expanded instead of factored form."""

import sys
from fractions import Fraction

import numpy as np

x = np.linspace(1.9, 2.1, 41)


def exact():
    return [float((Fraction(v) - 2) ** 5) for v in x.tolist()]


def values():
    return (x - 2.0) ** 5  # before
    return ((((x - 10.0) * x + 40.0) * x - 80.0) * x + 80.0) * x - 32.0  # after


print(*(exact() if sys.argv[1:] == ["exact"] else values()))
