# SPDX-License-Identifier: Apache-2.0
"""A table prepared with numpy: weights of the classes come from the data, the rate falls on a plateau, it stops early."""
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(sys.argv[1])
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)
n = 400
age, spend, kind = np.random.normal(40, 12, n), np.random.lognormal(3, 1, n), np.random.randint(0, 3, n)
score = 0.05 * (age - 40) - 0.4 * np.log(spend / 20) + 0.8 * (kind == 2)
y = (score + np.random.normal(0, 0.7, n) > 0.9).astype("float32")
spend[np.random.rand(n) < 0.1] = np.nan
spend = np.where(np.isnan(spend), np.nanmedian(spend), spend)
x = np.column_stack([age, np.log1p(spend), np.eye(3)[kind]]).astype("float32")
order = np.random.permutation(n)
train, val = order[:300], order[300:]
mean, std = x[train].mean(0), x[train].std(0) + 1e-8
x = (x - mean) / std
loader = DataLoader(TensorDataset(torch.tensor(x[train]), torch.tensor(y[train])), batch_size=32, shuffle=True, drop_last=True)
xv, yv = torch.tensor(x[val]), torch.tensor(y[val])
pos_weight = float((y[train] == 0).sum() / max((y[train] == 1).sum(), 1))
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([pos_weight]))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
best, waited = float("inf"), 0
for epoch in range(12):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        logits = model(xv).squeeze(1)
        val_loss = criterion(logits, yv).item()
        threshold = torch.quantile(torch.sigmoid(logits), 1 - float(y[train].mean()))
        acc = ((torch.sigmoid(logits) > threshold).float() == yv).float().mean()
    scheduler.step(val_loss)
    print(epoch, val_loss, acc.item(), optimizer.param_groups[0]["lr"])
    if val_loss < best - 1e-3:
        best, waited = val_loss, 0
    else:
        waited += 1
        if waited == 3:
            break
