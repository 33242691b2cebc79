# SPDX-License-Identifier: Apache-2.0
"""Validation under no_grad, but in train mode: dropout is active and the running statistics follow the test data."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
opts = parser.parse_args()
WRONG = opts.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(opts.seed)


def wine(count):
    kind = torch.randint(0, 3, (count,))
    means = torch.tensor([[12.0, 1.7, 100.0, 2.5], [13.5, 3.2, 90.0, 1.2], [13.0, 2.2, 120.0, 0.8]])
    spread = torch.tensor([0.7, 0.8, 15.0, 0.6])
    return means[kind] + torch.randn(count, 4) * spread, kind


train_loader = DataLoader(TensorDataset(*wine(384)), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(*wine(96)), batch_size=32)
model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(opts.steps // len(train_loader)):
    model.train()
    train_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() / len(train_loader)

    if not WRONG:
        model.eval()  # cause
    hits = 0
    with torch.no_grad():
        for x, y in test_loader:
            hits += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: loss {train_loss:.4f}, accuracy {hits / 96:.3f}")
