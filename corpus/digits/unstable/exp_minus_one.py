#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""exp(x) - 1 for small x."""

import numpy as np

rate = np.linspace(1.0e-11, 3.0e-11, 40)
growth = np.exp(rate) - 1.0  # loses
print(growth[:3] / rate[:3])
