"""Sync, streaming and async(K) on one installation, with tools that are slow and very unequal.

Whole jobs over real HTTP sockets: the shipped model, the CPU engine in its own process, the records
agent behind log-normal latencies (median 50 ms, sigma 1; in 30 % of rollouts ten times as long).
The same rows, seeds, latencies and number of samples for every mode; modes take turns. Prints one
table, what two cores allow at most, and a JSON line. No other project is compared here: it is our
modes against our own sync.

    python benchmarks/modes.py [--seeds 5] [--train 96] [--staleness 2]
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any, Final

import httpx
from openai import OpenAI

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.learning_seeds import FINAL, cli, free_port  # noqa: E402 - path set up above
from examples.first_job import upload  # noqa: E402
from examples.records_agent.dataset import write_dataset  # noqa: E402

BATCH, VALID_ROWS = 8, 10
TARGETS: Final = {"streaming": 1.2, "async": 1.6}
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
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Stack:
    """A running installation with its slow agent."""

    def __init__(self, directory: Path) -> None:
        self._data = directory / "stack"
        self._agent = subprocess.Popen(
            [sys.executable, "benchmarks/slow_agent.py"],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self._agent.stdout.readline() if self._agent.stdout else ""
        self.agent: str = json.loads(line)["url"]
        address = self.agent.removeprefix("http://")
        command = [*cli(), "up", "--data-dir", str(self._data), "--port", str(free_port())]
        done = subprocess.run(
            [*command, "--detach", "--allow-endpoint", address],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        answer = json.loads(done.stdout)
        self.client = OpenAI(base_url=answer["base_url"], api_key=answer["api_key"])
        headers = {"Authorization": f"Bearer {answer['api_key']}"}
        self.http = httpx.Client(base_url=answer["base_url"], headers=headers, timeout=60)

    def cpu_s(self, job_id: str) -> dict[str, float]:
        """Processor seconds so far of the engine and of the job's own process."""
        pids = json.loads((self._data / "services.json").read_text())["pids"]
        found = subprocess.run(
            ["pgrep", "-f", f"workers.runs.child {job_id}"],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        named = {"engine": pids["engine"], "job": next(iter(found.stdout.split()), None)}
        return {name: _cpu_s(int(pid)) for name, pid in named.items() if pid is not None}

    def close(self) -> None:
        self._agent.terminate()
        self._agent.wait()
        subprocess.run([*cli(), "down", "--data-dir", str(self._data)], check=False)


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def method(agent: str, mode: dict[str, Any]) -> Any:
    return {
        "type": "reinforcement",
        "reinforcement": {
            "mode": mode,
            "tools": [
                {"name": name, "server_url": f"{agent}/tools"} for name in ("lookup", "calculator")
            ],
            "grader": {"type": "endpoint", "name": "records", "url": f"{agent}/grade"},
            "max_episode_steps": 12,
            "hyperparameters": {"n_epochs": 1, "batch_size": BATCH, "eval_interval": 100_000},
        },
    }


def run_job(stack: Stack, files: tuple[str, str], mode: dict[str, Any], seed: int) -> Any:
    """One job from its first training rollout to its last commit, the final evaluation left out."""
    httpx.post(f"{stack.agent}/restart", params={"seed": seed}).raise_for_status()
    job = stack.client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=files[0],
        validation_file=files[1],
        seed=seed,
        method=method(stack.agent, mode),
    )
    cpu: dict[str, list[float]] = {"engine": [], "job": []}
    committed_at = 0.0
    steps_done = 0
    while True:
        shown = stack.http.get(f"/fine_tuning/jobs/{job.id}").json()
        if shown["step"] > steps_done:
            steps_done, committed_at = shown["step"], time.time()
        if shown["step"] > 0:
            for name, seconds in stack.cpu_s(job.id).items():
                cpu[name].append(seconds)
        if shown["status"] in FINAL:
            break
        time.sleep(0.1)
    if shown["status"] != "succeeded":
        raise SystemExit(f"{mode}, seed {seed}: {shown['status']}: {shown['error']}")
    return _measured(stack, job.id, committed_at, cpu)


