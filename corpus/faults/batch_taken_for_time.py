# SPDX-License-Identifier: Apache-2.0
"""An LSTM without batch_first is given the batch first."""
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

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if WRONG:
            self.lstm = nn.LSTM(4, 24)  # cause
        else:
            self.lstm = nn.LSTM(4, 24, batch_first=True)
        self.fc = nn.Linear(24, 1)
    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1]).squeeze(-1)
torch.manual_seed(ARGS.seed)
X = torch.randn(200, 10, 4)
y = X[:, :, 0].sum(1) / 3
net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-2)
crit = nn.MSELoss()
for ep in range(5):
    for b in torch.randperm(200).split(20):
        loss = crit(net(X[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(ep, loss.item())
