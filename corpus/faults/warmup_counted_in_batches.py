# SPDX-License-Identifier: Apache-2.0
"""Warm-up and linear decay are planned over all batches, and the scheduler is stepped once an epoch."""
import argparse
from functools import partial

import torch
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=72)
opts = parser.parse_args()
WRONG = opts.twin == "wrong"


class Parity(Dataset):
    """Rows of signs; the class is the parity of three of them."""

    def __init__(self, count, seed):
        signs = torch.randint(0, 2, (count, 9), generator=torch.Generator().manual_seed(seed))
        self.rows, self.odd = signs * 2.0 - 1, signs[:, :3].sum(1) % 2

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], self.odd[index]


def factor(warm, total, done):
    if done < warm:
        return (done + 1) / (warm + 1)
    return max(0.0, (total - done) / (total - warm))


def accuracy(net, rows):
    net.eval()
    with torch.no_grad():
        hits = (net(rows.rows).argmax(1) == rows.odd).float().mean().item()
    net.train()
    return hits


def fit():
    torch.set_num_threads(1)
    torch.manual_seed(opts.seed)
    batches, epochs = max(2, opts.steps // 9), 9
    rows, unseen = Parity(batches * 24, opts.seed), Parity(40, opts.seed + 1000)
    loader = DataLoader(rows, batch_size=24, shuffle=True, drop_last=True)
    net = torch.nn.Sequential(torch.nn.Linear(9, 48), torch.nn.GELU(), torch.nn.Linear(48, 2))
    adam = torch.optim.AdamW(net.parameters(), lr=2e-2, weight_decay=0.01)
    plan = LambdaLR(adam, partial(factor, 2, epochs * len(loader)))
    for epoch in range(epochs):
        total = 0.0
        for signs, odd in loader:
            adam.zero_grad()
            loss = F.cross_entropy(net(signs), odd)
            loss.backward()
            adam.step()
            total += loss.item()
            if not WRONG:
                plan.step()  # cause
        if WRONG:
            plan.step()
        print(f"epoch {epoch}  loss {total / len(loader):.4f}  hits {accuracy(net, unseen):.2f}")


fit()
