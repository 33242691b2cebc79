# SPDX-License-Identifier: Apache-2.0
"""A DataLoader with workers and a seeded generator."""
# same

import torch

from small import data, model, train

x, y = data()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True, num_workers=2,
                                     generator=torch.Generator().manual_seed(2))
print(train(model(), ((xb, yb) for xb, yb in loader)))
