# SPDX-License-Identifier: Apache-2.0
"""How much is in the features: a linear classifier on a convolutional body that nobody trains, its norms in eval mode."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Textures(Dataset):
    """Stripes in one of four directions; rows are copied before noise is laid over them."""

    def __init__(self, count, side=12):
        self.kind = torch.randint(0, 4, (count,))
        y, x = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
        waves = torch.stack([torch.sin(1.3 * d) for d in (x, y, x + y, x - y)])
        self.images = waves[self.kind].unsqueeze(1).float()

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, place):
        image = self.images[place].clone()
        image += 0.5 * torch.randn(image.shape)
        return image, self.kind[place]


def body(channels, with_norm=True):
    stem = [nn.Conv2d(1, channels, 5, padding=2)] + ([nn.BatchNorm2d(channels)] if with_norm else [])
    return nn.Sequential(*stem, nn.GELU(), nn.MaxPool2d(2), nn.Conv2d(channels, channels, 3), nn.BatchNorm2d(channels),
                         nn.GELU(), nn.AdaptiveMaxPool2d(2), nn.Flatten())


class Probe(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.features = features.requires_grad_(False)
        self.classify = nn.Linear(4 * features[0].out_channels, classes)

    def train(self, mode=True):
        super().train(mode)
        self.features.eval()
        return self

    def forward(self, image):
        return self.classify(self.features(image))


def settle(features, loader):
    """The norms have to know the data once; after that they stay as they are."""
    with torch.no_grad():
        for image, _ in loader:
            features.train()(image)


def accuracy(probe, loader):
    probe.eval()
    with torch.no_grad():
        right = sum((probe(image).argmax(1) == kind).sum().item() for image, kind in loader)
    return right / len(loader.dataset)


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=48)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
options = parser.parse_args()
channels, size, rule = {"A": (8, 16, torch.optim.SGD), "B": (12, 24, torch.optim.Adam), "C": (6, 8, torch.optim.RMSprop)}[options.config]
torch.set_num_threads(1)
torch.manual_seed(options.seed)
training, test = DataLoader(Textures(size * 8), batch_size=size, shuffle=True), DataLoader(Textures(size * 3), batch_size=size)
probe = Probe(body(channels), 4)
settle(probe.features, training)
update = rule(probe.classify.parameters(), lr=0.02)
for epoch in range(max(1, options.steps // 8)):
    probe.train()
    for image, kind in training:
        loss = nn.functional.cross_entropy(probe(image), kind)
        update.zero_grad()
        loss.backward()
        update.step()
    print(f"epoch {epoch}: last loss {loss.item():.4f}, accuracy {accuracy(probe, test):.3f}")
