# SPDX-License-Identifier: Apache-2.0
"""A Learner with two-way callbacks: they may skip the step, clear gradients themselves, or stop the fit."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn, optim


class CancelStep(Exception):
    pass


class CancelFit(Exception):
    pass


class Callback:
    order = 0

    def __getattr__(self, name):
        if name.startswith(("before_", "after_")):
            return lambda: None
        raise AttributeError(name)


class Accumulate(Callback):
    def __init__(self, rows):
        self.rows, self.seen = rows, 0

    def after_backward(self):
        self.seen += len(self.learn.yb)
        if self.seen < self.rows:
            raise CancelStep
        for p in self.learn.model.parameters():
            p.grad /= self.seen
        self.seen = 0


class Recorder(Callback):
    order = 50

    def after_batch(self):
        if self.learn.iteration % 10 == 0:
            print(f"{self.learn.iteration} loss {self.learn.loss.item() / len(self.learn.yb):.4f}")


class StopAfter(Callback):
    def __init__(self, steps):
        self.steps = steps

    def after_batch(self):
        if self.learn.iteration + 1 >= self.steps:
            raise CancelFit


class Learner:
    def __init__(self, model, data, loss, opt, callbacks):
        self.model, self.data, self.loss_func, self.opt = model, data, loss, opt
        self.callbacks = sorted(callbacks, key=lambda c: c.order)
        for callback in self.callbacks:
            callback.learn = self

    def __call__(self, event):
        for callback in self.callbacks:
            getattr(callback, event)()

    def one_batch(self):
        self.loss = self.loss_func(self.model(self.xb), self.yb)
        self.loss.backward()
        try:
            self("after_backward")
            self.opt.step()
            self("after_step")
            self.opt.zero_grad()
        except CancelStep:
            pass
        self("after_batch")

    def fit(self):
        self.iteration = -1
        try:
            for self.xb, self.yb in self.data:
                self.iteration += 1
                self.one_batch()
        except CancelFit:
            self("after_fit")


def letters(size):
    while True:
        y = torch.randint(0, 4, (size,))
        yield F.one_hot(y, 4).float().repeat(1, 3) + torch.randn(size, 12), y


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=70)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
cfg = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(cfg.seed)
size, rows, lr = {"A": (16, 48, 0.2), "B": (32, 32, 0.1), "C": (8, 64, 0.3)}[cfg.config]
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
criterion = nn.CrossEntropyLoss(reduction="sum")
Learner(net, letters(size), criterion, optim.SGD(net.parameters(), lr=lr), [Accumulate(rows), Recorder(), StopAfter(cfg.steps)]).fit()
