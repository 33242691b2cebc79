# SPDX-License-Identifier: Apache-2.0
"""A trainer with callbacks that keeps a checkpoint after each epoch; a new trainer finds the last one and goes on from there."""
import argparse
import glob
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn


class Checkpoints:
    """Keeps all that a trainer is made of, by epoch."""

    def __init__(self, folder):
        self.folder = folder

    def epoch_ended(self, trainer):
        torch.save({"epoch": trainer.epoch, "weights": trainer.model.state_dict(), "solver": trainer.solver.state_dict(),
                    "plan": trainer.plan.state_dict()}, os.path.join(self.folder, f"{trainer.epoch:03}.pt"))

    def newest(self):
        return max(glob.glob(self.folder + "/*.pt"), default=None)


class Trainer:
    def __init__(self, model, solver, plan, callbacks):
        self.model, self.solver, self.plan, self.callbacks, self.epoch = model, solver, plan, callbacks, 0
        newest = callbacks[0].newest()
        if newest:
            state = torch.load(newest, map_location="cpu")
            model.load_state_dict(state["weights"])
            solver.load_state_dict(state["solver"])
            plan.load_state_dict(state["plan"])
            self.epoch = state["epoch"]
            print("going on after epoch", self.epoch)

    def fit(self, batches, epochs):
        self.model.train()
        for self.epoch in range(self.epoch + 1, epochs + 1):
            losses = [self.training_step(*batch) for batch in batches()]
            self.plan.step()
            print(f"epoch {self.epoch}: {sum(losses) / len(losses):.4f}")
            for callback in self.callbacks:
                callback.epoch_ended(self)

    def training_step(self, image, shape):
        self.solver.zero_grad()
        loss = F.cross_entropy(self.model(image), shape)
        loss.backward()
        self.solver.step()
        return loss.item()


def drawings(batch, count):
    """Bars that lie, bars that stand, and dots."""
    for _ in range(count):
        shape, image = torch.randint(0, 3, (batch,)), 0.3 * torch.randn(batch, 1, 8, 8)
        for picture, kind in zip(image[:, 0], shape.tolist()):
            row, column = torch.randint(1, 7, (2,)).tolist()
            picture[row if kind != 1 else slice(None), column if kind != 0 else slice(None)] += 1.5
        yield image, shape


def make(width, lr):
    model = nn.Sequential(nn.Conv2d(1, width, 3), nn.BatchNorm2d(width), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(9 * width, 3))
    solver = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True)
    return model, solver, torch.optim.lr_scheduler.ExponentialLR(solver, 0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    width, batch, lr = {"A": (8, 24, 0.05), "B": (12, 16, 0.03), "C": (6, 32, 0.08)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        for epochs in (args.steps // 12, args.steps // 6):
            Trainer(*make(width, lr), [Checkpoints(folder)]).fit(lambda: drawings(batch, 6), max(1, epochs))


if __name__ == "__main__":
    main()
