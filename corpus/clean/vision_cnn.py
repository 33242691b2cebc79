# SPDX-License-Identifier: Apache-2.0
"""Image classification: convolution, batch norm, dropout, one-cycle schedule, accuracy every epoch."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

CONFIGS = {"A": dict(batch=32, depth=2, optimizer="sgd"),
           "B": dict(batch=16, depth=3, optimizer="adam"),
           "C": dict(batch=64, depth=1, optimizer="adamw")}


class ConvNet(nn.Module):
    def __init__(self, depth, classes=4):
        super().__init__()
        blocks, channels = [], 3
        for level in range(depth):
            width = 8 * 2 ** level
            blocks += [nn.Conv2d(channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
                       nn.ReLU(inplace=True), nn.MaxPool2d(2)]
            channels = width
        self.features = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(0.2)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.features(x)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.classifier(self.dropout(x))


def make_images(count):
    labels = torch.randint(0, 4, (count,))
    images = torch.rand(count, 3, 16, 16)
    for image, label in zip(images, labels):
        if label < 2:
            image[:, ::2 + int(label)] += 0.8
        else:
            image[:, :, ::int(label)] += 0.8
    return (images - 0.6) / 0.4, labels


def train_epoch(model, loader, optimizer, scheduler, budget):
    model.train()
    losses = []
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if len(losses) == budget:
            break
    return losses


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct = total = 0
    for images, labels in loader:
        correct += (model(images).argmax(1) == labels).sum().item()
        total += len(labels)
    return correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--config", choices=CONFIGS, default="A")
    args = parser.parse_args()
    config = CONFIGS[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    train_set, test_set = random_split(TensorDataset(*make_images(400)), [320, 80])
    train_loader = DataLoader(train_set, batch_size=config["batch"], shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, batch_size=80)
    model = ConvNet(config["depth"])
    optimizer = {"sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
                 "adam": lambda p: torch.optim.Adam(p, lr=3e-3),
                 "adamw": lambda p: torch.optim.AdamW(p, lr=3e-3)}[config["optimizer"]](model.parameters())
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05 if args.config == "A" else 5e-3,
                                                    total_steps=args.steps)
    left, epoch = args.steps, 0
    while left:
        losses = train_epoch(model, train_loader, optimizer, scheduler, left)
        left, epoch = left - len(losses), epoch + 1
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} accuracy {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
