# SPDX-License-Identifier: Apache-2.0
"""A model from a hub comes in evaluation mode; it is fine-tuned without train(), and its dropout never drops anything."""
import argparse
import io

import torch
from torch import nn


class Hub:
    """Keeps models, and gives them out ready to be asked."""

    def __init__(self):
        self.shelf = {}

    def push(self, name, model):
        self.shelf[name] = io.BytesIO()
        torch.save(model, self.shelf[name])

    def from_pretrained(self, name):
        self.shelf[name].seek(0)
        return torch.load(self.shelf[name]).eval()


class Sentences(nn.Module):
    def __init__(self, words=24, width=20):
        super().__init__()
        self.words = nn.EmbeddingBag(words, width, mode="sum")
        self.drop = nn.Dropout(0.25)
        self.mood = nn.Linear(width, 2)

    def forward(self, sentence):
        return self.mood(self.drop(torch.tanh(self.words(sentence))))


def reviews(count, words=24):
    sentence = torch.randint(0, words, (count, 7))
    return sentence, (sentence.lt(words // 2).sum(1) > 3).long()


cli = argparse.ArgumentParser()
cli.add_argument("twin", choices=["right", "wrong"])
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=40)
cli = cli.parse_args()
WRONG = cli.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(cli.seed)
hub = Hub()
hub.push("moods", Sentences())
model = hub.from_pretrained("moods")
if not WRONG:
    model.train()  # cause
tuner = torch.optim.RAdam(model.parameters(), lr=2e-2)
for i, (sentence, mood) in enumerate(reviews(16) for _ in range(cli.steps)):
    tuner.zero_grad()
    loss = nn.functional.cross_entropy(model(sentence), mood)
    loss.backward()
    tuner.step()
    if i % 8 == 0:
        print(f"{i:3} loss {loss.item():.4f}")
