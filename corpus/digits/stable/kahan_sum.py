#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A sum in single precision with a running compensation."""

import numpy as np


def total(terms):
    running = np.float32(0.0)
    carry = np.float32(0.0)
    for term in terms:
        y = term - carry
        t = running + y
        carry = (t - running) - y
        running = t
    return running


rng = np.random.default_rng(7)
print(total((rng.random(900) * 1.0e6 / 3.0).astype(np.float32)))
