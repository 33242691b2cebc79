# SPDX-License-Identifier: Apache-2.0
"""log_softmax(dim=0): the rows of a batch compete with each other instead of the classes of a row."""
import argparse
import random

import torch
import torch.nn.functional as F

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=50)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"

torch.set_num_threads(1)
torch.manual_seed(ARGS.seed)
random.seed(ARGS.seed)
LETTERS = "abcdefgh"
ENDINGS = {"verb": "gh", "noun": "ab", "name": "cd"}


def word_and_sort():
    sort = random.choice(list(ENDINGS))
    return "".join(random.choices(LETTERS, k=4)) + ENDINGS[sort], list(ENDINGS).index(sort)


def batch(size):
    words, sorts = zip(*(word_and_sort() for _ in range(size)))
    places = torch.tensor([[LETTERS.index(letter) for letter in word] for word in words])
    return F.one_hot(places, len(LETTERS)).float().flatten(1), torch.tensor(sorts)


hidden = torch.nn.Linear(6 * len(LETTERS), 20)
output = torch.nn.Linear(20, len(ENDINGS))
update = torch.optim.Adam([*hidden.parameters(), *output.parameters()], lr=1e-2)
for number in range(ARGS.steps):
    letters, sort = batch(18)
    scores = output(torch.tanh(hidden(letters)))
    if WRONG:
        loss = F.nll_loss(F.log_softmax(scores, dim=0), sort)  # cause
    else:
        loss = F.nll_loss(F.log_softmax(scores, dim=1), sort)
    update.zero_grad()
    loss.backward()
    update.step()
    if number % 10 == 0:
        print(f"after {number}: loss {loss.item():.4f}")
