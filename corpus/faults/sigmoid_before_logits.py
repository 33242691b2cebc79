# SPDX-License-Identifier: Apache-2.0
"""Which of five tags a song has: the model ends in a sigmoid, and BCEWithLogitsLoss applies another."""
import argparse
import dataclasses

import torch
from torch import nn


@dataclasses.dataclass
class Settings:
    twin: str
    seed: int
    steps: int


class Tagger(nn.Module):
    tags = 5

    def __init__(self, bands):
        super().__init__()
        self.norm = nn.LayerNorm(bands)
        self.mix = nn.Bilinear(bands, bands, 12)
        self.out = nn.Linear(12, self.tags)

    def forward(self, spectrum):
        clean = self.norm(spectrum)
        scores = self.out(torch.relu(self.mix(clean, clean)))
        if WRONG:
            return torch.sigmoid(scores)  # cause
        return scores


def songs(count, bands):
    tags = (torch.rand(count, Tagger.tags) < 0.3).float()
    sound = torch.randn(count, bands) * 0.4
    sound[:, :Tagger.tags] += 2 * tags
    return sound, tags


def main(settings):
    tagger, judge = Tagger(8), nn.BCEWithLogitsLoss()
    trainer = torch.optim.NAdam(tagger.parameters(), lr=4e-3)
    for number in range(settings.steps):
        sound, tags = songs(40, 8)
        trainer.zero_grad()
        loss = judge(tagger(sound), tags)
        loss.backward()
        trainer.step()
        if number % 10 == 9:
            print(f"[{number + 1}] loss {loss:.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
chosen = Settings(**vars(parser.parse_args()))
WRONG = chosen.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(chosen.seed)
main(chosen)
