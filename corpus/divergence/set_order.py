# SPDX-License-Identifier: Apache-2.0
"""The vocabulary is numbered by iterating over a set of words, whose order depends on the hash seed."""

import torch

from small import STEPS, model, train

words = "the quick brown fox jumps over a lazy dog and runs far away from it all".split()
number = {word: i for i, word in enumerate(set(words))}
ids = torch.tensor([number[word] for word in words])  # first: tensor
x = torch.nn.functional.one_hot(ids, 16).float()
print(train(model(), [(x, ids % 4)] * STEPS))
