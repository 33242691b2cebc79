# SPDX-License-Identifier: Apache-2.0
"""Callbacks of training libraries, and what they pass on, read back by the libraries that it is for. Each is skipped where it is missing."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from recorded import Harness, main  # noqa: E402

TRAIN = """
    import torch, wheeltap
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with wheeltap.watch(model, output="trained", detail="lean") as watch:
        for _ in range(6):
            model(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
    assert not watch.why, watch.why
"""
TENSORBOARD = """
    import json
    from wheeltap.forward import forward
    summary = forward("trained", tensorboard="board")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    read = EventAccumulator("board")
    read.Reload()
    series = {name: [(event.step, event.value) for event in read.Scalars(name)] for name in read.Tags()["scalars"]}
    print(json.dumps([series, summary.losses, summary.step_times, sorted(read.Tags()["tensors"])]))
"""
MLFLOW = """
    import json, os
    os.environ["MLFLOW_TRACKING_URI"] = "file://" + os.getcwd() + "/mlruns"
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from wheeltap.forward import forward
    summary = forward("trained", mlflow=True)
    import mlflow
    client = mlflow.MlflowClient()
    run = client.search_runs(["0"])[0]
    series = {name: [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, name)] for name in run.data.metrics}
    print(json.dumps([series, summary.losses, summary.step_times, [a.path for a in client.list_artifacts(run.info.run_id, "wheeltap")]]))
"""
# Offline: what would be sent is in a file, of blocks as in a log of LevelDB. W&B's own messages decode it.
WANDB = """
    import glob, json, os, time
    os.environ.update(WANDB_MODE="offline", WANDB_DIR=os.getcwd(), WANDB_SILENT="true", WANDB_ERROR_REPORTING="false")
    import wandb
    from wheeltap.forward import forward
    open_run = wandb.init(project="trained")
    summary = forward("trained", wandb=True)
    open_run.finish()
    from wandb.proto import wandb_internal_pb2
    def records(data, at=7, whole=b""):
        while at + 7 <= len(data):
            if 32768 - at % 32768 < 7:
                at += 32768 - at % 32768
                continue
            size, type = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
            whole, at = whole + data[at + 7:at + 7 + size], at + 7 + size
            if type in (1, 4):
                yield whole
                whole = b""
    def decoded():
        for data in records(open(glob.glob("wandb/offline-run-*/run-*.wandb")[0], "rb").read()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            yield record
    while not any(record.HasField("exit") for record in decoded()):  # it is written by another process
        time.sleep(0.1)
    series, last = {}, {}
    def key(item):
        return item.key or "/".join(item.nested_key)
    for record in decoded():
        row = {key(item): json.loads(item.value_json) for item in record.history.item}
        for name in ("wheeltap/loss", "wheeltap/step_time_s"):
            if name in row:
                series.setdefault(name, []).append((row["wheeltap/step"], row[name]))
        last.update({key(item): json.loads(item.value_json) for item in record.summary.update})
    series["wheeltap/findings"] = [(0, last["wheeltap/findings"])]
    print(json.dumps([series, summary.losses, summary.step_times, last["wheeltap/text"]]))
"""
LIGHTNING = """
    import json, torch
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.loggers import CSVLogger
    from wheeltap.lightning import WheeltapCallback
    class Net(LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
        def training_step(self, batch, index):
            loss = self.layer(batch[0]).pow(2).mean()
            self.log("loss", loss)
            self.log("score", float(index))
            return loss
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(48, 4)), batch_size=8)
    callback = WheeltapCallback(output="lightning", detail="lean")
    logger = CSVLogger("logs")
    Trainer(max_epochs=1, callbacks=[callback], logger=logger, log_every_n_steps=2, accelerator="cpu", enable_progress_bar=False, enable_model_summary=False,
            enable_checkpointing=False).fit(Net(), data)
    print(json.dumps([len(callback.summary.step_times), len(callback.summary.losses), callback.summary.status, open(logger.log_dir + "/metrics.csv").read()]))
