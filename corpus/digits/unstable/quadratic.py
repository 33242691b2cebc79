#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The small root of a quadratic equation by the formula from school."""

import numpy as np


def roots(a, b, c):
    root = np.sqrt(b * b - 4.0 * a * c)
    large = (-b - root) / (2.0 * a)
    small = (-b + root) / (2.0 * a)  # loses
    return small, large


print(roots(np.float64(1.1), np.float64(1.0e7) / 3.0, np.float64(0.7)))
