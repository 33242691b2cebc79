# SPDX-License-Identifier: Apache-2.0
"""After the first validation the model stays in eval mode: no dropout, batch norm stands still."""
import argparse

import torch
import torch.nn as nn


def residual(width):
    return nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout2d(0.1))


class Net(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList([residual(width), residual(width)])
        self.fc = nn.Linear(width, 3)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.fc(x.amax(dim=(2, 3)))


def shapes(n):
    """Squares, rings and crosses on noise."""
    x, y = torch.randn(n, 1, 10, 10) * 0.4, torch.randint(0, 3, (n,))
    for image, kind in zip(x[:, 0], y.tolist()):
        r, c = torch.randint(0, 5, (2,)).tolist()
        if kind == 0:
            image[r:r + 5, c:c + 5] += 1
        elif kind == 1:
            image[r:r + 5, c:c + 5] += 1
            image[r + 1:r + 4, c + 1:c + 4] -= 1
        else:
            image[r + 2, c:c + 5] += 1
            image[r:r + 5, c + 2] += 1
    return x, y


def validate(model, data):
    model.eval()
    with torch.no_grad():
        x, y = data
        return (model(x).argmax(1) == y).float().mean().item()


def main(seed, steps, per_epoch=12):
    torch.manual_seed(seed)
    model, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    held_out = shapes(60)
    for epoch in range(steps // per_epoch):
        if not WRONG:
            model.train()  # cause
        running = 0.0
        for _ in range(per_epoch):
            x, y = shapes(32)
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch + 1} loss {running / per_epoch:.4f} accuracy {validate(model, held_out):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    main(args.seed, args.steps)
