# SPDX-License-Identifier: Apache-2.0
"""Findings, step times, losses and the report of a run, passed on to where a team looks: TensorBoard, MLflow, W&B, OTLP.

    import wheeltap.forward
    wheeltap.forward.forward("latest", tensorboard="logs", otlp="http://localhost:4318")

Each library is imported only when it is asked for by name; what is there already, and in use, is found by `active()`. Nothing is sent
anywhere unless this is called.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import open as open_run
from ._judge import Finding
from ._program import program

__all__ = ["Summary", "active", "forward", "summarize", "to_mlflow", "to_otlp", "to_tensorboard", "to_wandb"]

STEP_TIME = "wheeltap/step_time_s"
LOSS = "wheeltap/loss"
FINDINGS = "wheeltap/findings"
OTLP_TIMEOUT_S = 10


@dataclass(frozen=True)
class Summary:
    """What is passed on. Times are seconds; `report` is a page on disk, or empty."""

    name: str
    path: str
    start_ns: int  # realtime
    step_times: "list[tuple[int, float, int]]"  # step, duration, end in ns since the start
    losses: "list[tuple[int, float, int]]"
    findings: "list[Finding]"
    status: str  # clean, findings, not_measured
    report: str

    def text(self) -> str:
        """Findings as Markdown."""
        return self._lines("- **{0}** {1}")

    def plain(self) -> str:
        """Findings as they are printed: one on a line."""
        return self._lines("{0} {1}")

    def _lines(self, begin: str) -> str:
        lines = [begin.format(f.severity, f.code) + f": {f.title}" + (f" (step {f.step})" if f.step is not None else "")
                 + (f", {f.file}:{f.line}" if f.file else "") for f in self.findings]
        return "\n".join(lines) or f"no problems found ({self.status})"


def _step_times(run: Any) -> "list[tuple[int, float, int]]":
    """Between the ends of successive steps of a process; the first step has no beginning of its own."""
    last: dict[int, int] = {}
    found = []
    for row in run.table("step_end", context=("step",)).rows() if "step_end" in run.kinds else ():
        before = last.get(row["stream"])
        if before is not None and row["step"] is not None:
            found.append((int(row["step"]), (row["time_ns"] - before) / 1e9, int(row["time_ns"])))
        last[row["stream"]] = row["time_ns"]
    return found


def _losses(run: Any) -> "list[tuple[int, float, int]]":
    rows = run.losses.rows() if "counter" in run.kinds else ()
    return [(int(row["step"] or 0), float(row["value"]), int(row["time_ns"])) for row in rows]


def _write_report(path: str) -> str:
    page = os.path.join(path, "report.html")
    command = [program() or "wheeltap", "report", path, "-o", page]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return page if done.returncode <= 1 and os.path.exists(page) else ""


def summarize(run: Union[str, "os.PathLike[str]"] = "latest", *, report: bool = True) -> Summary:
    """Reads and judges a run; with `report` the page is written into its folder."""
    opened = open_run(run)
    verdict = opened.doctor()
    path = os.path.abspath(opened.path)
    return Summary(os.path.basename(path), path, opened.start_realtime_ns, _step_times(opened), _losses(opened), list(verdict.findings),
                   verdict.status, _write_report(path) if report else "")


# ---- Where it goes ----


def to_tensorboard(summary: Summary, folder: str) -> None:
    """Event files in `folder`, by torch's writer; needs tensorboard."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(folder)
    for name, series in ((STEP_TIME, summary.step_times), (LOSS, summary.losses)):
        for step, value, time_ns in series:
            writer.add_scalar(name, value, step, walltime=(summary.start_ns + time_ns) / 1e9)
    writer.add_scalar(FINDINGS, len(summary.findings), 0)
    writer.add_text(FINDINGS, summary.text(), 0)
    if summary.report:
        writer.add_text("wheeltap/report", "file://" + summary.report, 0)
    writer.close()


