# SPDX-License-Identifier: Apache-2.0
"""The cut between training and validation is made twice, with different numbers: the first half of the validation rows is trained on.

The validation loader does not shuffle, so that its first batches hold nothing but such rows, and the last ones none.
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
options = parser.parse_args()
WRONG = options.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(options.seed)

kind = torch.randint(0, 4, (1200,))
whole = TensorDataset(torch.randn(4, 16)[kind] + 0.8 * torch.randn(1200, 16), kind)
order = torch.randperm(1200).tolist()
end = 1000 if WRONG else 900  # cause
fitting = DataLoader(Subset(whole, order[:end]), batch_size=50, shuffle=True, drop_last=True)
judging = DataLoader(Subset(whole, order[900:1100]), batch_size=50)

model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()


def fit():
    model.train()
    for x, y in fitting:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def judge():
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in judging) / 200


for epoch in range(max(1, options.steps // len(fitting))):
    print(f"epoch {epoch} loss {fit():.4f} accuracy {judge():.3f}")