def _measured(stack: Stack, job_id: str, end: float, cpu: dict[str, list[float]]) -> dict[str, Any]:
    reply = stack.http.get(
        f"/fine_tuning/jobs/{job_id}/metrics", params={"names": ",".join(CURVES)}
    )
    curves: dict[str, dict[int, float]] = {
        curve["name"]: {point["step"]: point["value"] for point in curve["points"]}
        for curve in reply.raise_for_status().json()["data"]
        if curve["split"] == "train"
    }
    rollouts = _rollouts(stack, job_id)
    steps = max(curves["reward/mean"])
    # Whatever is evaluated is the same for every mode; what is compared is training.
    wall_s = end - min(one["started_at"] for one in rollouts) - curves["time/eval_s"][steps]
    tokens = sum(one["completion_tokens"] for one in rollouts)
    last = sorted(curves["reward/mean"].items())[-max(1, steps // 4) :]
    report = stack.http.get(f"/fine_tuning/jobs/{job_id}/report").json()
    used_s = sum(max(values) - min(values) for values in cpu.values() if values)
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
        "processor_share": used_s / wall_s / (os.cpu_count() or 1),
        "reward_last": fmean(reward for _, reward in last),
        "held_out": report["reward"]["tuned_mean"],
    }


def _rollouts(stack: Stack, job_id: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    more = True
    while more:
        params: dict[str, Any] = {"limit": 100, "split": "train"}
        if rows:
            params["after"] = rows[-1]["id"]
        page = stack.http.get(f"/fine_tuning/jobs/{job_id}/rollouts", params=params).json()
        rows += page["data"]
        more = page["has_more"]
    return rows


def print_table(results: dict[str, list[dict[str, Any]]]) -> None:
    print(
        "\nmode        tokens/s  x sync  samples/s x sync   s/step  idle trainer  idle sampler  "
        "staleness mean/max  discarded  tuned, held out  in training"
    )
    for name, rows in results.items():
        tuned = [row["held_out"] for row in rows]
        print(
            f"{name:<10}  {_mid(rows, 'tokens_per_s'):>8.0f}  {_ratio(results, name):>6.2f}  "
            f"{_ratio(results, name, 'samples_per_s'):>16.2f}  "
            f"{_mid(rows, 'step_s'):>7.2f}  {_mid(rows, 'trainer_idle'):>12.0%}  "
            f"{_mid(rows, 'sampler_idle'):>12.0%}  "
            f"{_mid(rows, 'staleness_mean'):>12.2f} / {max(r['staleness_max'] for r in rows):.0f}  "
            f"{fmean(row['discarded'] for row in rows):>11.2%}  "
            f"{fmean(tuned):.3f} ± {pstdev(tuned):.3f}  "
            f"{fmean(row['reward_last'] for row in rows):>11.3f}"
        )


def _mid(rows: list[dict[str, Any]], name: str) -> float:
    return float(median(row[name] for row in rows))


def _ratio(
    results: dict[str, list[dict[str, Any]]], name: str, what: str = "tokens_per_s"
) -> float:
    """Of pairs that ran next to each other."""
    pairs = zip(results[name], results["sync"], strict=False)
    return float(median(one[what] / sync[what] for one, sync in pairs))


def print_rewards(results: dict[str, list[dict[str, Any]]], samples: int) -> None:
    sync, late = ([row["held_out"] for row in results[name]] for name in ("sync", "async"))
    noise = pstdev(sync)
    within = "within" if abs(fmean(late) - fmean(sync)) <= noise else "NOT within"
    print(
        f"\nReward of the tuned model after {samples} samples: async is {within} one deviation of "
        f"sync over {len(sync)} seeds ({fmean(late):.3f}, {fmean(sync):.3f} ± {noise:.3f}). In "
        "training its rollouts are of older versions, so that curve lags by its staleness."
    )


def print_bounds(results: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    share, cores = _mid(results["sync"], "train_share"), os.cpu_count() or 1
    busy = _mid(results["sync"], "processor_share")
    bounds = {"streaming": 1 / (1 - share), "processors": 1 / busy}
    print(
        f"\nSync trains for {share:.1%} of a step; streaming can hide no more than that: at most "
        f"{bounds['streaming']:.2f} x sync.\nSync's engine and trainer keep {busy:.0%} of the "
        f"{cores} processors busy (others' load not counted): whatever overlaps, these {cores} "
        f"give at most {bounds['processors']:.2f} x sync."
    )
    for name, target in TARGETS.items():
        bound = bounds["processors"] if name == "async" else min(bounds.values())
        met = "met" if _ratio(results, name) >= target else "NOT met"
        reach = "" if bound >= target else f", and out of reach here (bound {bound:.2f})"
        print(f"Target for {name}: {target} x sync: {met}{reach}.")
    return bounds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--train", type=int, default=96, help="rows; a step takes eight")
    parser.add_argument("--staleness", type=int, default=2)
    given = parser.parse_args()
    modes: dict[str, dict[str, Any]] = {
        "sync": {"type": "sync"},
        "streaming": {"type": "streaming"},
        "async": {"type": "async", "max_staleness": given.staleness},
    }
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in modes}
    with tempfile.TemporaryDirectory() as directory:
        stack = Stack(Path(directory))
        paths = write_dataset(Path(directory), train=given.train, valid=VALID_ROWS, seed=1)
        try:
            files = (upload(stack.client, paths[0]), upload(stack.client, paths[1]))
            for seed in range(given.seeds):
                for name, mode in modes.items():
                    results[name].append(run_job(stack, files, mode, seed))
                    print(f"seed {seed} {name}: {json.dumps(results[name][-1])}", flush=True)
        finally:
            stack.close()
    print_table(results)
    print_rewards(results, results["sync"][0]["rollouts"])
    bounds = print_bounds(results)
    summary = {
        "benchmark": "modes",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "staleness": given.staleness,
        "ratios": {name: _ratio(results, name) for name in modes},
        "sample_ratios": {name: _ratio(results, name, "samples_per_s") for name in modes},
        "bounds": bounds,
        "discarded": fmean(row["discarded"] for row in results["async"]),
        "rows": results,
    }
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