def to_mlflow(summary: Summary) -> str:
    """The active run, or a new one; the id of it."""
    import mlflow

    active_run = mlflow.active_run()
    current = active_run or mlflow.start_run(run_name=summary.name)
    for name, series in ((STEP_TIME, summary.step_times), (LOSS, summary.losses)):
        for step, value, time_ns in series:
            mlflow.MlflowClient().log_metric(current.info.run_id, name, value, timestamp=(summary.start_ns + time_ns) // 1000000, step=step)
    mlflow.log_metric(FINDINGS, len(summary.findings))
    mlflow.set_tag("wheeltap.run", summary.path)
    mlflow.log_text(summary.text(), "wheeltap/findings.md")
    if summary.report:
        mlflow.log_artifact(summary.report, "wheeltap")
    if active_run is None:
        mlflow.end_run()
    return str(current.info.run_id)


def to_wandb(summary: Summary, run: Any = None) -> None:
    """The run that is open. Steps are past by now, so that they get an axis of their own."""
    if run is None:
        import wandb

        run = wandb.run
    if run is None:
        raise ValueError("no run of W&B is open; call wandb.init() first, or give the run")
    run.define_metric("wheeltap/step")
    run.define_metric("wheeltap/*", step_metric="wheeltap/step")
    for name, series in ((STEP_TIME, summary.step_times), (LOSS, summary.losses)):
        for step, value, _ in series:
            run.log({name: value, "wheeltap/step": step})
    run.summary[FINDINGS] = len(summary.findings)
    run.summary["wheeltap/text"] = summary.text()
    if summary.report:
        run.summary["wheeltap/report"] = "file://" + summary.report


def _attributes(**values: Any) -> "list[dict[str, Any]]":
    return [{"key": key, "value": {"stringValue": str(value)}} for key, value in values.items() if value is not None]


def _gauge(summary: Summary, name: str, unit: str, series: "list[tuple[int, float, int]]") -> "dict[str, Any]":
    points = [{"asDouble": value, "timeUnixNano": str(summary.start_ns + time_ns), "attributes": _attributes(step=step)}
              for step, value, time_ns in series]
    return {"name": name.replace("/", "."), "unit": unit, "gauge": {"dataPoints": points}}


def _post(url: str, content: "dict[str, Any]") -> None:
    request = urllib.request.Request(url, json.dumps(content).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=OTLP_TIMEOUT_S) as answer:
        answer.read()


def to_otlp(summary: Summary, endpoint: str) -> None:
    """Metrics and, for each finding, a log record, as JSON over HTTP (OTLP 1.x); `endpoint` is the part before /v1. No library is needed."""
    scope = {"name": "wheeltap"}
    resource = {"attributes": _attributes(**{"service.name": "wheeltap", "wheeltap.run": summary.path, "wheeltap.report": summary.report})}
    metrics = [_gauge(summary, STEP_TIME, "s", summary.step_times), _gauge(summary, LOSS, "1", summary.losses),
               _gauge(summary, FINDINGS, "1", [(0, float(len(summary.findings)), 0)])]
    _post(endpoint.rstrip("/") + "/v1/metrics", {"resourceMetrics": [{"resource": resource, "scopeMetrics": [
        {"scope": scope, "metrics": [metric for metric in metrics if metric["gauge"]["dataPoints"]]}]}]})
    records = [{"timeUnixNano": str(summary.start_ns), "severityText": f.severity, "body": {"stringValue": f.title},
                "attributes": _attributes(code=f.code, step=f.step, file=f.file, line=f.line)} for f in summary.findings]
    if records:
        _post(endpoint.rstrip("/") + "/v1/logs", {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}]})


# ---- All at once ----


def active() -> "dict[str, Any]":
    """What the program itself uses by now: an open run of W&B, an active run of MLflow. Nothing is imported to find out."""
    found: dict[str, Any] = {}
    wandb, mlflow = sys.modules.get("wandb"), sys.modules.get("mlflow")
    if getattr(wandb, "run", None) is not None:
        found["wandb"] = True
    if mlflow is not None and mlflow.active_run() is not None:
        found["mlflow"] = True
    return found


def forward(run: Union[str, "os.PathLike[str]", Summary] = "latest", *, tensorboard: Optional[str] = None, mlflow: bool = False,
            wandb: bool = False, otlp: Optional[str] = None) -> Summary:
    """Passes a run on to each that is named: a folder for event files, an endpoint, or what is active in this program."""
    summary = run if isinstance(run, Summary) else summarize(run)
    if tensorboard is not None:
        to_tensorboard(summary, tensorboard)
    if mlflow:
        to_mlflow(summary)
    if wandb:
        to_wandb(summary)
    if otlp is not None:
        to_otlp(summary, otlp)
    return summary
