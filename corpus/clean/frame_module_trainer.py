# SPDX-License-Identifier: Apache-2.0
"""A Trainer in the manner of Lightning: the step is a closure inside of optimizer.step, around the user's module."""
import argparse

import torch
from torch import nn


# ---- the library ----

class Module(nn.Module):
    def training_step(self, batch):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class Trainer:
    def __init__(self, max_steps, accumulate=1, clip=None, check_val_every=10):
        self.max_steps, self.accumulate, self.clip, self.every = max_steps, accumulate, clip, check_val_every

    def closure(self, module, batches):
        def run():
            self.optimizer.zero_grad()
            total = 0.0
            for batch in batches:
                loss = module.training_step(batch) / self.accumulate
                loss.backward()
                total += loss.item()
            if self.clip:
                nn.utils.clip_grad_norm_(module.parameters(), self.clip)
            return total
        return run

    def sanity_check(self, module, loader):
        module.eval()
        with torch.no_grad():
            module.validation_step(next(iter(loader())))
        module.train()

    def fit(self, module, train, validate):
        self.optimizer, scheduler = module.configure_optimizers()
        self.sanity_check(module, validate)
        stream = iter(train())
        for step in range(self.max_steps):
            batches = [next(stream) for _ in range(self.accumulate)]
            loss = self.optimizer.step(self.closure(module, batches))
            scheduler.step()
            if (step + 1) % self.every == 0:
                module.eval()
                with torch.no_grad():
                    scores = [module.validation_step(batch) for batch in validate()]
                module.train()
                print(f"step {step + 1} train_loss {loss:.4f} val_loss {sum(scores) / len(scores):.4f}")


# ---- the user's program ----

class Classifier(Module):
    def __init__(self, width, lr):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 3))
        self.lr = lr

    def training_step(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def validation_step(self, batch):
        return self.training_step(batch).item()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 15, gamma=0.5)


def blobs(size, count=None):
    made = 0
    while count is None or made < count:
        y = torch.randint(0, 3, (size,))
        yield torch.randn(size, 6) * 0.8 + torch.eye(3, 6)[y] * 2, y
        made += 1


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
width, size, accumulate, clip = {"A": (24, 32, 1, None), "B": (16, 16, 4, 1.0), "C": (48, 24, 2, 0.5)}[args.config]
Trainer(args.steps, accumulate, clip).fit(Classifier(width, 1e-2), lambda: blobs(size), lambda: blobs(64, 2))
