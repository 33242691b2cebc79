#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The inverse of a matrix whose smallest singular value is nearly zero."""

import numpy as np

rng = np.random.default_rng(4)
u, _ = np.linalg.qr(rng.normal(size=(12, 12)))
v, _ = np.linalg.qr(rng.normal(size=(12, 12)))
scale = np.logspace(0.0, -12.0, 12)
a = (u * scale) @ v.T
inverse = np.linalg.inv(a)  # loses
print(inverse @ np.ones(12))
