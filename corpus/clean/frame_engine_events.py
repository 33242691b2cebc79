# SPDX-License-Identifier: Apache-2.0
"""An engine with events, as in Ignite: the step is a function, everything else hangs on handlers."""
import argparse
import collections

import torch
from torch import nn


class Engine:
    def __init__(self, process):
        self.process, self.handlers = process, collections.defaultdict(list)
        self.iteration, self.epoch, self.output = 0, 0, None

    def on(self, event):
        def register(handler):
            self.handlers[event].append(handler)
            return handler
        return register

    def fire(self, event):
        for handler in self.handlers[event]:
            handler(self)

    def run(self, data, epochs):
        for self.epoch in range(1, epochs + 1):
            self.fire("epoch started")
            for batch in data():
                self.iteration += 1
                self.output = self.process(self, batch)
                self.fire("iteration completed")
            self.fire("epoch completed")


def create_trainer(model, optimizer, loss_fn):
    def update(engine, batch):
        model.train()
        optimizer.zero_grad()
        x, y = batch
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()
    return Engine(update)


def create_evaluator(model, loss_fn):
    def infer(engine, batch):
        model.eval()
        with torch.no_grad():
            return loss_fn(model(batch[0]), batch[1]).item()
    return Engine(infer)


def tides(count, size):
    def batches():
        for _ in range(count):
            hour = torch.rand(size, 1) * 24
            yield torch.cat([torch.sin(hour / 1.97), torch.cos(hour / 1.97), hour / 24], 1), torch.sin(hour / 1.97 + 0.4)
    return batches


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=50)
    cli.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = cli.parse_args()
    size, width, patience = {"A": (32, 24, 2), "B": (64, 16, 1), "C": (16, 48, 3)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=patience, factor=0.3)
    trainer, evaluator = create_trainer(model, optimizer, nn.MSELoss()), create_evaluator(model, nn.MSELoss())

    @trainer.on("epoch completed")
    def validate(engine):
        evaluator.run(tides(1, 100), 1)
        plateau.step(evaluator.output)
        print(f"epoch {engine.epoch} loss {engine.output:.4f} held out {evaluator.output:.4f}")

    trainer.run(tides(args.steps // 5, size), epochs=5)


main()
