#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Well-posed equations, solved by the library."""

import numpy as np

rng = np.random.default_rng(3)
a = rng.normal(size=(30, 30)) + 30.0 * np.eye(30)
x = rng.normal(size=30)
b = a @ x
print(np.linalg.solve(a, b)[:3])
