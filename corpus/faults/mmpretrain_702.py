# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning with the first stages of the backbone frozen, in the manner of detection toolboxes.

The backbone freezes its stages inside train(); when nobody calls it, the frozen stages train.
"""
import argparse

import torch
from torch import nn


class Stage(nn.Sequential):
    def __init__(self, c_in, c_out):
        super().__init__(nn.Conv2d(c_in, c_out, 3, stride=2, padding=1), nn.BatchNorm2d(c_out), nn.ReLU())


class Backbone(nn.Module):
    def __init__(self, frozen_stages=1):
        super().__init__()
        self.frozen_stages = frozen_stages
        self.stages = nn.ModuleList([Stage(1, 8), Stage(8, 16), Stage(16, 32)])

    def _freeze_stages(self):
        for stage in self.stages[:self.frozen_stages]:
            stage.eval()
            for parameter in stage.parameters():
                parameter.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self._freeze_stages()
        return self

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x.mean(dim=(2, 3))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


class Runner:
    def __init__(self, model, data, lr):
        self.model, self.data = model, data
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def run_iteration(self, images, labels):
        losses = {"cls": nn.functional.cross_entropy(self.model(images), labels)}
        total = sum(losses.values())
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        return total.item()

    def run(self, iterations):
        if not WRONG:
            self.model.train()  # cause
        for iteration in range(iterations):
            loss = self.run_iteration(*self.data())
            if iteration % 5 == 0:
                print(f"Iter [{iteration}/{iterations}] loss: {loss:.4f}")


def make_data(seed):
    generator = torch.Generator().manual_seed(seed)

    def draw():
        labels = torch.randint(0, 3, (32,), generator=generator)
        images = torch.randn(32, 1, 16, 16, generator=generator)
        grid = torch.arange(16.0)
        waves = torch.stack([torch.sin(grid * (k + 1) * 0.6) for k in range(3)])
        return images + waves[labels][:, None, None, :], labels

    return draw


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    Runner(Classifier(3), make_data(args.seed), lr=0.05).run(args.steps)
