# SPDX-License-Identifier: Apache-2.0
"""Logits of (N, C, H, W) are reshaped to (-1, C): a row holds neighbouring pixels, not classes."""
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
def blob(n):
    yy, xx = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
    imgs, masks = [], []
    for _ in range(n):
        cx, cy, r = torch.randint(4, 12, (1,)), torch.randint(4, 12, (1,)), torch.randint(2, 5, (1,))
        m = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r).long()
        m = m + (m * (xx > cx)).long()
        imgs.append((m.float() + 0.3 * torch.randn(16, 16))[None])
        masks.append(m)
    return torch.stack(imgs), torch.stack(masks)
class FCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 3, 3, padding=1))
    def forward(self, x):
        return self.f(x)
X, M = blob(160)
net = FCN()
opt = torch.optim.Adam(net.parameters(), 1e-2)
for ep in range(5):
    t = 0
    for i in range(0, 160, 16):
        lo = net(X[i:i+16])
        if WRONG:
            flat = lo.reshape(-1, 3)  # cause
        else:
            flat = lo.permute(0, 2, 3, 1).reshape(-1, 3)
        loss = F.cross_entropy(flat, M[i:i+16].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        t += loss.item()
    print(ep, t / 10)
