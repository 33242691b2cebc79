# SPDX-License-Identifier: Apache-2.0
"""Correct programs in styles that the corpus does not have: styles.py NAME. Nothing may be said of any of them."""
from __future__ import annotations

import copy
import math
import random
import sys

import numpy as np

STYLES = {}
STEPS = 12


def style(function):
    STYLES[function.__name__] = function
    return function


def torch_of():
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(5)
    return torch


@style
def functional_loop():
    """No module, no optimizer: tensors in a list, gradients by torch.autograd.grad, updates out of place."""
    torch = torch_of()
    x = torch.linspace(-1, 1, 40).unsqueeze(1)
    y = torch.sin(3 * x)
    weights = [torch.randn(1, 12) * 0.5, torch.zeros(12), torch.randn(12, 1) * 0.3, torch.zeros(1)]
    weights = [w.requires_grad_() for w in weights]
    for _ in range(STEPS):
        out = torch.tanh(x @ weights[0] + weights[1]) @ weights[2] + weights[3]
        grads = torch.autograd.grad(((out - y) ** 2).mean(), weights)
        weights = [(w - 0.05 * g).detach().requires_grad_() for w, g in zip(weights, grads)]


@style
def by_hand():
    """A module, but no optimizer: p.data is moved, p.grad is set to None."""
    torch = torch_of()
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ELU(), torch.nn.Linear(8, 1))
    for _ in range(STEPS):
        x = torch.rand(16, 4)
        loss = (model(x).squeeze(-1) - x.sum(-1)).abs().mean()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.05 * p.grad
                p.grad = None


@style
def gradients_by_hand():
    """Gradients are computed by a formula and put into .grad; an optimizer steps without any backward."""
    torch = torch_of()
    w = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.Adam([w], lr=0.1)
    x, truth = torch.randn(30, 3), torch.tensor([1.0, -2.0, 0.5])
    for _ in range(STEPS):
        with torch.no_grad():
            w.grad = 2 * x.t() @ (x @ w - x @ truth) / len(x)
        optimizer.step()


@style
def several_models():
    """Two models and one optimizer for both; a third that is only asked."""
    torch = torch_of()
    encoder, decoder = torch.nn.Linear(6, 3), torch.nn.Linear(3, 6)
    critic = torch.nn.Linear(6, 1).eval().requires_grad_(False)
    optimizer = torch.optim.RMSprop([{"params": encoder.parameters()}, {"params": decoder.parameters(), "lr": 1e-3}], lr=1e-2)
    for _ in range(STEPS):
        x = torch.randn(10, 6)
        back = decoder(torch.relu(encoder(x)))
        loss = torch.nn.functional.mse_loss(x, back) + 1e-3 * critic(back).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


@style
def frozen_backbone():
    """A backbone in evaluation mode whose features are computed once; a head that begins as zeros."""
    torch = torch_of()
    backbone = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten())
    backbone.eval()
    for p in backbone.parameters():
        p.requires_grad = False
    with torch.no_grad():
        features = backbone(torch.randn(24, 1, 6, 6))
    head = torch.nn.Linear(features.shape[1], 3)
    torch.nn.init.zeros_(head.weight)
    labels = torch.randint(0, 3, (24,))
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
    for i in range(STEPS):
        rows = torch.arange(i % 3, 24, 3)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(head(features[rows]), labels[rows]).backward()
        optimizer.step()


@style
def masked_actions():
    """Policy gradient, one state at a time: logits of actions that are not allowed are -inf."""
    torch = torch_of()
    policy = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(STEPS):
        logs, gains = [], []
        for _ in range(random.Random(1).randint(3, 6)):
            state = torch.nn.functional.one_hot(torch.tensor(random.randrange(5)), 5).float()
            logits = policy(state)
            logits = logits.masked_fill(torch.tensor([False, False, True, False]), -math.inf)
            chance = torch.distributions.Categorical(logits=logits)
            action = chance.sample()
            logs.append(chance.log_prob(action))
            gains.append(float(action == state.argmax() % 2))
        loss = -(torch.stack(logs) * torch.tensor(gains)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@style
def closures():
    """A closure for a plain optimizer, with a penalty, on the same full batch in every step."""
    torch = torch_of()
    model = torch.nn.Linear(7, 2, bias=False).double()
    optimizer = torch.optim.Rprop(model.parameters())
    x = torch.randn(50, 7, dtype=torch.float64)
    y = (x[:, 0] > 0).long()

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y) + 1e-3 * model.weight.abs().sum()
        loss.backward()
        return loss

    for _ in range(STEPS):
        optimizer.step(closure)


@style
def gradient_penalty():
    """A critic with a penalty on the norm of its gradient: create_graph, gradients of inputs."""
    torch = torch_of()
    critic = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.LeakyReLU(0.2), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
    for _ in range(STEPS):
        real, fake = torch.randn(32, 2) + 2, torch.randn(32, 2)
        mix = torch.rand(32, 1)
        between = (mix * real + (1 - mix) * fake).requires_grad_()
        slope = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
        loss = critic(fake).mean() - critic(real).mean() + 10 * ((slope.norm(dim=1) - 1) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@style
def inner_loops():
    """Meta-learning of the first order: a copy and a new optimizer for every task, then the model moves towards the copy."""
    torch = torch_of()
    model = torch.nn.Sequential(torch.nn.Linear(1, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))
    for _ in range(STEPS):
        phase = 6 * random.random()
        mine = copy.deepcopy(model)
        optimizer = torch.optim.SGD(mine.parameters(), lr=0.05)
        for _ in range(2):
            x = torch.rand(10, 1) * 4 - 2
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(mine(x), torch.sin(x + phase)).backward()
            optimizer.step()
        with torch.no_grad():
            for p, q in zip(model.parameters(), mine.parameters()):
                p += 0.2 * (q - p)


@style
def inference_only():
    """Nothing is trained."""
    torch = torch_of()
    model = torch.nn.Sequential(torch.nn.Embedding(20, 8), torch.nn.Flatten(), torch.nn.Linear(32, 5)).eval()
    with torch.inference_mode():
        for _ in range(STEPS):
            model(torch.randint(0, 20, (6, 4))).softmax(-1).argmax(-1)


@style
def missing_values():
    """Tables with NaN for what is missing: replaced before the first layer; rows without a target are left out of the loss."""
    torch = torch_of()
    table = torch.randn(64, 5)
    target = table.sum(1, keepdim=True)
    table[torch.rand_like(table) < 0.2] = float("nan")
    target[::7] = float("nan")
    model = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(STEPS):
        rows = torch.randperm(64)[:16]
        absent = table[rows].isnan()
        x = torch.cat([torch.nan_to_num(table[rows]), absent.float()], 1)
        known = ~target[rows].isnan()
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x)[known], target[rows][known]).backward()
        optimizer.step()


@style
def adversarial():
    """Evaluation mode with gradients: an input is optimised against a finished model."""
    torch = torch_of()
    model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Dropout(), torch.nn.ReLU(), torch.nn.Linear(12, 3)).eval()
    picture = torch.nn.Parameter(torch.randn(1, 6))
    optimizer = torch.optim.Adam([picture], lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(picture), torch.tensor([2])).backward()
        optimizer.step()


@style
def numpy_only():
    """No torch at all."""
    generator = np.random.default_rng(3)
    w = np.zeros(4)
    for _ in range(STEPS):
        x = generator.normal(size=(20, 4))
        w -= 0.1 * 2 * x.T @ (x @ w - x @ np.array([1.0, 2.0, 3.0, 4.0])) / 20


if __name__ == "__main__":
    STYLES[sys.argv[1]]()
