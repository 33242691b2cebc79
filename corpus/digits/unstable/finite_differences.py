#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A derivative from a difference over a step that is far too small."""

import numpy as np


def f(x):
    return np.sin(x) * np.exp(-0.3 * x)


x = np.linspace(0.4, 2.0, 50)
h = 1.0e-12
derivative = (f(x + h) - f(x)) / h  # loses
print(derivative[:3])
