# SPDX-License-Identifier: Apache-2.0
"""Programs that start their recording themselves, by watch(), and what is passed on of a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from recorded import TIMEOUT, Harness, Run, main

LOG = """
    import os, sys, wheeltap
    watch = wheeltap.watch(output="{0}")
    for n in range(4):
        wheeltap.step(n)
        wheeltap.log(loss=4.0 - n)
    print("state", repr(watch.why), wheeltap.recording())
    {1}
"""
TRAIN = """
    import torch, wheeltap
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with wheeltap.watch(model, output="{0}", detail="lean") as watch:
        for _ in range(6):
            model(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
    print(watch.path)
"""
FORWARD = """
    import sys
    from wheeltap.forward import forward
    summary = forward("{0}", otlp="{1}")
    print(len(summary.step_times), len(summary.losses), [f.code for f in summary.findings], summary.report)
    print(sorted({{"wandb", "mlflow", "tensorboard", "torch"}} & set(sys.modules)))
"""
# A stand-in of the library, which says nothing but that there are callbacks.
LOGGED = """
    import sys, types
    library = types.ModuleType("transformers")
    library.TrainerCallback = object
    sys.modules["transformers"] = library
    from wheeltap.transformers import WheeltapCallback
    WheeltapCallback().on_log(None, None, None, logs={"loss": 0.5, "eval_accuracy": 0.75, "epoch": 1.0, "note": "7", "rows": [1, 2]})
"""

# Lightning's, with metrics that are none, and the check of two batches before the training.
SHOWN = """
    import sys, types
    library, module = types.ModuleType("lightning"), types.ModuleType("lightning.pytorch")
    module.Callback = object
    sys.modules.update({"lightning": library, "lightning.pytorch": module})
    from wheeltap.lightning import WheeltapCallback
    class Odd:
        def __float__(self):
            raise KeyError("none")
    trainer = types.SimpleNamespace(callback_metrics={"accuracy": 0.25, "odd": Odd(), "matrix": [[1, 2]]}, sanity_checking=True)
    callback = WheeltapCallback()
    callback.on_validation_end(trainer, None)
    trainer.sanity_checking = False
    trainer.callback_metrics["accuracy"] = 0.75
    callback.on_validation_end(trainer, None)
    print("goes on")
"""


def package(t: Harness) -> dict[str, str]:
    return {"PYTHONPATH": t.execute([t.wheeltap, "python", "path"]).output.strip()}


def wait_for_end(run: Path) -> str:
    """The recorder ends after the program."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            status = str(json.loads((run / "run.json").read_text())["status"])
        except (OSError, ValueError, KeyError):
            status = "none"
        if status not in ("running", "none"):
            return status
        time.sleep(0.1)
    return "waited too long"


def losses(t: Harness, run: Path) -> list[float]:
    view = t.execute([t.wheeltap, "view", "--jsonl", "--kind", "counter", str(run)])
    events = [json.loads(line) for line in view.output.splitlines()]
    return [event["fields"]["value"] for event in events if event["fields"]["name"] == "loss"]


def test_ends(t: Harness) -> None:
    """However the program ends, what it emitted is in the run."""
    ends = {"finish": "print('path', watch.finish())", "none": "pass", "error": "raise SystemExit(3)",
            "killed": "sys.stdout.flush(); os.kill(os.getpid(), 9)"}
    for name, end in ends.items():
        run = t.folder / f"watched-{name}"
        done = t.bare(LOG.format(run, end), package(t))
        t.check(f"{name}: it is recorded", "state '' True" in done.output, done.output, done.errors)
        t.equal(f"{name}: its status is its own", done.status, {"error": 3, "killed": -signal.SIGKILL}.get(name, 0))
        t.equal(f"{name}: the run is finished", wait_for_end(run), "finished")
        t.equal(f"{name}: all is there", losses(t, run), [4.0, 3.0, 2.0, 1.0])


def test_recorded_already(t: Harness) -> None:
    done = t.record(LOG.format(t.folder / "unused", "print('path', watch.path, watch.finish())"))
    t.check("nothing is begun in a recorded program", "state '' True" in done.output and "path None None" in done.output, done.output, done.errors)
    t.check("no second run", not (t.folder / "unused").exists())
    t.equal("it is in the run of the recorder", [event["value"] for event in done.of("counter") if event["name"] == "loss"], [4.0, 3.0, 2.0, 1.0])


def test_cannot(t: Harness) -> None:
    """A folder that is in use: the reason is said, and the program goes on."""
    full = t.folder / "full"
    full.mkdir()
    (full / "file").write_text("")
    done = t.bare(LOG.format(full, "print('done')"), package(t))
    t.check("the program goes on", done.status == 0 and "done" in done.output and "False" in done.output, done.output, done.errors)
    t.check("the reason is said", "not empty" in done.output, done.output)


def test_interrupt(t: Harness) -> None:
    """An interrupt of the terminal is the program's: what it does then is still recorded."""
    run = t.folder / "interrupted"
    code = """
    import time, wheeltap
    wheeltap.watch(output="{0}")
    try:
        print("ready", flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        wheeltap.log(loss=7.0)
    """.format(run)
    program = subprocess.Popen([t.python, t.script(code)], stdout=subprocess.PIPE, text=True, start_new_session=True, env={**t.env, **package(t)})
    assert program.stdout
    program.stdout.readline()
    os.killpg(program.pid, signal.SIGINT)
    t.equal("the program ends by itself", program.wait(TIMEOUT), 0)
    t.equal("the run is finished", wait_for_end(run), "finished")
    t.equal("what came after the interrupt is there", losses(t, run), [7.0])


class Collector(HTTPServer):
    """Keeps what is posted to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Poster)
        self.posts: dict[str, Any] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Poster(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.posts[self.path] = content  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *unused: object) -> None:
        pass


def points(posted: Any, name: str) -> list[Any]:
    metrics = posted["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    return [point for metric in metrics if metric["name"] == name for point in metric["gauge"]["dataPoints"]]


def test_logged(t: Harness) -> None:
    run = t.record(LOGGED)
    t.equal("numbers that a trainer logs are counters", [(c["name"], c["value"]) for c in run.of("counter")],
            [("logged_loss", 0.5), ("eval_accuracy", 0.75)], run.errors)
    run = t.record(SHOWN)
    t.check("what is no number does not end the training", "goes on" in run.output, run.errors)
    t.equal("Lightning's check before the training is no validation", [(c["name"], c["value"]) for c in run.of("counter")], [("accuracy", 0.75)])


def test_model_and_forward(t: Harness) -> None:
    """A model that was there before is recorded; findings and step times arrive at a collector."""
    if not t.has("torch"):
        print("# skip: no torch")
        return
    run = t.folder / "trained"
    done = t.bare(TRAIN.format(run), package(t))
    t.equal("the folder is said", done.output, f"{run}\n", done.errors)
    collector = Collector()
    said: Run = t.bare(FORWARD.format(run, f"http://127.0.0.1:{collector.server_port}"), package(t))
    t.equal("five step times, six losses, nothing imported", said.output.splitlines()[:2],
            [f"5 6 ['WT-GRAD-001'] {run}/report.html", "[]"], said.errors)
    metrics, logs = collector.posts.get("/v1/metrics"), collector.posts.get("/v1/logs")
    t.check("metrics and logs arrived", bool(metrics) and bool(logs), collector.posts.keys())
    t.equal("steps of the times", [point["attributes"][0]["value"]["stringValue"] for point in points(metrics, "wheeltap.step_time_s")],
            ["1", "2", "3", "4", "5"])
    t.check("the losses are those of the trace", [point["asDouble"] for point in points(metrics, "wheeltap.loss")] == losses(t, run))
    body = logs["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    t.check("the finding arrived", body["attributes"][0]["value"]["stringValue"] == "WT-GRAD-001" and "not cleared" in body["body"]["stringValue"], body)


main(test_ends, test_recorded_already, test_cannot, test_interrupt, test_logged, test_model_and_forward)
