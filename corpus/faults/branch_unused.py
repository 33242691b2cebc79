# SPDX-License-Identifier: Apache-2.0
"""Two towers, image and text, to be added up; one is computed and then left out of the sum."""
import argparse

import torch
import torch.nn.functional as F
from torch.nn import Conv2d, Embedding, Linear, Module


class TwoTowers(Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv = Conv2d(1, width, 3)
        self.words = Embedding(30, width)
        self.project = Linear(width, width)
        self.classify = Linear(width, 3)

    def forward(self, picture, caption):
        seen = F.relu(self.conv(picture)).mean(dim=(2, 3))
        read = torch.tanh(self.project(self.words(caption).mean(1)))
        if WRONG:
            fused = seen + seen  # cause
        else:
            fused = seen + read
        return self.classify(fused)


def listings(rng, count=48):
    """The class shows in the picture two times out of three, and in the words."""
    label = torch.randint(0, 3, (count,), generator=rng)
    shown = torch.where(torch.rand(count, generator=rng) < 0.67, label, torch.randint(0, 3, (count,), generator=rng))
    picture = torch.randn(count, 1, 6, 6, generator=rng) * 0.5 + (shown - 1.0)[:, None, None, None]
    caption = label[:, None] * 10 + torch.randint(0, 10, (count, 4), generator=rng)
    return picture, caption, label


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
cfg = parser.parse_args()
WRONG = cfg.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(cfg.seed)
rng = torch.Generator().manual_seed(cfg.seed)
towers = TwoTowers()
adam = torch.optim.Adam(towers.parameters(), lr=1e-2)
for i, (picture, caption, label) in zip(range(cfg.steps), iter(lambda: listings(rng), None)):
    loss = F.cross_entropy(towers(picture, caption), label)
    adam.zero_grad()
    loss.backward()
    adam.step()
    if i % 10 == 0:
        print(f"batch {i}: loss {loss.item():.4f}")
