"""The effect of each hyperparameter on the ledger, the curves and the weights of real runs."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from safetensors.torch import load

from app.jobs.jobs import Job, JobStatus
from app.models.engine_http import HttpInference
from app.rollouts import metrics as names
from app.rollouts.trajectory import StopReason
from app.settings import shipped_models
from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.models.tiny_model import DROPS_THINKING
from tests.support.runs.real_run import ROWS, RealRuns, Script, TinyEngine, engine_of, tiny_engine
from tests.support.runs.world import World

REPORTED = (
    "{%- if reasoning_effort is defined %}<|im_start|>system\\n"
    "Reasoning: {{ reasoning_effort }}<|im_end|>\\n{% endif -%}" + DROPS_THINKING
)
ONE_STEP: dict[str, Any] = {"max_steps": {"steps": 1, "action": "pause"}}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyEngine]:
    with tiny_engine(tmp_path_factory.mktemp("tiny"), REPORTED) as running:
        yield running


async def _first_step(runs: RealRuns, **settings: Any) -> Job:
    job = await runs.job(**{"stop": ONE_STEP, **settings})
    paused = await runs.run(job)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 1)
    return paused


async def test_rollouts_steps_and_validations_are_as_many_as_requested(runs: RealRuns) -> None:
    hyper = {
        "batch_size": 4,
        "n_epochs": 2,
        "compute_multiplier": 0.5,
        "eval_interval": 4,
        "eval_samples": 2,
    }
    job = await runs.job(hyperparameters=hyper)
    ended = await runs.run(job, Script(samples=2))
    assert (ended.status, ended.total_steps) == (JobStatus.SUCCEEDED, 6)
    train = await runs.rollouts(job, "train")
    assert Counter(row.step for row in train) == {1: 16, 2: 16, 3: 8, 4: 16, 5: 16, 6: 8}
    assert set(Counter((row.step, row.prompt_index) for row in train).values()) == {4}
    for epoch in ((1, 2, 3), (4, 5, 6)):
        assert {row.prompt_index for row in train if row.step in epoch} == set(range(ROWS))
    valid = await runs.rollouts(job, "valid")
    assert Counter(row.step for row in valid) == {0: 20, 4: 20, 6: 20}
    assert set(Counter((row.step, row.prompt_index) for row in valid).values()) == {2}
    assert ended.usage is not None
    assert ended.usage.rollouts == 80 + 60 + 40


async def test_the_learning_rate_is_the_optimizers(runs: RealRuns) -> None:
    """Adam's first step moves a weight by the rate, whatever its gradient: B starts at zero."""
    moved = {}
    for multiplier in (1.0, 2.5):
        job = await _first_step(runs, hyperparameters={"learning_rate_multiplier": multiplier})
        rate = multiplier * runs.engine.spec.learning_rate
        assert await runs.curve(job, names.LEARNING_RATE) == {1: pytest.approx(rate)}
        weights = load(runs.adapters(job)[1])
        moved[multiplier] = max(
            float(value.abs().max()) for name, value in weights.items() if "lora_B" in name
        )
    assert moved[1.0] == pytest.approx(1e-3, rel=0.02)
    assert moved[2.5] == pytest.approx(2.5e-3, rel=0.02)


async def test_minibatches_are_steps_of_the_optimizer(runs: RealRuns) -> None:
    job = await _first_step(runs, hyperparameters={"minibatches": 2})
    weights = load(runs.adapters(job)[1])
    moved = max(float(value.abs().max()) for name, value in weights.items() if "lora_B" in name)
    assert 1.2e-3 < moved < 2.04e-3, "two steps of Adam, each by the rate at most"


async def _sampled(runs: RealRuns, job: Job, split: str, step: int) -> list[Any]:
    return sorted(
        (row.prompt_index, row.sample_index, str(row.trace["messages"]), row.completion_tokens)
        for row in await runs.rollouts(job, split, step)
    )


async def test_a_seed_repeats_the_first_step_in_another_job_and_another_does_not(
    runs: RealRuns,
) -> None:
    first, again, other = [await _first_step(runs, seed=seed) for seed in (5, 5, 6)]
    for split, step in (("valid", 0), ("train", 1)):
        sampled = await _sampled(runs, first, split, step)
        assert len({text for _, _, text, _ in sampled}) > 5, "samples are not all alike"
        assert await _sampled(runs, again, split, step) == sampled
        assert await _sampled(runs, other, split, step) != sampled
    weights = runs.adapters(first)[1]
    assert runs.adapters(again)[1] == weights
    assert runs.adapters(other)[1] != weights


async def _prompt_tokens(runs: RealRuns, row: int, effort: str | None) -> int:
    """Returns the engine's count of a row's prompt tokens for a call with an effort."""
    inference = HttpInference(runs.engine.url)
    body = {"model": runs.engine.spec.name, "max_tokens": 1, "reasoning_effort": effort}
    reply = await inference.chat({**body, "messages": runs.rows[row]["messages"]})
    await inference.aclose()
    return int(reply["usage"]["prompt_tokens"])


