"""Whole supervised and preference jobs on a real tiny model, checked against stock peft."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch.nn.functional import logsigmoid
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.jobs.jobs import Job, JobStatus
from tests.support.supervised.runs import SupervisedRuns, chat_row, pair_row

TRAIN = [chat_row(n) for n in range(12)]
VALID = [chat_row(n) for n in range(20, 30)]
PAIRS, OTHER_PAIRS = [pair_row(n) for n in range(10)], [pair_row(n) for n in range(50, 60)]
FAST = {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": 3}

ALWAYS = {
    *("train/loss", "train/grad_norm", "train/learning_rate", "train/tokens", "train/entropy"),
    *("train/skipped_steps", "time/training_s", "time/step_s", "time/publish_s", "time/eval_s"),
    "publish/probe_max_abs_logprob_diff",
}
"""Curves of every such job. None is about sampling, since no rollout is sampled."""
OF_PAIRS = {
    *("preference/accuracy", "preference/margin"),
    *("preference/chosen_reward", "preference/rejected_reward"),
    *("preference/chosen_logprob", "preference/rejected_logprob", "preference/logprob_accuracy"),
}


async def _curves(runs: SupervisedRuns, job: Job) -> set[str]:
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        points = await unit.metrics.curve(job.id, names=None, split="train", after_step=0)
    return {point.name for point in points}


def _stock(path: str, adapter: Path | None) -> Any:
    model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    return (model if adapter is None else PeftModel.from_pretrained(model, str(adapter))).eval()


@torch.no_grad()
def _logprobs(model: Any, ids: list[int], start: int) -> tuple[torch.Tensor, int]:
    """Returns log-probs of the tokens from `start` on, and how many of them are the likeliest."""
    ids_1T = torch.tensor([ids])
    lp_TV = model(ids_1T).logits[0, :-1].log_softmax(-1)
    picked_T = lp_TV.gather(1, ids_1T[0, 1:, None])[:, 0]
    right_T = lp_TV.argmax(-1) == ids_1T[0, 1:]
    return picked_T[start - 1 :], int(right_T[start - 1 :].sum())


def _turn(tokenizer: Any, messages: list[Any]) -> tuple[list[int], int]:
    """Ids up to the end of the last message's turn, and where it begins."""
    opening = tokenizer.apply_chat_template(
        messages[:-1], add_generation_prompt=True, return_dict=False
    )
    whole = tokenizer.apply_chat_template(messages, return_dict=False)
    assert whole[: len(opening)] == opening
    end = len(whole) - whole[::-1].index(tokenizer.eos_token_id)
    return whole[:end], len(opening)


def _full_loss(spec_path: str, adapter: Path | None) -> tuple[float, float]:
    """Mean cross-entropy over all answer tokens of the held-out rows, and the share of them that is
    right.
    """
    model, tokenizer = _stock(spec_path, adapter), AutoTokenizer.from_pretrained(spec_path)
    total, right, count = 0.0, 0, 0
    for row in VALID:
        messages = row["messages"]
        for index in (2, 4):
            ids, start = _turn(tokenizer, messages[: index + 1])
            logprobs, ok = _logprobs(model, ids, start)
            total, right, count = total - float(logprobs.sum()), right + ok, count + len(logprobs)
    return total / count, right / count


