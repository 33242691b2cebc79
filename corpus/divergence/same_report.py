# SPDX-License-Identifier: Apache-2.0
"""Times are measured and printed, nothing is computed from them."""
# same

import time

from small import STEPS, data, model, train

x, y = data()
begun = time.time()
loss = train(model(), [(x, y)] * STEPS)
print(loss, time.time() - begun)
