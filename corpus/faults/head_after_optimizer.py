# SPDX-License-Identifier: Apache-2.0
"""Transfer to a new task: the classifier is replaced after the optimizer was made, and never trains."""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim


class Pretrained(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 16, 3, 2), nn.ReLU())
        self.classifier = nn.Linear(16, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def load_pretrained(seed):
    torch.manual_seed(seed + 100)
    return Pretrained()


def leaves(n):
    target = torch.randint(0, 3, (n,))
    image = torch.rand(n, 3, 15, 15)
    image[torch.arange(n), target] += 0.5
    return image, target


def finetune(seed, steps):
    model = load_pretrained(seed)
    if WRONG:
        optimizer = optim.Adam(model.parameters(), lr=5e-3)  # cause
        model.classifier = nn.Linear(16, 3)
    else:
        model.classifier = nn.Linear(16, 3)
        optimizer = optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    model.train()
    step = 0
    while True:
        image, target = leaves(32)
        optimizer.zero_grad()
        out = model(image)
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print("[%3d] loss: %.3f" % (step, loss))
        step += 1
        if step > steps:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    finetune(args.seed, args.steps)
