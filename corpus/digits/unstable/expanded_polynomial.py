#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""(x - 1)^7 multiplied out, near its root."""

import numpy as np

coefficients = [1.0, -7.0, 21.0, -35.0, 35.0, -21.0, 7.0, -1.0]
x = np.linspace(0.991, 1.009, 40)
y = np.full_like(x, coefficients[0])
for c in coefficients[1:]:
    y = y * x + c  # loses
print(y[:3])