async def _trained_efforts(runs: RealRuns, job: Job) -> set[str | None]:
    """The efforts in the rows of the job's models."""
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        return {
            model.reasoning_effort for model in await unit.models.all() if model.job_id == job.id
        }


async def test_reasoning_effort_changes_the_prompt_and_the_token_limit(runs: RealRuns) -> None:
    prompts, longest, budgets = {}, {}, {}
    for effort in ("default", "low", "high"):
        job = await _first_step(runs, hyperparameters={"reasoning_effort": effort})
        rows = await runs.rollouts(job, "valid", 0)
        prompts[effort] = rows[0].prompt_tokens
        longest[effort] = max(row.completion_tokens for row in rows)
        budgets[effort] = job.method.options["objective"]["token_budget"]
        (trained,) = await _trained_efforts(runs, job)
        assert trained == (None if effort == "default" else effort)
        assert await _prompt_tokens(runs, rows[0].prompt_index, trained) == prompts[effort]
    assert prompts["default"] < min(prompts[effort] for effort in ("low", "high"))
    assert longest == {"default": 8, "low": 4, "high": 8}
    assert budgets == {"default": 8, "low": 4, "high": 16}


@pytest.mark.parametrize("most", [1, 2])
async def test_episode_steps_are_turns_and_calls(world: World, most: int) -> None:
    """The shipped model asks again and again, because no tool ever says anything of use."""
    (spec,) = shipped_models()
    rows = make_rows(build_catalogue(), "train", ROWS, seed=3)
    tools = [{"name": name, "server_url": "http://tool.test/"} for name in ("lookup", "calculator")]
    with engine_of(spec) as engine:
        runs = RealRuns(world, engine, rows)
        job = await runs.job(max_episode_steps=most, tools=tools, stop=ONE_STEP)
        paused = await runs.run(job, Script(tool="Error: ask once more"))
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 1)
    rollouts = [*await runs.rollouts(job, "valid"), *await runs.rollouts(job, "train")]
    calls = [
        sum(
            call["error"] != "parse_error"
            for turn in row.trace["turns"]
            for call in turn["tool_calls"]
        )
        for row in rollouts
    ]
    taken = [len(row.trace["turns"]) + n for row, n in zip(rollouts, calls, strict=True)]
    assert max(taken) == most
    assert (sum(calls) == 0) == (most == 1)
    stopped = [row.stop_reason == StopReason.MAX_STEPS.value for row in rollouts]
    assert all(n == most for n, by_limit in zip(taken, stopped, strict=True) if by_limit)
    assert any(stopped)


async def test_a_report_states_its_sampling_and_has_a_greedy_row(runs: RealRuns) -> None:
    sampling = {"eval_samples": 2, "eval_temperature": 0.5, "eval_greedy": True}
    job = await runs.job(seed=7, hyperparameters={**sampling, "eval_interval": 9})
    other = await _first_step(runs, seed=8, hyperparameters=sampling)
    # Twenty sampled and ten greedy rollouts of the base, and as many of the tuned model.
    # For the report, twenty more of each.
    rewards = (0.2, 0.2, 0.3, 0.6, 0.6, 0.9, 0.1, 0.1, 0.5, 0.5)
    ended = await runs.run(job, Script(valid=rewards))
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    greedy = [await _sampled(runs, each, "valid_greedy", 0) for each in (job, other)]
    assert len(greedy[0]) == ROWS
    assert greedy[0] == greedy[1], "temperature 0 does not depend on the seed"
    sampled = [await _sampled(runs, each, "valid", 0) for each in (job, other)]
    assert sampled[0] != sampled[1]
    assert ended.usage is not None
    assert ended.usage.rollouts == 2 * ROWS * 3 + 2 * 5 * 2 + 2 * ROWS * 2
    report = await runs.report(job)
    assert (report["eval_temperature"], report["eval_samples"]) == (0.5, 2)
    assert report["reward"]["start_mean"] == pytest.approx(0.1)
    assert report["reward"]["tuned_mean"] == pytest.approx(0.5)
    assert report["greedy"]["rows"] == ROWS
    assert report["greedy"]["reward"]["start_mean"] == pytest.approx(0.3)
    assert report["greedy"]["reward"]["tuned_mean"] == pytest.approx(0.9)
    assert await runs.curve(job, names.REWARD_MEAN, "valid_greedy") == {
        0: pytest.approx(0.3),
        2: pytest.approx(0.9),
    }


async def test_validations_at_temperature_0_are_the_greedy_row(runs: RealRuns) -> None:
    job = await runs.job(hyperparameters={"eval_temperature": 0, "eval_greedy": True})
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert await runs.rollouts(job, "valid_greedy") == []
    report = await runs.report(job)
    assert (report["eval_temperature"], report["greedy"]) == (0.0, None)