async def test_supervised_learns_and_its_values_are_those_of_stock_peft(
    runs: SupervisedRuns,
) -> None:
    job = await runs.job("supervised", TRAIN, VALID, hyperparameters=FAST)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert (ended.step, ended.total_steps) == (6, 6)

    checkpoints = await runs.read.checkpoints(job)
    assert [checkpoint.step for checkpoint in checkpoints] == [6, 3], "one for each epoch"
    assert set(checkpoints[0].metrics) == {
        "train_loss",
        "train_mean_token_accuracy",
        "valid_loss",
        "valid_mean_token_accuracy",
        "full_valid_loss",
        "full_valid_mean_token_accuracy",
    }
    path = runs.engine.spec.path
    before, right_before = _full_loss(path, None)
    after, right_after = _full_loss(path, await runs.published(ended))
    assert after < before - 0.3
    curve = await runs.read.curve(job, "train/loss", "valid")
    assert curve[0] == pytest.approx(before, abs=1e-5)
    assert curve[6] == pytest.approx(after, abs=1e-5)
    assert checkpoints[0].metrics["full_valid_loss"] == curve[6]
    assert checkpoints[0].metrics["full_valid_mean_token_accuracy"] == pytest.approx(right_after)

    report = await runs.read.report(job)
    assert report["full_valid_loss"] == {"base": curve[0], "start": curve[0], "tuned": curve[6]}
    accuracy = report["full_valid_mean_token_accuracy"]
    assert accuracy["base"] == pytest.approx(right_before)
    assert report["rows"] == report["wins"] == len(VALID)
    assert report["rows_in_training"] == 0
    assert report["loss"]["difference"] < 0

    events = [event for event in await runs.read.events(job) if event.type == "metrics"]
    assert len(events) == 6
    last = events[-1]
    assert last.message.startswith("Step 6/6: training loss=")
    assert f"full validation loss={curve[6]:.2f}" in last.message
    assert last.data == {"step": 6, "total_steps": 6, **checkpoints[0].metrics}
    losses = await runs.read.curve(job, "train/loss")
    assert losses[6] < losses[1]
    rates = await runs.read.curve(job, "train/learning_rate")
    rate = 3 * runs.engine.spec.learning_rate
    assert list(rates.values()) == pytest.approx([rate] * 6), "the same at every step"
    tokens = await runs.read.curve(job, "train/tokens")
    assert ended.trained_tokens == sum(tokens.values())
    assert ended.usage is not None
    assert ended.usage.trained_tokens == ended.trained_tokens
    assert await _curves(runs, job) == ALWAYS | {"train/token_accuracy"}


@pytest.mark.parametrize(
    "loss",
    [
        {"type": "label_smoothing", "smoothing": 0.2},
        pytest.param({"type": "focal", "gamma": 1.5}, marks=pytest.mark.long),
    ],
)
async def test_the_other_forms_of_the_loss_train(
    runs: SupervisedRuns, loss: dict[str, Any]
) -> None:
    job = await runs.job("supervised", TRAIN, VALID, hyperparameters=FAST, loss=loss)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    curve = await runs.read.curve(job, "train/loss", "valid")
    assert curve[6] < curve[3] < curve[0]
    model = _stock(runs.engine.spec.path, await runs.published(ended))
    tokenizer = AutoTokenizer.from_pretrained(runs.engine.spec.path)
    total, count = 0.0, 0
    for row in VALID:
        for index in (2, 4):
            ids, start = _turn(tokenizer, row["messages"][: index + 1])
            with torch.no_grad():
                lp_TV = model(torch.tensor([ids])).logits[0, start - 1 : -1].log_softmax(-1)
            picked_T = lp_TV.gather(1, torch.tensor(ids[start:])[:, None])[:, 0]
            if loss["type"] == "focal":
                terms = -((1 - picked_T.exp()) ** 1.5) * picked_T
            else:
                terms = -(0.8 * picked_T + 0.2 * lp_TV.mean(-1))
            total, count = total + float(terms.sum()), count + len(terms)
    assert curve[6] == pytest.approx(total / count, abs=1e-5)


async def test_only_the_last_answer_or_the_weighted_ones_are_learned(runs: SupervisedRuns) -> None:
    unweighted = json.loads(json.dumps(TRAIN))
    for row in unweighted:
        row["messages"][2]["weight"] = 0
    by_weight = await runs.run(
        await runs.job("supervised", unweighted, hyperparameters={"n_epochs": 1, "batch_size": 12})
    )
    last = await runs.run(
        await runs.job(
            "supervised", TRAIN, train_on="last", hyperparameters={"n_epochs": 1, "batch_size": 12}
        )
    )
    both = await runs.run(
        await runs.job("supervised", TRAIN, hyperparameters={"n_epochs": 1, "batch_size": 12})
    )
    assert by_weight.status is last.status is both.status is JobStatus.SUCCEEDED
    assert by_weight.trained_tokens == last.trained_tokens
    weights = [
        (await runs.published(tuned) / "adapter_model.safetensors").read_bytes()
        for tuned in (by_weight, last, both)
    ]
    assert weights[0] == weights[1] != weights[2]
    assert last.method.options["train_on"] == "last"
    assert [checkpoint.metrics.keys() for checkpoint in await runs.read.checkpoints(last)] == [
        {"train_loss", "train_mean_token_accuracy"}
    ]


