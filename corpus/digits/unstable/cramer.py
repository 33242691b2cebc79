#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two equations that are nearly the same, solved by determinants."""

import numpy as np


def solve(a, b):
    det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]  # loses
    x = (b[0] * a[1, 1] - a[0, 1] * b[1]) / det
    y = (a[0, 0] * b[1] - b[0] * a[1, 0]) / det
    return np.array([x, y])


a = np.array([[0.2161, 0.1441], [1.2969, 0.8648]])
b = np.array([0.144, 0.8642])
print(solve(a, b))
