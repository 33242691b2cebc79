#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A derivative from a step into the complex plane."""

import numpy as np


def f(x):
    return np.sin(x) * np.exp(-0.3 * x)


x = np.linspace(0.4, 2.0, 50)
h = 1.0e-30
derivative = f(x + 1j * h).imag / h
print(derivative[:3])
