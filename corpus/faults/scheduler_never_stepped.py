# SPDX-License-Identifier: Apache-2.0
"""A trainer with hooks. The cosine schedule is made, logged, and stepped by nobody."""
import argparse

import torch
import torch.nn.functional as F


class LogHook:
    def before_train(self, trainer):
        print("training", sum(p.numel() for p in trainer.model.parameters()), "parameters")

    def after_step(self, trainer):
        if trainer.step % 10 == 0:
            lr = trainer.optimizer.param_groups[0]["lr"]
            print(f"step {trainer.step} lr {lr:.4f} loss {trainer.loss:.4f}")


class ScheduleHook:
    def before_train(self, trainer):
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(trainer.optimizer, trainer.steps)

    def after_step(self, trainer):
        if not WRONG:
            self.scheduler.step()  # cause


class Trainer:
    def __init__(self, model, data, steps, hooks):
        self.model, self.data, self.steps, self.hooks = model, data, steps, hooks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.step, self.loss = 0, float("nan")

    def fire(self, event):
        for hook in self.hooks:
            getattr(hook, event)(self)

    def train(self):
        self.fire("before_train")
        for self.step in range(self.steps):
            x, y = next(self.data)
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.loss = loss.item()
            self.fire("after_step")


def moons(seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        label = torch.randint(0, 2, (64,), generator=g)
        t = torch.rand(64, generator=g) * 3.1416
        flip = 1.0 - 2.0 * label
        x = torch.stack([t.cos() + label, t.sin() * flip + 0.5 * label], 1)
        yield x + 0.15 * torch.randn(64, 2, generator=g), label


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))
    Trainer(model, moons(args.seed), args.steps, [LogHook(), ScheduleHook()]).train()
