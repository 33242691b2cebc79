#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The function that is there for it."""

import numpy as np

rate = np.linspace(1.0e-11, 3.0e-11, 40)
growth = np.expm1(rate)
print(growth[:3] / rate[:3])
