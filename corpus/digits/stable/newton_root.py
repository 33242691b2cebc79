#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A recurrence that corrects itself."""

import numpy as np

x = np.float64(3.7)
for step in range(40):
    x = 0.5 * (x + 7.3 / x)
print(x)
