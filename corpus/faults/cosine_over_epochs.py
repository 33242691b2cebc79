# SPDX-License-Identifier: Apache-2.0
"""A cosine from one rate to a third of it, over the epochs; the trainer steps it after every batch."""
import argparse
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn, optim


@dataclass
class Recipe:
    epochs: int = 5
    rate: float = 0.09
    floor: float = 0.03
    sizes: list[int] = field(default_factory=lambda: [6, 24, 24, 1])


class Trainer:
    def __init__(self, recipe: Recipe):
        self.recipe = recipe
        layers: list[nn.Module] = []
        for wide, narrow in zip(recipe.sizes, recipe.sizes[1:]):
            layers += [nn.Linear(wide, narrow), nn.Tanh()]
        self.net = nn.Sequential(*layers[:-1])
        self.sgd = optim.SGD(self.net.parameters(), lr=recipe.rate, momentum=0.8)
        self.cosine = optim.lr_scheduler.CosineAnnealingLR(self.sgd, T_max=recipe.epochs, eta_min=recipe.floor)

    def one(self, x: Tensor, y: Tensor) -> float:
        self.sgd.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.sgd.step()
        if WRONG:
            self.cosine.step()  # cause
        return loss.item()

    def run(self, x: Tensor, y: Tensor, batches: int) -> None:
        for epoch in range(self.recipe.epochs):
            order = torch.randperm(len(x)).chunk(batches)
            losses = [self.one(x[rows], y[rows]) for rows in order]
            if not WRONG:
                self.cosine.step()
            print(f"{epoch}: {sum(losses) / len(losses):.5f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=["right", "wrong"])
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=60)
    given = cli.parse_args()
    WRONG = given.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    inputs = torch.rand(360, 6)
    wanted = torch.sin(3 * inputs[:, :1]) * inputs[:, 1:2] - inputs[:, 2:3]
    Trainer(Recipe()).run(inputs, wanted, max(1, given.steps // 5))
