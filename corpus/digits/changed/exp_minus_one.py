#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Interest of a short time; expm1 is replaced by exp and a subtraction, and a line is added above."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

rates = np.linspace(1e-9, 1e-6, 64)


def exact():
    return [float((Decimal(r).exp() - 1) * 1000) for r in rates.tolist()]


def interest():
    growth = np.exp(rates)  # after
    gain = np.expm1(rates)  # before
    gain = growth - 1.0  # after
    return gain * 1000.0


print(*(exact() if sys.argv[1:] == ["exact"] else interest()))
