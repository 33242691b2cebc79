# SPDX-License-Identifier: Apache-2.0
"""Features by hash(), which is another function in every process."""

import torch

from small import STEPS, data, model, train

_, y = data(8)
rows = [[hash(f"word {i} {j}") % 97 for j in range(16)] for i in range(8)]
x = torch.tensor(rows)  # first: tensor
print(train(model(), [(x / 97, y)] * STEPS))
