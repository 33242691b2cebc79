#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same by the half angle."""

import numpy as np

angle = np.linspace(1.0e-7, 4.0e-7, 40)
half = np.sin(angle / 2.0)
print((2.0 * half * half)[:3] / angle[:3] ** 2)
