# SPDX-License-Identifier: Apache-2.0
"""One generator of numpy is seeded, another is not."""
# record: --modules torch,numpy --detail full

import numpy
import torch

from small import STEPS, data, model, train

x, y = data()
seeded, unseeded = numpy.random.RandomState(7), numpy.random.default_rng()


def batches():
    for step in range(STEPS):
        shift = seeded.rand(64, 16)
        noise = unseeded.normal(size=(64, 16))  # first: Generator.normal
        yield x + 0.1 * torch.from_numpy((shift + noise).astype("float32")), y


print(train(model(), batches()))
