# SPDX-License-Identifier: Apache-2.0
"""An LSTM over one long series by truncated backpropagation; then a tagger on packed sequences.

The hidden state is carried from step to step, detached.
"""
import argparse

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class Forecaster(nn.Module):
    def __init__(self, hidden, layers):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, layers)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state):
        y, state = self.rnn(x, state)
        return self.out(y), state


class Tagger(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Embedding(11, 8, padding_idx=0)
        self.rnn = nn.GRU(8, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, 2)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embed(words), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(hidden)


def forecast(steps, hidden, layers, bptt):
    time = torch.arange(bptt * steps + 1.0)
    series = torch.stack([torch.sin(time / (4 + k)) for k in range(8)], 1)[:, :, None]
    model = Forecaster(hidden, layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    state = None
    for i in range(steps):
        if state is not None:
            state = repackage_hidden(state)
        chunk = series[i * bptt:(i + 1) * bptt + 1]
        optimizer.zero_grad()
        prediction, state = model(chunk[:-1], state)
        loss = nn.functional.mse_loss(prediction, chunk[1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        if i % 6 == 0:
            print(f"chunk {i} loss {loss.item():.4f}")


def tag(steps, hidden):
    model = Tagger(hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    for i in range(steps):
        sentences = [torch.randint(1, 11, (int(n),)) for n in torch.randint(3, 12, (16,))]
        lengths = torch.tensor([len(s) for s in sentences])
        tags = pad_sequence([(s > s.float().mean()).long() for s in sentences], True, padding_value=-100)
        loss = criterion(model(pad_sequence(sentences, True), lengths).transpose(1, 2), tags)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 6 == 0:
            print(f"batch {i} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    hidden, layers, bptt = {"A": (16, 1, 15), "B": (24, 2, 10), "C": (12, 1, 25)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    forecast(args.steps, hidden, layers, bptt)
    tag(args.steps, hidden)
