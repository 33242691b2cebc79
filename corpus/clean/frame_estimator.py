# SPDX-License-Identifier: Apache-2.0
"""An estimator with fit, partial_fit and predict (as in skorch): the optimizer steps with a closure each batch."""
import argparse

import numpy as np
import torch
from torch import nn


class NeuralNetClassifier:
    def __init__(self, module, optimizer, lr, batch_size, max_epochs, warm_start=False, **module_parameters):
        self.module, self.optimizer, self.lr = module, optimizer, lr
        self.batch_size, self.max_epochs, self.warm_start = batch_size, max_epochs, warm_start
        self.module_parameters = module_parameters
        self.initialized_ = False

    def initialize(self):
        self.module_ = self.module(**self.module_parameters)
        self.optimizer_ = self.optimizer(self.module_.parameters(), lr=self.lr)
        self.initialized_, self.history_ = True, []

    def train_step(self, xb, yb):
        accumulated = []

        def step_fn():
            self.optimizer_.zero_grad()
            loss = nn.functional.nll_loss(torch.log(self.module_(xb)), yb)
            loss.backward()
            accumulated.append(loss.item())
            return loss

        self.optimizer_.step(step_fn)
        return accumulated[-1]

    def partial_fit(self, x, y):
        if not self.initialized_:
            self.initialize()
        x, y = torch.as_tensor(x), torch.as_tensor(y)
        for _ in range(self.max_epochs):
            self.module_.train()
            losses = [self.train_step(x[rows], y[rows]) for rows in torch.randperm(len(x)).split(self.batch_size)]
            self.history_.append(sum(losses) / len(losses))
            print(f"  epoch {len(self.history_)}    train_loss {self.history_[-1]:.4f}")
        return self

    def fit(self, x, y):
        if not self.warm_start or not self.initialized_:
            self.initialize()
        return self.partial_fit(x, y)

    def predict(self, x):
        self.module_.eval()
        with torch.no_grad():
            return self.module_(torch.as_tensor(x)).argmax(1).numpy()


class MLP(nn.Module):
    """Ends in a softmax, and the loss takes its logarithm: probabilities, as it should be."""

    def __init__(self, hidden, dropout):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 3), nn.Softmax(dim=-1))

    def forward(self, x):
        return self.layers(x)


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
batch, hidden, dropout, kind, lr = {"A": (20, 24, 0.1, torch.optim.SGD, 0.2), "B": (40, 16, 0.0, torch.optim.Adam, 0.02),
                                    "C": (30, 32, 0.2, torch.optim.RMSprop, 0.01)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)
x = rng.normal(size=(120, 4)).astype(np.float32)
y = np.digitize(x[:, 0] + x[:, 1], [-0.6, 0.6])
net = NeuralNetClassifier(MLP, kind, lr, batch, max(1, args.steps * batch // 240), hidden=hidden, dropout=dropout)
net.fit(x, y)
net.partial_fit(x, y)
print("accuracy", (net.predict(x) == y).mean())
