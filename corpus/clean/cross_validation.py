# SPDX-License-Identifier: Apache-2.0
"""k-fold cross validation: a new model and optimizer for each fold; one fold's test rows are another's training rows."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

SETTINGS = {"A": (4, 32, 24), "B": (3, 16, 48), "C": (5, 24, 16)}


def reset_weights(m):
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()


def build(width):
    return nn.Sequential(nn.Linear(5, width), nn.Dropout(0.1), nn.ReLU(), nn.Linear(width, 1))


def one_fold(data, train_ids, test_ids, batch, width, steps, number):
    loader = DataLoader(data, batch_size=batch, sampler=SubsetRandomSampler(train_ids))
    test = DataLoader(data, batch_size=64, sampler=SubsetRandomSampler(test_ids))
    net = build(width).apply(reset_weights)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    done = 0
    while done < steps:
        for x, y in loader:
            net.train()
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            done += 1
            if done >= steps:
                break
    net.eval()
    with torch.no_grad():
        error = sum(nn.functional.mse_loss(net(x), y, reduction="sum").item() for x, y in test) / len(test_ids)
    print(f"fold {number}: loss {loss.item():.4f} test loss {error:.4f}")
    return error


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=SETTINGS, default="A")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    k, batch, width = SETTINGS[args.config]
    x = torch.randn(240, 5)
    data = TensorDataset(x, x[:, :1] - x[:, 1:2] ** 2 + 0.1 * torch.randn(240, 1))
    ids = torch.randperm(240).tolist()
    errors = []
    for fold in range(k):
        test_ids = ids[fold::k]
        train_ids = [i for i in ids if i not in set(test_ids)]
        errors.append(one_fold(data, train_ids, test_ids, batch, width, args.steps // k, fold))
    print(f"mean test loss {sum(errors) / k:.4f}")
