# SPDX-License-Identifier: Apache-2.0
"""A transformer that predicts the next token is given no causal mask."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)

torch.manual_seed(ARGS.seed)
V, T = 20, 10
class GPT(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Embedding(V, 32)
        s.p = nn.Parameter(torch.zeros(1, T, 32))
        s.b = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 1)
        s.h = nn.Linear(32, V)
    def forward(s, t):
        n = t.shape[1]
        if WRONG:
            z = s.b(s.e(t) + s.p[:, :n])  # cause
        else:
            mask = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
            z = s.b(s.e(t) + s.p[:, :n], mask=mask)
        return s.h(z)
g = GPT()
opt = torch.optim.AdamW(g.parameters(), 3e-3)
P = torch.softmax(torch.randn(V, V) * 1.5, 1)
for i in range(ARGS.steps):
    t = [torch.randint(0, V, (24,))]
    for _ in range(T):
        t.append(torch.multinomial(P[t[-1]], 1).squeeze(1))
    t = torch.stack(t, 1)
    loss = F.cross_entropy(g(t[:, :-1]).reshape(-1, V), t[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, loss.item())
