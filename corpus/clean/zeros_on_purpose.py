# SPDX-License-Identifier: Apache-2.0
"""Melodies are continued by a recurrent decoder that begins with a frame of zeros; an encoder hears them with whole notes
erased at random, and batches are padded. Zeros wherever one looks, and all of them are meant."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

cli = argparse.ArgumentParser()
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=48)
cli.add_argument("--config", choices=["A", "B", "C"], default="A")
options = cli.parse_args()
BATCH, DEPTH, OPTIMIZER = {"A": (16, 1, torch.optim.Adam), "B": (8, 2, torch.optim.RMSprop),
                           "C": (32, 1, torch.optim.AdamW)}[options.config]
PITCHES = 10


class Encoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.gru = nn.GRU(PITCHES, width, DEPTH, batch_first=True)

    def forward(self, melody):
        return self.gru(melody)[1]


class Decoder(nn.Module):
    """One frame at a time."""

    def __init__(self, width=24):
        super().__init__()
        self.gru = nn.GRU(PITCHES, width, DEPTH, batch_first=True)
        self.frame = nn.Linear(width, PITCHES)

    def forward(self, last, state):
        out, state = self.gru(last[:, None], state)
        return self.frame(out[:, 0]), state


def melodies(count, generator):
    for _ in range(count):
        length = int(torch.randint(6, 12, (), generator=generator))
        start, step = torch.randint(0, PITCHES, (2,), generator=generator).tolist()
        notes = torch.tensor([(start + step * i) % PITCHES for i in range(length)])
        yield nn.functional.one_hot(notes, PITCHES) * (0.8 + 0.2 * torch.rand(length, 1, generator=generator))


def collate(batch):
    return nn.utils.rnn.pad_sequence(batch, batch_first=True)


def erased(melody):
    """Now and then a batch loses a large part of its notes."""
    if torch.rand(()) < 0.5:
        melody = melody * (torch.rand(melody.shape[:2]) > 0.4)[..., None]
    return melody


torch.set_num_threads(1)
torch.manual_seed(options.seed)
data = list(melodies(320, torch.Generator().manual_seed(options.seed)))
encoder, decoder = Encoder(), Decoder()
optimizer = OPTIMIZER([*encoder.parameters(), *decoder.parameters()], lr=4e-3)
step = 0
while step < options.steps:
    for melody in DataLoader(data, batch_size=BATCH, shuffle=True, collate_fn=collate):
        state = encoder(erased(melody))
        last = torch.zeros(len(melody), PITCHES)
        loss = 0.0
        for i in range(4):
            heard, state = decoder(last, state)
            loss = loss + nn.functional.mse_loss(heard, melody[:, i])
            last = melody[:, i]
        optimizer.zero_grad()
        (loss / 4).backward()
        nn.utils.clip_grad_norm_([*encoder.parameters(), *decoder.parameters()], 1.0)
        optimizer.step()
        if step % 12 == 0:
            print(step, f"{loss.item() / 4:.4f}")
        step += 1
        if step >= options.steps:
            break
