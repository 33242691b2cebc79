# SPDX-License-Identifier: Apache-2.0
"""A callback for Lightning:

    from wheeltap.lightning import WheeltapCallback
    trainer = Trainer(callbacks=[WheeltapCallback()])

records the training, also where the program was not started by `wheeltap record`; steps and stages are the trainer's, and
so are the metrics of self.log(). At its end findings,
step times and the report go to the trainer's own loggers.
"""

from __future__ import annotations

from typing import Any, Optional

import wheeltap

from ._callback import Recording, log, numbers

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback


class WheeltapCallback(Callback):  # type: ignore[misc]
    """`forward`: what wheeltap.forward.forward() takes; `options`: of wheeltap.watch(), as output, detail, budget."""

    def __init__(self, forward: Optional[dict[str, Any]] = None, **options: Any) -> None:
        self._recording = Recording(forward, options)
        self._logged: dict[str, float] = {}

    @property
    def summary(self) -> Any:
        """What was passed on, once training has ended."""
        return self._recording.summary

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self._recording.begin(pl_module)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        wheeltap.step(int(trainer.global_step))
        wheeltap.stage("train")

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.log_every_n_steps and not trainer.global_step % trainer.log_every_n_steps:
            self._take(trainer)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._take(trainer)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        wheeltap.stage("eval")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:  # two batches through a model that has learned nothing
            self._take(trainer)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._recording.end(lambda summary: self._log(trainer, summary))

    def _take(self, trainer: Any) -> None:
        """What self.log() was given, where it is another value than the last."""
        now = numbers(trainer.callback_metrics)
        log({name: value for name, value in now.items() if self._logged.get(name) != value})
        self._logged = now

    @staticmethod
    def _log(trainer: Any, summary: Any) -> None:
        from .forward import FINDINGS, STEP_TIME

        for logger in trainer.loggers:
            for step, value, _ in summary.step_times:
                logger.log_metrics({STEP_TIME: value}, step=step)
            logger.log_metrics({FINDINGS: float(len(summary.findings))}, step=int(trainer.global_step))
            logger.save()
