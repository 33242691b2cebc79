#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Softmax with the largest logit taken off first."""

import numpy as np


def softmax(logits):
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


rng = np.random.default_rng(5)
print(softmax((rng.normal(size=(4, 10)) * 9.0).astype(np.float32))[0])
