# SPDX-License-Identifier: Apache-2.0
"""A masked language model: as many words are masked as chance has it, layers are dropped by chance, an epoch is saved."""
import os
import sys
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
V, L, MASK = 30, 12, 29


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, 32), nn.Parameter(torch.zeros(1, L, 32))
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(3)])
        self.head = nn.Linear(32, V)

    def forward(self, x):
        h = self.tok(x) + self.pos
        for layer in self.layers:
            if self.training and torch.rand(1).item() < 0.2:
                continue
            h = layer(h)
        return self.head(h)


def mask_words(x):
    chosen = torch.rand(x.shape) < 0.15
    inputs = x.clone()
    inputs[chosen & (torch.rand(x.shape) < 0.8)] = MASK
    labels = x.clone()
    labels[~chosen] = -100
    return inputs, labels


words = torch.arange(L).unsqueeze(0) * 2 + torch.randint(0, 6, (96, 1))
model = Encoder()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
folder = tempfile.mkdtemp()
for epoch in range(4):
    model.train()
    for rows in words[torch.randperm(96)].split(12):
        inputs, labels = mask_words(rows)
        if (labels != -100).sum() == 0:
            continue
        loss = F.cross_entropy(model(inputs).view(-1, V), labels.view(-1), ignore_index=-100)
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "epoch": epoch}, os.path.join(folder, "last.pt"))
    model.eval()
    with torch.no_grad():
        inputs, labels = mask_words(words[:24])
        hit = model(inputs).argmax(-1)[labels != -100] == labels[labels != -100]
    print(epoch, loss.item(), hit.float().mean().item())
