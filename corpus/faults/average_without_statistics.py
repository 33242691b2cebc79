# SPDX-License-Identifier: Apache-2.0
"""An averaged model is evaluated without update_bn(): its statistics are those of an untrained one."""
import argparse
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn
from torch.utils.data import DataLoader, TensorDataset

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)

torch.manual_seed(ARGS.seed)
X = torch.randn(480, 12) * 3 + 1
Y = (X[:, :4].sum(1) > X[:, 4:8].sum(1)).long()
train = DataLoader(TensorDataset(X[:400], Y[:400]), 40, shuffle=True)
net = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
swa = AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
sched = SWALR(opt, swa_lr=0.02, anneal_epochs=2)
for ep in range(8):
    net.train()
    for xb, yb in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
    if ep >= 3:
        swa.update_parameters(net)
        sched.step()
    print(ep, loss.item())
if not WRONG:
    update_bn(train, swa)  # cause
swa.eval()
with torch.no_grad():
    print((swa(X[400:]).argmax(1) == Y[400:]).float().mean().item())
