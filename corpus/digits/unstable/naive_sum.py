#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A sum in single precision, term by term, whose large terms cancel."""

import numpy as np


def total(terms):
    running = np.float32(0.0)
    for term in terms:
        running = running + term  # loses
    return running


rng = np.random.default_rng(7)
large = (rng.random(300) * 1.0e6 / 3.0).astype(np.float32)
small = (rng.random(300) / 3.0).astype(np.float32)
print(total(np.concatenate([large, small, -large])))
