# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning with a frozen feature extractor: no gradients, eval mode, not in the optimizer, and never moves."""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim


def extractor(depth):
    layers = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout2d(0.1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten())


def pictures(n, classes):
    y = torch.randint(0, classes, (n,))
    x = torch.randn(n, 1, 8, 8) * 0.4
    for image, k in zip(x[:, 0], y.tolist()):
        image[4 * (k // 2):4 * (k // 2) + 4, 4 * (k % 2):4 * (k % 2) + 4] += 1.0
    return x, y


def run(model, params, lr, steps, batch, classes, tag):
    optimizer = optim.SGD(params, lr=lr, momentum=0.9)
    for step in range(steps):
        x, y = pictures(batch, classes)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"{tag} {step} loss {loss.item():.4f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--steps", type=int, default=30)
    p.add_argument("--config", choices=["A", "B", "C"], default="A")
    a = p.parse_args()
    depth, batch, keep_in_optimizer = {"A": (2, 32, False), "B": (1, 16, True), "C": (3, 24, False)}[a.config]
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    body = extractor(depth)
    model = nn.Sequential(body, nn.Linear(32, 4))
    run(model, model.parameters(), 0.05, a.steps, batch, 4, "pretrain")
    for q in body.parameters():
        q.requires_grad = False
        q.grad = None
    body.eval()
    model[1] = nn.Linear(32, 2)
    # Handing over all parameters is harmless: frozen ones have no gradient and are passed over.
    params = model.parameters() if keep_in_optimizer else model[1].parameters()
    run(model, params, 0.1, a.steps, batch, 2, "fine-tune")


if __name__ == "__main__":
    main()
