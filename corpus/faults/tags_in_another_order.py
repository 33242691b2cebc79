# SPDX-License-Identifier: Apache-2.0
"""Logits have the time first, tags the batch: both are flattened as they are."""
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

torch.manual_seed(ARGS.seed)
V, K, T = 20, 4, 9
tag = torch.randint(0, K, (V,))
class Tagger(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Embedding(V, 16)
        s.r = nn.GRU(16, 24, bidirectional=True)
        s.o = nn.Linear(48, K)
    def forward(s, x):  # x (T, B)
        return s.o(s.r(s.e(x))[0])
m = Tagger()
opt = torch.optim.Adam(m.parameters(), 1e-2)
ce = nn.CrossEntropyLoss()
for i in range(ARGS.steps):
    x = torch.randint(0, V, (16, T))
    y = tag[x]
    out = m(x.t())
    if WRONG:
        loss = ce(out.reshape(-1, K), y.reshape(-1))  # cause
    else:
        loss = ce(out.reshape(-1, K), y.t().reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 15 == 0:
        print(i, loss.item())
