# SPDX-License-Identifier: Apache-2.0
"""A sequence model that is trained and then asked to continue prompts of several lengths.

generate() is given max_new_tokens; with prompts longer than the window it writes more than that.
"""
import argparse

import torch
from torch import nn

WINDOW = 12


class Model(nn.Module):
    def __init__(self, symbols=10, width=40):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, symbols)

    def forward(self, ids):
        return self.head(self.lstm(self.embed(ids))[0])

    @torch.no_grad()
    def generate(self, ids, max_new_tokens):
        prompt = ids[:, -WINDOW:]
        if WRONG:
            limit = ids.shape[1] + max_new_tokens  # cause
        else:
            limit = prompt.shape[1] + max_new_tokens
        while prompt.shape[1] < limit:
            logits = self(prompt[:, -WINDOW:])[:, -1]
            prompt = torch.cat([prompt, logits.argmax(-1, keepdim=True)], 1)
        return prompt[:, min(ids.shape[1], WINDOW):]


def sequences(count, length, rng):
    first = torch.randint(0, 10, (count, 1), generator=rng)
    return (first + 3 * torch.arange(length)) % 10


def fit(model, steps, rng):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for step in range(steps):
        batch = sequences(16, WINDOW + 1, rng)
        optimizer.zero_grad()
        loss = criterion(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


def main():
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = torch.Generator().manual_seed(args.seed)
    model = Model()
    fit(model, args.steps, rng)
    model.eval()
    for length in (4, 8, 20, 30):
        answer = model.generate(sequences(2, length, rng), max_new_tokens=5)
        print("prompt of", length, "->", answer[0].tolist()[:5])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    main()
