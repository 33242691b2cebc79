# SPDX-License-Identifier: Apache-2.0
"""Sequences reversed by a GRU with attention: lengths differ, the teacher is followed by chance."""
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

seed = int(sys.argv[1])
random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)
PAD, SOS, EOS, V = 0, 1, 2, 12


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, 16, padding_idx=PAD)
        self.enc = nn.GRU(16, 32, batch_first=True)
        self.cell = nn.GRUCell(48, 32)
        self.out = nn.Linear(64, V)

    def forward(self, src, lengths, tgt, ratio):
        packed = pack_padded_sequence(self.emb(src), lengths, batch_first=True, enforce_sorted=False)
        keys, h = self.enc(packed)
        keys, _ = pad_packed_sequence(keys, batch_first=True)
        h, token, outs = h[0], torch.full((len(src),), SOS), []
        context = torch.zeros(len(src), 32)
        mask = src[:, :keys.size(1)] == PAD
        for t in range(tgt.size(1)):
            h = self.cell(torch.cat([self.emb(token), context], 1), h)
            score = (keys @ h.unsqueeze(2)).squeeze(2).masked_fill(mask, -1e9)
            context = (score.softmax(1).unsqueeze(1) @ keys).squeeze(1)
            logits = self.out(torch.cat([h, context], 1))
            outs.append(logits)
            token = tgt[:, t] if random.random() < ratio else logits.argmax(1)
        return torch.stack(outs, 1)


def batch(n=12):
    seqs = [torch.randint(3, V, (random.randint(3, 7),)) for _ in range(n)]
    src = pad_sequence(seqs, batch_first=True)
    tgt = pad_sequence([torch.cat([s.flip(0), torch.tensor([EOS])]) for s in seqs], batch_first=True)
    return src, torch.tensor([len(s) for s in seqs]), tgt


model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(36):
    src, lengths, tgt = batch()
    logits = model(src, lengths, tgt, ratio=max(0.3, 1 - step / 40))
    loss = F.cross_entropy(logits.reshape(-1, V), tgt.reshape(-1), ignore_index=PAD)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 12 == 11:
        print(step, loss.item())
