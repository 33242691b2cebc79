#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The soft maximum of 0 and x; the careful function is replaced by its formula."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

x = np.linspace(-25.0, -5.0, 200)


def exact():
    return [float((Decimal(v).exp() + 1).ln()) for v in x.tolist()]


def softplus():
    # log(1 + e) for small e
    return np.log1p(np.exp(x))  # before
    shifted = np.exp(x) + 1.0  # after
    return np.log(shifted)  # after


print(*(exact() if sys.argv[1:] == ["exact"] else softplus()))
