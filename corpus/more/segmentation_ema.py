# SPDX-License-Identifier: Apache-2.0
"""A small U-Net with a dice loss: flips by chance, an average by hand, steps with a rate that falls at milestones."""
import copy
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(2, o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = block(1, 8), block(8, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.u1, self.out = block(16, 8), nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        return self.out(self.u1(torch.cat([a, self.up(b)], dim=1)))


def batch(n=8):
    yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    c, r = 4 + 8 * torch.rand(n, 2, 1, 1), 2 + 3 * torch.rand(n, 1, 1)
    mask = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2 < r ** 2).float().unsqueeze(1)
    image = mask + 0.4 * torch.randn(n, 1, 16, 16)
    if torch.rand(1).item() < 0.5:
        image, mask = torch.flip(image, [3]), torch.flip(mask, [3])
    if torch.rand(1).item() < 0.25:
        image, mask = image.transpose(2, 3), mask.transpose(2, 3)
    return image, mask


def dice(logits, mask):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


model = UNet()
ema = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[15, 25], gamma=0.3)
for step in range(32):
    x, y = batch()
    out = model(x)
    loss = dice(out, y) + F.binary_cross_entropy_with_logits(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.1)
    if step % 8 == 7:
        ema.eval()
        with torch.no_grad():
            x, y = batch()
            print(step, loss.item(), 1 - dice(ema(x), y).item())
