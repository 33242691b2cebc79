#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A loop is moved, a step is named and a product is written the other way round."""

import sys
from decimal import Decimal
from decimal import getcontext

import numpy as np

getcontext().prec = 60

x = np.linspace(0.1, 3.0, 120)


def exact():
    return [float((Decimal(v).exp() * Decimal(v)).sqrt() / 3) for v in x.tolist()]


def rooted():
    return np.sqrt(np.exp(x) * x) / 3.0  # before
    # In steps, so that they can be looked at.  # after
    grown = np.exp(x)  # after
    product = x * grown  # after
    root = np.sqrt(product)  # after
    return root / 3.0  # after


print(*(exact() if sys.argv[1:] == ["exact"] else rooted()))
