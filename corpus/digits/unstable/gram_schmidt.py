#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Columns that are nearly parallel, made orthogonal by projections."""

import numpy as np


def orthogonal(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j]
        for i in range(j):
            v = v - (q[:, i] @ a[:, j]) * q[:, i]  # loses
        q[:, j] = v / np.linalg.norm(v)
    return q


rng = np.random.default_rng(2)
base = rng.normal(size=(40, 1)) / 3.0
a = base + 1.0e-9 * rng.normal(size=(40, 5))
q = orthogonal(a)
print(np.abs(q.T @ q - np.eye(5)).max())
