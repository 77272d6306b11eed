"""The installation with a slow agent on which `modes.py` runs its jobs, and its measurements.

Whole jobs over real HTTP sockets: API, worker, CPU engine and agent are processes of their own.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal

import httpx
from openai import OpenAI

from benchmarks.learning_seeds import FINAL, cli, free_port
from examples.first_job import upload

REPOSITORY: Final = Path(__file__).resolve().parents[1]
CURVES: Final = (
    "reward/mean",
    "time/sampling_s",
    "time/training_s",
    "time/step_s",
    "time/eval_s",
    "idle/trainer_share",
    "idle/sampler_share",
    "staleness/mean",
    "staleness/max",
    "staleness/discarded_share",
)
POLL_S: Final = 0.25
"""Seconds between two polls, which also use the measured cores."""
Slow = Literal["rollouts", "prompts", "none"]
Readings = dict[str, list[tuple[float, float]]]
"""Clock and processor seconds of each process."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Workload:
    """Model, task and agent; the same for every mode."""

    name: str
    model: str
    agent: str
    """Script that serves `/tools`, `/grade` and `/restart`."""
    tools: tuple[str, ...]
    hyperparameters: dict[str, Any]
    files: tuple[Path, Path]
    base_models: tuple[dict[str, Any], ...] = ()
    """Base models instead of the shipped one."""
    slow: Slow = "rollouts"
    """Rollouts or prompts whose tools take ten times as long; `none`: tools answer at once."""


