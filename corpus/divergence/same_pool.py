# SPDX-License-Identifier: Apache-2.0
"""A pool whose threads take work in any order, and add whole numbers as they come."""
# same

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import torch

from small import STEPS, data, model, train

x, y = data()
lock = threading.Lock()
counts = torch.zeros(16, dtype=torch.int64)


def load(part):
    time.sleep(int.from_bytes(os.urandom(1), "big") / 10000)
    rows = x[part::8] * 2.0
    with lock:
        counts.add_((rows > 0).sum(0))
    return rows


def batches():
    with ThreadPoolExecutor(4) as pool:
        for _ in range(STEPS):
            yield torch.cat(list(pool.map(load, range(8)))) / (1 + counts), y


print(train(model(), batches()))
