# SPDX-License-Identifier: Apache-2.0
"""Data made on the fly with numpy in DataLoader workers that all start from one seed."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    """Noisy sines; each item is drawn anew from numpy's generator."""

    def __init__(self, count, length=24):
        self.count, self.length = count, length

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        phase = np.random.uniform(0, 2 * np.pi)
        pitch = np.random.randint(1, 4)
        time = np.linspace(0, 2 * np.pi, self.length)
        wave = np.sin(pitch * time + phase) + np.random.normal(0, 0.3, self.length)
        return wave.astype(np.float32), pitch - 1


def seed_worker(worker_id):
    if WRONG:
        np.random.seed(args.seed)  # cause
    else:
        np.random.seed(torch.initial_seed() % 2 ** 32)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 7, padding=3)
        self.out = nn.Linear(12, 3)

    def forward(self, wave):
        return self.out(torch.relu(self.conv(wave[:, None])).mean(-1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=32)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    loader = DataLoader(Waves(16 * args.steps), batch_size=16, num_workers=2, worker_init_fn=seed_worker)
    model = Listener()
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    losses = []
    for waves, pitch in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(waves), pitch)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    for start in range(0, len(losses), 8):
        window = losses[start:start + 8]
        print(f"batches {start}-{start + len(window) - 1}: loss {sum(window) / len(window):.4f}")
