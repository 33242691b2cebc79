# SPDX-License-Identifier: Apache-2.0
"""Images with captions through a processor that turns a batch of fifty into a batch of one."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Processor:
    """Pads, scales and stacks what the loader hands over."""

    def __init__(self, scale=4.0):
        self.scale = scale

    def __call__(self, samples):
        images = torch.stack([image for image, _ in samples]) / self.scale
        words = torch.tensor([word for _, word in samples])
        if WRONG:
            images, words = images[:1], words[:1]  # cause
        return {"pixel_values": images, "labels": words}


def catalogue(seed, count=600):
    g = torch.Generator().manual_seed(seed)
    samples = []
    for _ in range(count):
        word = int(torch.randint(0, 6, (1,), generator=g))
        image = torch.randn(3, 8, 8, generator=g)
        image[word % 3] += 2.0 if word < 3 else -2.0
        samples.append((image, word))
    return samples


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, stride=4)
        self.mix = nn.Linear(16, 32)
        self.head = nn.Linear(32, 6)

    def forward(self, pixel_values, labels):
        hidden = self.patch(pixel_values).flatten(2).mean(2)
        logits = self.head(torch.tanh(self.mix(hidden)))
        return F.cross_entropy(logits, labels), logits


def train(seed, steps):
    torch.manual_seed(seed)
    loader = DataLoader(catalogue(seed), batch_size=50, shuffle=True, collate_fn=Processor())
    model = Captioner()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    smooth, step = None, 0
    while True:
        for batch in loader:
            loss, _ = model(**batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
            if step % 6 == 0:
                print(f"step {step} loss {smooth:.4f}")
            step += 1
            if step >= steps:
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=48)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    train(args.seed, args.steps)