async def test_preferences_are_learned_and_the_loss_is_that_of_stock_peft(
    runs: SupervisedRuns,
) -> None:
    hyper = {"n_epochs": 2, "batch_size": 5, "beta": 0.5, "learning_rate_multiplier": 3}
    job = await runs.job("dpo", PAIRS, OTHER_PAIRS, hyperparameters=hyper)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    curve = await runs.read.curve(job, "train/loss", "valid")
    assert curve[0] == pytest.approx(0.693147, abs=1e-5), "nothing is preferred at first"
    assert curve[4] < curve[2] < curve[0]

    path = runs.engine.spec.path
    tokenizer = AutoTokenizer.from_pretrained(path)
    base, tuned = _stock(path, None), _stock(path, await runs.published(ended))
    margins = []
    plain: dict[str, list[float]] = {"preferred_output": [], "non_preferred_output": []}
    for row in OTHER_PAIRS:
        given, rewards = row["input"]["messages"], []
        for name in ("preferred_output", "non_preferred_output"):
            ids, start = _turn(tokenizer, [*given, *row[name]])
            own, reference = (_logprobs(model, ids, start)[0].sum() for model in (tuned, base))
            rewards.append(0.5 * (own - reference))
            plain[name].append(float(reference))
        margins.append(rewards[0] - rewards[1])
    margin_P = torch.stack(margins)
    assert curve[4] == pytest.approx(float(-logsigmoid(margin_P).mean()), abs=1e-5)
    metrics = (await runs.read.checkpoints(job))[0].metrics
    assert metrics["full_valid_reward_margin"] == pytest.approx(float(margin_P.mean()), abs=1e-5)
    assert metrics["full_valid_reward_accuracy"] == float((margin_P > 0).float().mean())
    assert not [name for name in metrics if "token_accuracy" in name]
    assert await _curves(runs, job) == ALWAYS | OF_PAIRS
    report = await runs.read.report(job)
    assert report["full_valid_loss"]["tuned"] == curve[4]
    chosen, rejected = plain.values()
    preferred = sum(a > b for a, b in zip(chosen, rejected, strict=True)) / len(OTHER_PAIRS)
    assert report["preference_accuracy"]["base_mean"] == preferred
    assert report["chosen_logprob"]["base_mean"] == pytest.approx(sum(chosen) / 10, abs=1e-4)
    assert report["rejected_logprob"]["base_mean"] == pytest.approx(sum(rejected) / 10, abs=1e-4)
    assert report["implicit_rewards"]["margin"] == pytest.approx(float(margin_P.mean()), abs=1e-5)
    assert metrics["full_valid_chosen_logprob"] == report["chosen_logprob"]["tuned_mean"]
    change = report["chosen_logprob"]["difference"]
    assert metrics["full_valid_chosen_change"] == pytest.approx(change, abs=1e-4)
    assert change > 0
    root = runs.world.settings.objects_dir / f"projects/{job.project_id}/jobs/{job.id}"
    assert {path.name.split("-")[0] for path in root.iterdir()} == {"step"}, "nothing else is left"


async def test_a_loss_without_a_reference_trains(runs: SupervisedRuns) -> None:
    loss = {"type": "bradley_terry", "length_normalised": True}
    hyper = {"n_epochs": 2, "batch_size": 5, "learning_rate_multiplier": 3}
    job = await runs.job("dpo", PAIRS, OTHER_PAIRS, hyperparameters=hyper, loss=loss)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    curve = await runs.read.curve(job, "train/loss", "valid")
    assert curve[4] < curve[2] < curve[0]
