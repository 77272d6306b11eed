"""Sync, streaming and async(K) on one installation, with tools that are slow and very unequal.

Whole jobs over real HTTP sockets, the CPU engine in its own process, and tools behind log-normal
latencies (median 50 ms, sigma 1; in 30 % of rollouts ten times as long). The same rows, seeds,
latencies and number of samples for every mode; modes alternate. The workloads:

- speed: M1, the model all benchmarks share, trained to write about a hundred words per turn
  (`talkative.py`), so that a step has real work for the trainer; its rewards are a coin. Once with
  slow rollouts here and there, so that nearly every group of eight waits for one, and once with
  slow prompts, all rollouts of which are slow;
- reward: the shipped small model on the records agent, which learns.

Prints a table for each, what two cores allow at most, and a JSON line. No other project is compared
here: it compares the modes with sync.

    python benchmarks/modes.py [--workloads rollouts,prompts,reward] [--seeds 5] [--repeats 3]
        [--train 96] [--staleness 2]
"""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any, Final, Literal

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from benchmarks import talkative  # noqa: E402 - path set up above
from benchmarks.modes_stack import Stack, Workload  # noqa: E402 - the repository's root must be on the path first
from examples.records_agent.dataset import write_dataset  # noqa: E402 - the repository's root must be on the path first
from workers.runs.statistics import bootstrap_interval  # noqa: E402 - the repository's root must be on the path first

BATCH: Final = 8
SPEED_STEPS: Final = 6
VALID_ROWS: Final = 40
TARGETS: Final = {"streaming": 1.2, "async": 1.6}
SLOW: Final[tuple[Literal["rollouts", "prompts"], ...]] = ("rollouts", "prompts")

Results = dict[str, list[dict[str, Any]]]


def speed_workload(directory: Path, slow: Literal["rollouts", "prompts"]) -> Workload:
    model = directory / "talkative"
    if not model.exists():
        talkative.teach(model)
    rows = talkative.write_rows(model, directory, train=BATCH * SPEED_STEPS, valid=10)
    spec = {
        "name": talkative.NAME,
        "path": str(model),
        "context_length": talkative.CONTEXT_LENGTH,
        "max_turn_tokens": 512,
        "learning_rate": 1e-12,  # gradients of a coin would make it forget to call and to end
    }
    return Workload(
        name=slow,
        model=talkative.NAME,
        agent="talkative.py",
        tools=("lookup",),
        hyperparameters={"batch_size": BATCH},
        files=rows,
        base_models=(spec,),
        slow=slow,
    )


def reward_workload(directory: Path, train: int) -> Workload:
    return Workload(
        name="reward",
        model="tiny-agent",
        agent="slow_agent.py",
        tools=("lookup", "calculator"),
        hyperparameters={"batch_size": BATCH},
        files=write_dataset(directory, train=train, valid=VALID_ROWS, seed=1),
    )


def run(workload: Workload, directory: Path, modes: dict[str, Any], seeds: int) -> Results:
    results: Results = {name: [] for name in modes}
    with stack_of(directory, workload) as stack:
        for seed in range(seeds):
            for name, mode in modes.items():
                results[name].append(stack.run_job(mode, seed))
                print(
                    f"{workload.name}, seed {seed} {name}: {json.dumps(results[name][-1])}",
                    flush=True,
                )
    return results


@contextmanager
def stack_of(directory: Path, workload: Workload) -> Iterator[Stack]:
    stack = Stack(directory, workload)
    try:
        yield stack
    finally:
        stack.close()


def print_table(title: str, results: Results) -> None:
    print(
        f"\n{title}\nmode        tokens/s  x sync  samples/s x sync   s/step  training  "
        "idle trainer  idle sampler  staleness mean/max  discarded"
    )
    for name, rows in results.items():
        print(
            f"{name:<10}  {_mid(rows, 'tokens_per_s'):>8.0f}  {_ratio(results, name):>6.2f}  "
            f"{_ratio(results, name, 'samples_per_s'):>16.2f}  "
            f"{_mid(rows, 'step_s'):>7.2f}  {_mid(rows, 'train_share'):>8.0%}  "
            f"{_mid(rows, 'trainer_idle'):>12.0%}  {_mid(rows, 'sampler_idle'):>12.0%}  "
            f"{_mid(rows, 'staleness_mean'):>12.2f} / {max(r['staleness_max'] for r in rows):.0f}  "
            f"{fmean(row['discarded'] for row in rows):>11.2%}"
        )


