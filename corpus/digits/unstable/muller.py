#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A recurrence that runs away to the wrong fixed point."""

import numpy as np

before = np.float64(11.0) / 2.0
now = np.float64(61.0) / 11.0
for step in range(18):
    following = 111.0 - (1130.0 - 3000.0 / before) / now  # loses
    before, now = now, following
print(now)
