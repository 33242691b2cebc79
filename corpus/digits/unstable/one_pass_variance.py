#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The variance as the mean of squares minus the square of the mean."""

import numpy as np

rng = np.random.default_rng(1)
x = 1.0e6 + rng.normal(size=2000) / 3.0
mean = np.mean(x)
mean_of_squares = np.mean(x * x)
variance = mean_of_squares - mean * mean  # loses
print(np.sqrt(variance))
