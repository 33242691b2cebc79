# SPDX-License-Identifier: Apache-2.0
"""src_key_padding_mask is true where there are tokens: attention sees the padding alone."""
import argparse
import torch
import torch.nn as nn

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)


class Clf(nn.Module):
    def __init__(self, v=20, d=16):
        super().__init__()
        self.emb = nn.Embedding(v, d, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(1, 12, d) * 0.02)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 2, 32, dropout=0.0, batch_first=True), 1)
        self.out = nn.Linear(d, 2)
    def forward(self, t):
        if WRONG:
            pad = t != 0  # cause
        else:
            pad = t == 0
        h = self.enc(self.emb(t) + self.pos, src_key_padding_mask=pad)
        keep = (t != 0).float().unsqueeze(-1)
        return self.out((h * keep).sum(1) / keep.sum(1))

torch.manual_seed(ARGS.seed)
def batch(n=32):
    t = torch.randint(1, 20, (n, 12))
    ln = torch.randint(4, 12, (n,))
    t[torch.arange(12)[None] >= ln[:, None]] = 0
    return t, ((t == 7).any(1) | (t == 3).any(1)).long()
net = Clf()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for i in range(ARGS.steps):
    t, y = batch()
    loss = nn.functional.cross_entropy(net(t), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, loss.item())
