# SPDX-License-Identifier: Apache-2.0
"""As many threads as processors are free, one at first, two and three in turn later: the sum is divided in another way, and rounds to another value."""

import torch

from small import STEPS, data, model, train

with open("free", "a+") as file:
    file.seek(0)
    runs = len(file.read())
    file.write("x")
torch.set_num_threads(2 + runs % 2 if runs else 1)  # no two runs in a row have the same
x, y = data()
big = torch.randn(300_001, generator=torch.Generator().manual_seed(3))
scale = big.sum()  # first: Tensor.sum
print(train(model(), [(x * scale / 100, y)] * STEPS))
