#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The singular values of a matrix that is far from singular."""

import numpy as np

rng = np.random.default_rng(4)
u, _ = np.linalg.qr(rng.normal(size=(12, 12)))
v, _ = np.linalg.qr(rng.normal(size=(12, 12)))
scale = np.linspace(1.0, 3.0, 12)
a = (u * scale) @ v.T
print(np.linalg.svd(a)[1])
