# SPDX-License-Identifier: Apache-2.0
"""A trainer that plans its optimizer steps ahead, with accumulation, and plans too few.

The last batches of every epoch do not fill a window; the plan counts them wrongly, training
stops early, and the learning rate never arrives where the schedule wanted it.
"""
import argparse
import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


class Plan:
    def __init__(self, batches, accumulate, epochs):
        self.accumulate, self.epochs = accumulate, epochs
        per_epoch = math.ceil(batches / accumulate)
        if WRONG:
            per_epoch = batches // (accumulate + 1)  # cause
        self.total = per_epoch * epochs


class Trainer:
    def __init__(self, model, loader, accumulate, epochs):
        self.model, self.loader = model, loader
        self.plan = Plan(len(loader), accumulate, epochs)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        wanted = math.ceil(len(loader) / accumulate) * epochs
        self.scheduler = LambdaLR(self.optimizer, lambda step: max(0.0, 1 - step / wanted))
        self.global_step = 0

    def windows(self):
        window = []
        for batch in self.loader:
            window.append(batch)
            if len(window) == self.plan.accumulate:
                yield window
                window = []
        if window:
            yield window

    def train(self):
        for epoch in range(self.plan.epochs):
            for window in self.windows():
                rows = sum(len(x) for x, _ in window)
                total = 0.0
                self.optimizer.zero_grad()
                for x, y in window:
                    loss = nn.functional.mse_loss(self.model(x), y, reduction="sum") / rows
                    loss.backward()
                    total += loss.item()
                self.optimizer.step()
                self.scheduler.step()
                self.global_step += 1
                if self.global_step % 4 == 0:
                    print({"epoch": epoch, "step": self.global_step, "loss": round(total, 4)})
                if self.global_step >= self.plan.total:
                    print(f"training completed: {self.global_step} steps")
                    return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=24)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    x = torch.randn(500, 6)
    y = (x[:, :1] * x[:, 1:2]) + 0.5 * x[:, 2:3]
    loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
    model = nn.Sequential(nn.Linear(6, 48), nn.SiLU(), nn.Linear(48, 1))
    Trainer(model, loader, accumulate=3, epochs=max(1, args.steps // 8)).train()
