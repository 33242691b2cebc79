#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same polynomial as a power."""

import numpy as np

x = np.linspace(1.1, 1.9, 40)
print(((x - 1.0) ** 7)[:3])
