# SPDX-License-Identifier: Apache-2.0
"""Everything is seeded."""
# same

import torch
import torch.nn.functional as F

from small import STEPS, data, train

torch.manual_seed(7)
x, y = data()
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(32, 4))
print(train(net, [(x, y)] * STEPS))
