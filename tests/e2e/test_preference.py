"""Preference training over HTTP, and two reinforcement jobs that continue from its model."""

import json
import math
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from openai import OpenAI
from safetensors.torch import load_file

from app.rollouts.metrics import meaning
from tests.support.e2e.attached_evals import attached_eval
from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.tuned_models import HELD_OUT, file, followed, lookup_row, reinforced
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.learning.adapter_weights import distance
from tests.support.patience import wait_for

pytestmark = pytest.mark.long


def _pair(number: int) -> dict[str, Any]:
    """Two answers whose first tokens are among the base model's most probable ones, so that the API
    lists them.
    """
    question = {"role": "user", "content": f"What is the material of part P{number:03}?"}
    good, bad = (
        [{"role": "assistant", "content": f"Probably {answer}"}] for answer in ("4", "nylon")
    )
    return {
        "input": {"messages": [question]},
        "preferred_output": good,
        "non_preferred_output": bad,
    }


def _played_pairs_agree_with_the_preference_report(
    client: OpenAI, report: dict[str, Any], model: str, *, side: str
) -> None:
    """An answer is at most as probable as its first token, whose log-prob the API lists."""
    for answer, name in (
        ("preferred_output", "chosen_logprob"),
        ("non_preferred_output", "rejected_logprob"),
    ):
        firsts = []
        for number in HELD_OUT:
            pair = _pair(number)
            messages = [*pair["input"]["messages"], *pair[answer]]
            firsts.append(followed(client, model, messages, 1).logprob)
        assert answer != "preferred_output" or max(firsts) < 0, "the API lists each of them"
        assert report[name][f"{side}_mean"] <= fmean(firsts) + 1e-4


def test_a_preferring_model_continues_by_reinforcement_twice(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str], tmp_path: Path
) -> None:
    client = live.client()
    created = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=file(client, tmp_path, range(10), _pair),
        validation_file=file(client, tmp_path, HELD_OUT, _pair),
        seed=5,
        method={
            "type": "dpo",
            "dpo": {"hyperparameters": {"n_epochs": 2, "batch_size": 5, "beta": 0.5}},
        },
    )
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    assert [
        checkpoint.step_number for checkpoint in client.fine_tuning.jobs.checkpoints.list(job.id)
    ] == [4, 2]
    losses = live.curve(job.id, "train/loss", "valid")
    assert losses[0] == pytest.approx(math.log(2), abs=1e-5), "nothing is preferred at first"
    assert losses[4] < losses[2] < losses[0]
    page = live.get(f"/fine_tuning/jobs/{job.id}/metrics")["data"]
    assert [curve["name"] for curve in page if meaning(curve["name"]) is None] == []
    report = live.get(f"/fine_tuning/jobs/{job.id}/report")
    assert report["full_valid_loss"] == {"base": losses[0], "start": losses[0], "tuned": losses[4]}
    assert report["implicit_rewards"]["margin"] > 0
    for served, side in (("tiny-agent", "base"), (str(job.fine_tuned_model), "tuned")):
        _played_pairs_agree_with_the_preference_report(client, report, served, side=side)

    chain = [job]
    for _ in range(2):
        chain.append(reinforced(live, endpoints, small_files, chain[-1].fine_tuned_model))
    for before, after in pairwise(chain):
        moved = distance(_published(live, before), _published(live, after))
        assert 0 < moved < 0.01, "two small steps away from where it started, and not from the base"


def _lookup(number: int, *, is_guess: bool = False) -> list[dict[str, Any]]:
    """The call that the question needs, or the guess that the shipped model often makes instead."""
    if is_guess:
        return [{"role": "assistant", "content": "Probably"}]
    call = {
        "name": "lookup",
        "arguments": json.dumps({"record": f"P{number:03}", "field": "weight"}),
    }
    calls = [{"id": f"call_{number}", "type": "function", "function": call}]
    return [{"role": "assistant", "content": "", "tool_calls": calls}]


def _call_or_guess(number: int) -> dict[str, Any]:
    row = lookup_row(number)
    return {
        "input": {"messages": row["messages"][:1], "tools": row["tools"]},
        "preferred_output": _lookup(number),
        "non_preferred_output": _lookup(number, is_guess=True),
    }


@pytest.mark.parametrize("seed", [31, 32, 33])
def test_a_job_of_defaults_keeps_what_is_preferred_and_answers_better(
    live: Installation, tmp_path: Path, seed: int
) -> None:
    client = live.client()
    held_out = range(300, 364)
    attached = attached_eval(client, tmp_path, {number: lookup_row(number) for number in held_out})
    attached["data_source"]["sampling_params"] |= {"temperature": 1, "seed": seed}
    created = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=file(client, tmp_path, range(96), _call_or_guess),
        validation_file=file(client, tmp_path, held_out, _call_or_guess),
        seed=seed,
        method={"type": "dpo", "dpo": {"hyperparameters": {"n_epochs": 2, "batch_size": 8}}},
        extra_body={"evals": [attached]},
    )
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error

    def report() -> Any:
        return live.get(f"/fine_tuning/jobs/{job.id}/report")

    wait_for(lambda: report()["evals"][0]["items"] == len(held_out), what="the answers' scores")
    assert report()["chosen_logprob"]["difference"] > 0
    answers = report()["evals"][0]
    assert answers["difference_ci95"][0] > 0, answers


def _published(live: Installation, job: Any) -> dict[str, torch.Tensor]:
    step = live.get(f"/fine_tuning/jobs/{job.id}/report")["step"]
    (adapter,) = live.data_dir.glob(f"objects/projects/*/jobs/{job.id}/step-{step:06d}-f*/adapter")
    return load_file(adapter / "adapter_model.safetensors")
