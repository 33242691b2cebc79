# SPDX-License-Identifier: Apache-2.0
"""A frozen backbone with batch norm: model.train() wakes the norms, and their statistics follow the small new data."""
import argparse

import torch
import torch.nn as nn


def backbone():
    return nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU())


def pretrain(body, steps):
    head = nn.Linear(16, 4)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
    for _ in range(steps):
        x = torch.randn(64, 16)
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(body(x)), x[:, :4].argmax(1)).backward()
        optimizer.step()


class FineTune(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.head = body, nn.Linear(16, 2)
        for p in self.body.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.head(self.body(x))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    body = backbone()
    pretrain(body, args.steps)
    model = FineTune(body)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
    model.train()
    if not WRONG:
        model.body.eval()  # cause
    for step in range(args.steps):
        x = torch.randn(12, 16) * 1.5 + 0.5
        y = (x[:, 0] > x[:, 1]).long()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 7 == 0:
            print(f"fine-tune {step} loss {loss.item():.4f}")
