# SPDX-License-Identifier: Apache-2.0
"""A callback for the Trainer of Transformers:

    from wheeltap.transformers import WheeltapCallback
    trainer = Trainer(..., callbacks=[WheeltapCallback()])

records the training, also where the program was not started by `wheeltap record`; steps are the trainer's, and so are the metrics that it logs. At its end findings, step times
and the report go to W&B or MLflow where the trainer has opened a run of theirs, and to whatever `forward` names.
"""

from __future__ import annotations

from typing import Any, Optional

from transformers import TrainerCallback

import wheeltap

from ._callback import Recording, log


class WheeltapCallback(TrainerCallback):  # type: ignore[misc]
    """`forward`: what wheeltap.forward.forward() takes; `options`: of wheeltap.watch(), as output, detail, budget."""

    def __init__(self, forward: Optional[dict[str, Any]] = None, **options: Any) -> None:
        self._recording = Recording(forward, options)

    @property
    def summary(self) -> Any:
        """What was passed on, once training has ended."""
        return self._recording.summary

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._recording.begin(more.get("model"))

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        wheeltap.step(int(state.global_step))
        wheeltap.stage("train")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        wheeltap.stage("eval")

    def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        log(more.get("logs") or {})

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._recording.end()
