# SPDX-License-Identifier: Apache-2.0
"""Generators of numpy that are seeded: those of the old kind are seeded by the system before."""
# same
# record: --modules torch,numpy --detail full

import numpy
import torch

from small import STEPS, data, model, train

x, y = data()


def batches():
    for step in range(STEPS):
        old, new = numpy.random.RandomState(step), numpy.random.default_rng(step)
        noise = old.rand(64, 16) + new.normal(size=(64, 16))
        yield x + 0.1 * torch.from_numpy(noise.astype("float32")), y


print(train(model(), batches()))
