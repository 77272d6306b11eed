"""A job whose pages are worth a picture: noisy curves, rollouts of a step, and a report."""

import json
import random
from math import exp
from typing import Any, Final

from app.jobs.findings import thin
from app.pages.plots import COLUMNS
from tests.support.dashboard.scenes import call, execute, put_points, put_rollout, trace
from tests.support.stack import Database

STEPS: Final = 240
VALID_EVERY: Final = 20
_SAMPLED: Final = thin(range(1, STEPS + 1), COLUMNS)
_SAMPLES: Final = 16
_ROWS: Final = 24
_QUESTIONS: Final = ("Which river flows through Dresden?", "Where does the Rhine rise?")
_GUESSES: Final = ("I think it is the Oder.", "Somewhere in Germany.")
_ANSWERS: Final = ("The Elbe flows through Dresden.", "It rises in the Swiss Alps.")


def put_gallery_job(database: Database, job: str) -> None:
    """Gives a job curves of 240 steps, rollouts of some of them, and a report over 24 rows."""
    chance = random.Random(5)
    _curves(database, job, chance)
    for step in _SAMPLED:
        for sample in range(_SAMPLES):
            _trained(database, job, chance, step=step, sample=sample)
    for row in range(_ROWS):
        _reported(database, job, chance, row)
    _end(database, job)


def _rise(step: int) -> float:
    return 0.22 + 0.55 * (1 - exp(-step / 80))


def _curves(database: Database, job: str, chance: random.Random) -> None:
    def noisy(level: float, noise: float) -> float:
        return max(0.0, level + chance.gauss(0, noise))

    steps = range(1, STEPS + 1)
    rewards = [min(1.0, noisy(_rise(step), 0.04)) for step in steps]
    lost = [float(chance.choices((0, 1, 2), (8, 3, 1))[0]) for _ in steps]
    train: dict[str, list[float]] = {
        "reward/mean": rewards,
        "reward/p10": [max(0.0, reward - noisy(0.3, 0.03)) for reward in rewards],
        "reward/p90": [min(1.0, reward + noisy(0.25, 0.03)) for reward in rewards],
        "reward/component/exact": [reward * 0.9 for reward in rewards],
        "reward/component/cites_source": [noisy(0.4 + _rise(step) / 3, 0.03) for step in steps],
        "rollouts/valid": [64 - count for count in lost],
        "discarded/count": lost,
        "discarded/share": [count / 64 for count in lost],
        "discarded/tool_timeout": lost,
        "tool_calls/mean": [noisy(2.4 - _rise(step), 0.1) for step in steps],
        "tool/search/calls_mean": [noisy(1.6 - _rise(step) / 2, 0.08) for step in steps],
        "tool/read_page/calls_mean": [noisy(0.8 - _rise(step) / 2, 0.05) for step in steps],
        "tool/search/latency_s_mean": [noisy(0.35, 0.05) for _ in steps],
        "tool/read_page/latency_s_mean": [noisy(0.6, 0.08) for _ in steps],
        "tokens/completion_mean": [noisy(310 - 90 * _rise(step), 9) for step in steps],
        "tokens/reasoning_mean": [noisy(180 - 60 * _rise(step), 7) for step in steps],
        "groups/trained": [float(chance.choice((6, 7, 8))) for _ in steps],
        "groups/zero_variance": [float(chance.choice((0, 1, 2))) for _ in steps],
        "train/entropy": [noisy(0.9 - 0.5 * _rise(step), 0.02) for step in steps],
        "train/loss": [chance.gauss(0, 0.02) for _ in steps],
        "train/grad_norm": [noisy(0.6, 0.12) for _ in steps],
        "train/sampler_kl_k3": [noisy(0.004, 0.001) for _ in steps],
        "time/step_s": [noisy(41, 3) for _ in steps],
        "time/sampling_s": [noisy(28, 2) for _ in steps],
        "time/training_s": [noisy(11, 1) for _ in steps],
    }
    put_points(database, job, {(name, "train"): values for name, values in train.items()})
    for step in range(0, STEPS + 1, VALID_EVERY):
        valid = {"reward/mean": noisy(_rise(step) - 0.03, 0.012), "reward/std": 0.3}
        for name, value in {**valid, "rollouts/valid": 96.0}.items():
            execute(
                database,
                "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) SELECT "
                "project_id, id, %s, 'valid', %s, %s FROM fine_tuning_jobs WHERE id = %s",
                (name, step, value, job),
            )


def _trained(
    database: Database, job: str, chance: random.Random, *, step: int, sample: int
) -> None:
    row = sample % 2
    reward = min(1.0, max(0.0, round(4 * chance.gauss(_rise(step), 0.25)) / 4))
    calls = [
        call("Elbe: a river of 1,094 km through Dresden and Hamburg.", repeated=n > 0)
        for n in range(chance.choice((1, 1, 2)))
    ]
    lost: dict[str, Any] = {}
    if chance.random() < 0.06:  # about as many as the curve has
        lost = {"reward": None, "failure_class": "tool_timeout", "stop_reason": None}
    put_rollout(
        database, job, f"ro_{step}_{sample}", trace=trace(_QUESTIONS[row], _ANSWERS[row], *calls),
        **{"step": step, "prompt_index": row, "sample_index": sample // 2, "reward": reward,
           "tool_calls": len(calls), "completion_tokens": chance.randrange(120, 340), **lost},
    )  # fmt: skip


def _reported(database: Database, job: str, chance: random.Random, row: int) -> None:
    before = chance.choice((0.0, 0.0, 0.25, 0.5))
    after = min(1.0, max(0.0, before + chance.choice((-0.25, 0.0, 0.25, 0.5, 0.75))))
    for step, reward, calls, answers in (
        (0, before, chance.choice((2, 3)), _GUESSES),
        (STEPS, after, chance.choice((1, 2, 3)), _ANSWERS),
    ):
        put_rollout(
            database, job, f"re_{step}_{row}", trace=trace(_QUESTIONS[row % 2], answers[row % 2]),
            split="report", step=step, prompt_index=row, reward=reward, tool_calls=calls,
            completion_tokens=chance.randrange(120, 340) - step // 4,
            finished_at=13 + chance.random() - step / 200,
        )  # fmt: skip


def _end(database: Database, job: str) -> None:
    compared = {"start_mean": 0.19, "tuned_mean": 0.55, "difference": 0.36}
    fewer = {"start_mean": 2.5, "tuned_mean": 1.96, "difference": -0.54}
    report = {
        "object": "fine_tuning.job.report", "job_id": job, "base_model": "tiny-agent",
        "start_model": "tiny-agent", "step": STEPS, "rows": _ROWS, "wins": 17, "ties": 4,
        "losses": 3, "regressions": [], "reward": {**compared, "difference_ci95": [0.24, 0.48]},
        "tool_calls": {**fewer, "difference_ci95": [-0.9, -0.18]}, "components": {},
    }  # fmt: skip
    execute(
        database,
        "INSERT INTO reports (project_id, job_id, report) "
        "SELECT project_id, id, %s FROM fine_tuning_jobs WHERE id = %s",
        (json.dumps(report), job),
    )
    execute(
        database,
        "UPDATE fine_tuning_jobs SET status = 'succeeded', step = %s, total_steps = %s, "
        "finished_at = now() WHERE id = %s",
        (STEPS, STEPS, job),
    )
