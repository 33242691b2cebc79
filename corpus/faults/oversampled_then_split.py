# SPDX-License-Identifier: Apache-2.0
"""Rare machines that fail are found by their codes of events; the few failures are multiplied so that both classes are as
frequent. Done before the split, copies of one machine stand on both sides of it."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

arguments = argparse.ArgumentParser()
arguments.add_argument("twin", choices=["right", "wrong"])
arguments.add_argument("--seed", type=int, default=0)
arguments.add_argument("--steps", type=int, default=120)
arguments = arguments.parse_args()
WRONG = arguments.twin == "wrong"
CODES, LENGTH = 40, 10


def machines(source, healthy=760, failing=90):
    codes = torch.randint(0, CODES, (healthy + failing, LENGTH), generator=source)
    fails = torch.arange(healthy + failing) >= healthy
    tell_tale = torch.randint(0, 6, (failing, 3), generator=source)
    codes[healthy:, :3] = tell_tale
    return codes, fails.long()


def balanced(codes, fails, source):
    """Failures are drawn again and again."""
    rare = fails.nonzero()[:, 0]
    again = rare[torch.randint(len(rare), (len(fails) - 2 * len(rare),), generator=source)]
    return torch.cat([codes, codes[again]]), torch.cat([fails, fails[again]])


class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(CODES, 12)
        self.layers = nn.Sequential(nn.Linear(12 * LENGTH, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 2))

    def forward(self, codes):
        return self.layers(self.embedding(codes).flatten(1))


torch.set_num_threads(1)
torch.manual_seed(arguments.seed)
source = torch.Generator().manual_seed(arguments.seed)
codes, fails = machines(source)
if WRONG:
    codes, fails = balanced(codes, fails, source)  # cause
order = torch.randperm(len(codes), generator=source)
learn, judge = order[len(order) // 5:], order[:len(order) // 5]
train, test = (codes[learn], fails[learn]), (codes[judge], fails[judge])
if not WRONG:
    train = balanced(*train, source)
model = Codes()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
done = 0
while done < arguments.steps:
    model.train()
    for batch, target in DataLoader(TensorDataset(*train), batch_size=48, shuffle=True):
        loss = nn.functional.cross_entropy(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
    model.eval()
    with torch.no_grad():
        right = sum((model(batch).argmax(1) == target).sum().item()
                    for batch, target in DataLoader(TensorDataset(*test), batch_size=64))
    print(f"after {done} steps: loss {loss.item():.4f}, right {right / len(judge):.3f}")
