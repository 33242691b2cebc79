#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Columns made orthogonal by reflections."""

import numpy as np

rng = np.random.default_rng(2)
a = rng.normal(size=(40, 5)) / 3.0
q, r = np.linalg.qr(a)
print(np.abs(np.diag(r)))
