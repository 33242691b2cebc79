#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The logistic map where it settles."""

import numpy as np

x = np.float64(0.3)
for step in range(60):
    x = 2.6 * x * (1.0 - x)
print(x)