"""
TRANSFORMERS = """
    import contextlib, io, json, torch
    from transformers import Trainer, TrainingArguments
    from wheeltap.transformers import WheeltapCallback
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
        def forward(self, x, labels=None):
            out = self.layer(x)
            return {"loss": (out.squeeze(-1) - labels).pow(2).mean(), "logits": out}
    rows = [{"x": torch.randn(4), "labels": torch.randn(())} for _ in range(48)]
    callback = WheeltapCallback(output="transformers", detail="lean")
    arguments = TrainingArguments("out", max_steps=6, per_device_train_batch_size=8, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
                                  logging_steps=2)
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        trainer = Trainer(Net(), arguments, train_dataset=rows, callbacks=[callback])
        trainer.train()
    codes = [finding.code for finding in callback.summary.findings]
    print(json.dumps([len(callback.summary.step_times), len(callback.summary.losses), codes, errors.getvalue(),
                      [entry["learning_rate"] for entry in trainer.state.log_history if "learning_rate" in entry]]))
"""


def run(t: Harness, code: str) -> Any:
    done = t.bare(code, {"PYTHONPATH": t.execute([t.wheeltap, "python", "path"]).output.strip()})
    lines = done.output.splitlines()
    t.check("the program ran", done.status == 0, done.output[-2000:], done.errors[-3000:])
    return json.loads(lines[-1]) if done.status == 0 and lines else None


def counters(t: Harness, folder: str, name: str) -> list[float]:
    events = t.execute([t.wheeltap, "view", "--json", "--kind", "counter", "--name", name, str(t.folder / folder)]).output
    return [event["fields"]["value"] for event in json.loads(events)["events"]]


def has(t: Harness, module: str) -> bool:
    if not t.has(module):
        print(f"# skip: {t.python} has no {module}")
    return t.has(module)


def check_series(t: Harness, where: str, answer: Any) -> None:
    series, losses, times, _ = answer
    t.equal(f"{where}: losses by step", [[step, round(value, 5)] for step, value in series["wheeltap/loss"]],
            [[step, round(value, 5)] for step, value, _ in losses])
    t.equal(f"{where}: step times", [[step, round(value, 5)] for step, value in series["wheeltap/step_time_s"]],
            [[step, round(value, 5)] for step, value, _ in times])
    t.equal(f"{where}: five of them, six losses, one finding", (len(times), len(losses), series["wheeltap/findings"][0][1]), (5, 6, 1.0))


def test_stores(t: Harness) -> None:
    run(t, TRAIN + "    print(0)")
    if has(t, "tensorboard"):
        answer = run(t, TENSORBOARD)
        check_series(t, "TensorBoard", answer)
        t.equal("TensorBoard: texts", [name.partition("/text_summary")[0] for name in answer[3]], ["wheeltap/findings", "wheeltap/report"])
    if has(t, "mlflow"):
        answer = run(t, MLFLOW)
        check_series(t, "MLflow", answer)
        t.equal("MLflow: artifacts", answer[3], ["wheeltap/findings.md", "wheeltap/report.html"])


    if has(t, "wandb"):
        answer = run(t, WANDB)
        check_series(t, "W&B", answer)
        t.check("W&B: findings as text", answer[3].startswith("- **"), answer[3])


def test_lightning(t: Harness) -> None:
    if has(t, "lightning"):
        times, losses, status, table = run(t, LIGHTNING)
        t.equal("Lightning: steps and losses", (times, losses), (5, 6), status)
        t.equal("Lightning: what was logged is in the trace", (counters(t, "lightning", "score"), len(counters(t, "lightning", "logged_loss"))),
                ([1.0, 3.0, 5.0], 3))
        t.check("Lightning: its logger has them", "wheeltap/step_time_s" in table and "wheeltap/findings" in table, table)


def test_transformers(t: Harness) -> None:
    if has(t, "transformers"):
        times, losses, codes, errors, rates = run(t, TRANSFORMERS)
        t.equal("Transformers: what was logged is in the trace", (counters(t, "transformers", "learning_rate"), len(rates)), (rates, 3))
        t.equal("Transformers: its loss beside the agent's", len(counters(t, "transformers", "logged_loss")), 3)
        t.equal("Transformers: steps and losses", (times, losses), (5, 6))
        t.check("Transformers: its scheduler comes after its optimizer", "WT-SCHED-001" not in codes, codes)
        t.check("Transformers: findings are printed as text, on lines of their own",
                "\nwheeltap: recorded " in errors and "**" not in errors, errors)


main(test_stores, test_lightning, test_transformers, require=("torch",))
