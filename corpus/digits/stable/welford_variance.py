#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The variance by updates of the mean and of the sum of squared distances."""

import numpy as np

rng = np.random.default_rng(1)
x = 1.0e3 + rng.normal(size=400) / 3.0
mean = np.float64(0.0)
m2 = np.float64(0.0)
for count, value in enumerate(x, 1):
    delta = value - mean
    mean = mean + delta / count
    m2 = m2 + delta * (value - mean)
print(np.sqrt(m2 / len(x)))
