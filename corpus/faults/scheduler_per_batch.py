# SPDX-License-Identifier: Apache-2.0
"""A schedule written in epochs and stepped every batch: the learning rate is gone in the first epoch."""
import argparse

import torch
from torch import nn, optim


class Fold:
    """Sequences of +1/-1; does the walk end above zero?"""

    def __init__(self, rng, size):
        self.rng, self.size = rng, size

    def __iter__(self):
        for _ in range(self.size):
            walk = torch.randint(0, 2, (32, 15), generator=self.rng) * 2.0 - 1
            yield walk, (walk.sum(1) > 0).float()


class Walker(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 20, batch_first=True)
        self.fc = nn.Linear(20, 1)

    def forward(self, walk):
        out, _ = self.lstm(walk.unsqueeze(-1))
        return self.fc(out[:, -1]).squeeze(-1)


def main(args):
    torch.manual_seed(args.seed)
    epochs = 6
    data = Fold(torch.Generator().manual_seed(args.seed), max(1, args.steps // epochs))
    model = Walker()
    optimizer = optim.Adam(model.parameters(), lr=2e-2)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.3)  # every two epochs
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        mean = 0.0
        for count, (walk, up) in enumerate(data, 1):
            optimizer.zero_grad()
            loss = bce(model(walk), up)
            loss.backward()
            optimizer.step()
            mean += (loss.item() - mean) / count
            if WRONG:
                scheduler.step()  # cause
        if not WRONG:
            scheduler.step()
        print(f"epoch {epoch + 1}/{epochs} loss {mean:.4f} lr {scheduler.get_last_lr()[0]:.2e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    WRONG = arguments.twin == "wrong"
    torch.set_num_threads(1)
    main(arguments)
