"""Measures whether jobs learn: whole jobs over real HTTP, one per seed, on a stack of their own.

Prints, per seed: held-out mean reward of the base and of the tuned model with the paired 95 %
interval, wasted tool calls per rollout before and after (as the example grader counts them), and
the seconds from the start of the run to its end. Last line: the same as JSON. With `--naming` the
rows show the tools by another naming of `tool_namings.py`, and the bars are the same.

    python benchmarks/learning_seeds.py [--seeds 5] [--train 320] [--valid 100] [--naming TITLE]
"""

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from openai import OpenAI

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks.renamed_agent import naming_of, renamed_agent, write_renamed  # noqa: E402 - the path is set up above
from benchmarks.tool_namings import Naming  # noqa: E402 - as above
from examples.first_job import upload  # noqa: E402 - as above

FINAL = {"succeeded", "failed", "cancelled"}


def start_agent() -> tuple[subprocess.Popen[str], str]:
    agent = subprocess.Popen(
        [sys.executable, "-m", "examples.records_agent.server", "--port", "0"],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    return agent, json.loads(agent.stdout.readline() if agent.stdout else "")["url"]


def start(data_dir: Path, *urls: str) -> dict[str, Any]:
    """Starts the service, which may call these addresses, and returns the line that it prints."""
    allowed = [word for url in urls for word in ("--allow-endpoint", url.removeprefix("http://"))]
    command = [*cli(), "up", "--data-dir", str(data_dir), "--port", str(free_port()), "--detach"]
    done = subprocess.run([*command, *allowed], stdout=subprocess.PIPE, text=True, check=True)
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@contextmanager
def running(data_dir: Path, *urls: str) -> Iterator[dict[str, Any]]:
    try:
        yield start(data_dir, *urls)
    finally:
        subprocess.run([*cli(), "down", "--data-dir", str(data_dir)], check=False)


def cli() -> list[str]:
    return [sys.executable, "-m", "app.cli.main"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def method(endpoint: str, tools_url: str, naming: Naming) -> Any:
    return {
        "type": "reinforcement",
        "reinforcement": {
            "tools": [
                {"name": tool.name, "server_url": f"{tools_url}/tools"} for tool in naming.tools
            ],
            "grader": {"type": "endpoint", "name": "records", "url": f"{endpoint}/grade"},
            "max_episode_steps": 12,
            "hyperparameters": {
                "n_epochs": 1,
                "batch_size": 8,
                "compute_multiplier": 1,
                "eval_interval": 1000,
                "eval_samples": 2,
            },
        },
    }


def one_job(
    client: OpenAI, method: Any, files: tuple[str, str], seed: int, headers: dict[str, str]
) -> dict[str, Any]:
    job = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=files[0],
        validation_file=files[1],
        seed=seed,
        method=method,
    )
    while job.status not in FINAL:
        time.sleep(0.5)
        job = client.fine_tuning.jobs.retrieve(job.id)
    if job.status != "succeeded":
        raise SystemExit(f"seed {seed}: {job.status}: {job.error}")
    events = {e.message: e.created_at for e in client.fine_tuning.jobs.list_events(job.id)}
    root = f"{str(client.base_url).rstrip('/')}/fine_tuning/jobs/{job.id}"
    report = httpx.get(f"{root}/report", headers=headers).raise_for_status().json()
    times = httpx.get(f"{root}/metrics", params={"names": "time/step_s"}, headers=headers).json()
    steps = [point["value"] for point in times["data"][0]["points"]]
    wasted = report["components"]["wasted_calls"]
    return {
        "seed": seed,
        "base": report["reward"]["base_mean"],
        "tuned": report["reward"]["tuned_mean"],
        "ci95": report["reward"]["difference_ci95"],
        "wasted_base": wasted["base_mean"],
        "wasted_tuned": wasted["tuned_mean"],
        "steps": len(steps),
        "training_s": sum(steps),
        "job_s": (job.finished_at or 0) - job.created_at,
        "events": len(events),
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    print("seed  base   tuned  difference (95 %)   wasted calls    steps  training s  job s")
    for row in rows:
        interval = "none" if row["ci95"] is None else "({:+.2f}, {:+.2f})".format(*row["ci95"])
        print(
            f"{row['seed']:>4}  {row['base']:.3f}  {row['tuned']:.3f}  "
            f"{row['tuned'] - row['base']:+.3f} {interval}  "
            f"{row['wasted_base']:.2f} -> {row['wasted_tuned']:.2f}   {row['steps']:>5}  "
            f"{row['training_s']:>10.1f}  {row['job_s']:>5}"
        )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--train", type=int, default=320)
    parser.add_argument("--valid", type=int, default=100)
    parser.add_argument("--naming", default="original")
    given = parser.parse_args()
    naming = naming_of(given.naming)
    rows: list[dict[str, Any]] = []
    agent, endpoint = start_agent()
    try:
        with (
            tempfile.TemporaryDirectory() as directory,
            renamed_agent(naming, endpoint) as tools_url,
            running(Path(directory) / "stack", endpoint, tools_url) as stack,
        ):
            client = OpenAI(base_url=stack["base_url"], api_key=stack["api_key"])
            paths = write_renamed(
                Path(directory), naming, train=given.train, valid=given.valid, seed=1
            )
            files = (upload(client, paths[0]), upload(client, paths[1]))
            headers = {"Authorization": f"Bearer {stack['api_key']}"}
            sent = method(endpoint, tools_url, naming)
            for seed in range(given.seeds):
                rows.append(one_job(client, sent, files, seed, headers))
                print_table(rows[-1:])
    finally:
        agent.terminate()
        agent.wait()
    print()
    print_table(rows)
    passed = all(
        row["base"] <= 0.4
        and row["tuned"] >= 0.85
        and row["wasted_tuned"] <= row["wasted_base"] / 2
        and row["training_s"] < 120
        for row in rows
    )
    summary = {
        "benchmark": "learning_seeds",
        "naming": naming.title,
        "rows": rows,
        "median_tuned": median(row["tuned"] for row in rows),
        "median_training_s": median(row["training_s"] for row in rows),
        "all_seeds_learn": passed,
    }
    print(json.dumps(summary))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