def _mid(rows: list[dict[str, Any]], name: str) -> float:
    return float(median(row[name] for row in rows))


def _ratio(results: Results, name: str, what: str = "tokens_per_s") -> float:
    """Returns the median ratio of successive pairs."""
    pairs = zip(results[name], results["sync"], strict=False)
    return float(median(mode[what] / sync[what] for mode, sync in pairs))


def print_bounds(results: Results) -> dict[str, float]:
    """Prints the bounds that follow from the timing of sync's own steps, and whether the targets
    are met.
    """
    share, cores = _mid(results["sync"], "train_share"), os.cpu_count() or 1
    busy = _mid(results["sync"], "processor_share")
    bounds = {"streaming": 1 / (1 - share), "processors": 1 / busy}
    print(
        f"Sync trains for {share:.1%} of a step; streaming can hide no more than that: at most "
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


def print_rewards(results: Results, samples: int) -> dict[str, Any]:
    """Mean held-out reward of the tuned models, and each mode's difference to sync over seeds."""
    sync = [row["held_out"] for row in results["sync"]]
    print(f"\nHeld-out reward of the tuned model after {samples} samples, {len(sync)} seeds")
    summary = {}
    for name, rows in results.items():
        tuned = [row["held_out"] for row in rows]
        differences = [figure - other for figure, other in zip(tuned, sync, strict=True)]
        interval = bootstrap_interval(differences, seed=0)
        of_means = "" if interval is None else f" (95 % {interval[0]:+.3f} to {interval[1]:+.3f})"
        within = abs(fmean(differences)) <= pstdev(sync)
        summary[name] = {"mean": fmean(tuned), "sd": pstdev(tuned), "within_noise": within}
        print(
            f"{name:<10}  {fmean(tuned):.3f} ± {pstdev(tuned):.3f}   less sync, paired: "
            f"{fmean(differences):+.3f}{of_means}   "
            f"{'within' if within else 'NOT within'} noise   "
            f"last quarter of training: {fmean(row['reward_last'] for row in rows):.3f}"
        )
    print("In training, async's rollouts are of older versions: that curve lags by its staleness.")
    return summary


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default="rollouts,prompts,reward")
    parser.add_argument("--seeds", type=int, default=5, help="of the reward workload")
    parser.add_argument("--repeats", type=int, default=3, help="of the speed workloads")
    parser.add_argument("--train", type=int, default=96, help="rows; a step takes eight")
    parser.add_argument("--staleness", type=int, default=2)
    given = parser.parse_args()
    modes: dict[str, dict[str, Any]] = {
        "sync": {"type": "sync"},
        "streaming": {"type": "streaming", "minibatches": BATCH},
        "async": {"type": "async", "max_staleness": given.staleness},
    }
    summary: dict[str, Any] = {
        "benchmark": "modes",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "staleness": given.staleness,
    }
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        wanted = given.workloads.split(",")
        for slow in SLOW:
            if slow in wanted:
                speed = run(speed_workload(directory, slow), directory, modes, given.repeats)
                title = f"M1 that talks, rewards are a coin; slow: 30 % of the {slow}"
                summary[slow] = _summary(title, speed)
        if "reward" in wanted:
            workload = reward_workload(directory, given.train)
            reward = run(workload, directory, modes, given.seeds)
            summary["reward"] = _summary("The shipped model on the records agent", reward)
            samples = reward["sync"][0]["rollouts"]
            summary["reward"]["held_out"] = print_rewards(reward, samples)
    print(json.dumps(summary))
    return 0


def _summary(title: str, results: Results) -> dict[str, Any]:
    print_table(title, results)
    return {
        "ratios": {name: _ratio(results, name) for name in results},
        "sample_ratios": {name: _ratio(results, name, "samples_per_s") for name in results},
        "bounds": print_bounds(results),
        "discarded": fmean(row["discarded"] for row in results["async"]),
        "rows": results,
    }


if __name__ == "__main__":
    sys.exit(main())