class Stack:
    """A running installation with the agent of one workload; close it in the end."""

    def __init__(self, directory: Path, workload: Workload) -> None:
        self._data = directory / f"stack-{workload.name}"
        self._workload = workload
        self._agent = subprocess.Popen(
            [sys.executable, f"benchmarks/{workload.agent}"],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self._agent.stdout.readline() if self._agent.stdout else ""
        self.agent: str = json.loads(line)["url"]
        address = self.agent.removeprefix("http://")
        environment = dict(os.environ)
        if workload.base_models:
            environment["AGENT_RFT_BASE_MODELS"] = json.dumps(workload.base_models)
        command = [*cli(), "up", "--data-dir", str(self._data), "--port", str(free_port())]
        done = subprocess.run(
            [*command, "--detach", "--allow-endpoint", address],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=environment,
        )
        answer = json.loads(done.stdout)
        self.client = OpenAI(base_url=answer["base_url"], api_key=answer["api_key"])
        headers = {"Authorization": f"Bearer {answer['api_key']}"}
        self.http = httpx.Client(base_url=answer["base_url"], headers=headers, timeout=60)
        self._files = tuple(upload(self.client, path) for path in workload.files)

    def run_job(self, mode: dict[str, Any], seed: int) -> dict[str, Any]:
        """Runs a job; counts from its first rollout to its last commit, without evaluations."""
        pace = {"seed": str(seed), "slow": self._workload.slow}
        httpx.post(f"{self.agent}/restart", params=pace).raise_for_status()
        job = self.client.fine_tuning.jobs.create(
            model=self._workload.model,
            training_file=self._files[0],
            validation_file=self._files[1],
            seed=seed,
            method=self._method(mode),
        )
        cpu: Readings = {}
        pids: dict[str, int] = {}
        committed_at = 0.0
        steps_done = 0
        while True:
            shown = self.http.get(f"/fine_tuning/jobs/{job.id}").json()
            if shown["step"] > steps_done:
                steps_done, committed_at = shown["step"], time.time()
                pids = pids or self._pids(job.id)
            for name, pid in pids.items():
                if (used_s := _cpu_s(pid)) is not None:
                    cpu.setdefault(name, []).append((time.time(), used_s))
            if shown["status"] in FINAL:
                break
            time.sleep(POLL_S)
        if shown["status"] != "succeeded":
            raise SystemExit(f"{mode}, seed {seed}: {shown['status']}: {shown['error']}")
        return self._measured(job.id, committed_at, cpu)

    def close(self) -> None:
        self._agent.terminate()
        self._agent.wait()
        subprocess.run([*cli(), "down", "--data-dir", str(self._data)], check=False)

    def _method(self, mode: dict[str, Any]) -> Any:
        return {
            "type": "reinforcement",
            "reinforcement": {
                "mode": mode,
                "tools": [
                    {"name": name, "server_url": f"{self.agent}/tools"}
                    for name in self._workload.tools
                ],
                "grader": {"type": "endpoint", "name": "grade", "url": f"{self.agent}/grade"},
                "max_episode_steps": 12,
                "hyperparameters": {
                    "n_epochs": 1,
                    "eval_interval": 100_000,
                    **self._workload.hyperparameters,
                },
            },
        }

    def _pids(self, job_id: str) -> dict[str, int]:
        """Returns the process ids of the engine and of the job's own process."""
        pids = json.loads((self._data / "services.json").read_text())["pids"]
        found = subprocess.run(
            ["pgrep", "-f", f"workers.job_child {job_id}"],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        return {"engine": int(pids["engine"]), "job": int(found.stdout.split()[0])}

    def _measured(self, job_id: str, end: float, cpu: Readings) -> dict[str, Any]:
        reply = self.http.get(
            f"/fine_tuning/jobs/{job_id}/metrics", params={"names": ",".join(CURVES)}
        )
        curves: dict[str, dict[int, float]] = {
            curve["name"]: {point["step"]: point["value"] for point in curve["points"]}
            for curve in reply.raise_for_status().json()["data"]
            if curve["split"] == "train"
        }
        rollouts = self._rollouts(job_id)
        steps = max(curves["reward/mean"])
        # Evaluation is the same for every mode; only training is compared.
        wall_s = (
            end - min(rollout["started_at"] for rollout in rollouts) - curves["time/eval_s"][steps]
        )
        tokens = sum(rollout["completion_tokens"] for rollout in rollouts)
        last = sorted(curves["reward/mean"].items())[-max(1, steps // 4) :]
        report = self.http.get(f"/fine_tuning/jobs/{job_id}/report").json()
        return {
            "steps": steps,
            "rollouts": len(rollouts),
            "wall_s": wall_s,
            "tokens": tokens,
            "tokens_per_s": tokens / wall_s,
            "samples_per_s": len(rollouts) / wall_s,
            "step_s": wall_s / steps,
            "train_share": fmean(
                curves["time/training_s"][s] / curves["time/step_s"][s] for s in range(1, steps + 1)
            ),
            "trainer_idle": fmean(curves["idle/trainer_share"].values()),
            "sampler_idle": fmean(curves["idle/sampler_share"].values()),
            "staleness_mean": fmean(curves["staleness/mean"].values()),
            "staleness_max": max(curves["staleness/max"].values()),
            "discarded": fmean(curves.get("staleness/discarded_share", {1: 0.0}).values()),
            "processor_share": sum(map(_rate, cpu.values())) / (os.cpu_count() or 1),
            "reward_last": fmean(reward for _, reward in last),
            "held_out": report["reward"]["tuned_mean"],
        }

    def _rollouts(self, job_id: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        more = True
        while more:
            params: dict[str, Any] = {"limit": 100, "split": "train"}
            if rows:
                params["after"] = rows[-1]["id"]
            page = self.http.get(f"/fine_tuning/jobs/{job_id}/rollouts", params=params).json()
            rows += page["data"]
            more = page["has_more"]
        return rows


def _cpu_s(pid: int) -> float | None:
    """Processor seconds so far; `None` of a process that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _rate(readings: list[tuple[float, float]]) -> float:
    """Returns the number of busy cores between the first and the last reading."""
    (begin, used_s), (end, used_later_s) = readings[0], readings[-1]
    return (used_later_s - used_s) / (end - begin)
