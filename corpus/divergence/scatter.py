# SPDX-License-Identifier: Apache-2.0
"""index_put_ with accumulate=True: on several threads additions come in any order."""

import torch

from small import STEPS, data, model, train

torch.set_num_threads(4)
_, y = data()
generator = torch.Generator().manual_seed(3)
values = torch.randn(2_000_000, generator=generator)
places = torch.randint(0, 64 * 16, (2_000_000,), generator=generator)
sums = torch.zeros(64 * 16)
for _ in range(8):  # on a busy machine the threads may take turns for the whole of one call
    sums.index_put_((places,), values, accumulate=True)  # first: any
print(train(model(), [(sums.view(64, 16) / 100, y)] * STEPS))
