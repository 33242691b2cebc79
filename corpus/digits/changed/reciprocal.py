#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Phases of a wave: the division by the period becomes a product with its reciprocal."""

import sys
from fractions import Fraction

import numpy as np

times = np.arange(1, 200) * 1000.1
PERIOD = np.float64(0.0307)


def exact():
    turns = [Fraction(t) / Fraction(float(PERIOD)) for t in times.tolist()]
    return [float(turn - (turn.numerator // turn.denominator)) for turn in turns]


def phases():
    frequency = (1.0 / PERIOD).astype(np.float32).astype(np.float64)  # after
    turns = times / PERIOD  # before
    turns = times * frequency  # after
    return turns - np.floor(turns)


print(*(exact() if sys.argv[1:] == ["exact"] else phases()))
