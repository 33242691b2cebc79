#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""1 - cos(x) for small angles."""

import numpy as np

angle = np.linspace(1.0e-7, 4.0e-7, 40)
versine = 1.0 - np.cos(angle)  # loses
print(versine[:3] / angle[:3] ** 2)
