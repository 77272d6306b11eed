"""Supervised training over HTTP, a reinforcement job that continues from there, the tuned model
called, and the webhook at an end.
"""

import csv
import io
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx
import pytest
import torch
from openai import BadRequestError, OpenAI
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.rollouts.metrics import meaning
from app.settings import shipped_models
from examples.records_agent.tools import SCHEMAS
from tests.support.e2e.attached_evals import attached_eval, check_attached_runs
from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.tuned_models import (
    HELD_OUT,
    file,
    followed,
    lookup_row,
    reinforced,
    turn_ids,
)
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import records_method
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.webhooks.webhook_receiver import webhook_receiver

pytestmark = pytest.mark.long

STEPS = 8


def _stock_loss(model: Any, tokenizer: Any, row: dict[str, Any]) -> tuple[float, int]:
    """Sum of the cross-entropy of both of a row's assistant turns, and their tokens."""
    total, count = 0.0, 0
    for index in (1, 3):
        ids, start = turn_ids(tokenizer, row["messages"], index, row["tools"])
        with torch.no_grad():
            lp_TV = model(torch.tensor([ids])).logits[0, :-1].log_softmax(-1)
        picked_T = lp_TV.gather(1, torch.tensor(ids[1:])[:, None])[start - 1 :]
        total, count = total - float(picked_T.sum()), count + len(picked_T)
    return total, count


def _played_rows_agree_with_the_supervised_report(
    client: OpenAI, report: dict[str, Any], model: str, *, side: str
) -> None:
    """A token of a row is the most probable one as far as the greedy answer is the row's."""
    least, most, nats = [], [], []
    for number in HELD_OUT:
        row = lookup_row(number)
        turns = [followed(client, model, row["messages"], index, row["tools"]) for index in (1, 3)]
        tokens = sum(turn.tokens for turn in turns)
        least.append(sum(turn.matched for turn in turns) / tokens)
        most.append(sum(turn.most_matching for turn in turns) / tokens)
        nats.append(-sum(turn.logprob for turn in turns) / tokens)
    accuracy, loss = report["token_accuracy"], report["loss"]
    assert fmean(least) - 1e-6 <= accuracy[f"{side}_mean"] <= fmean(most) + 1e-6
    assert fmean(nats) > 0, "the answers show something"
    assert fmean(nats) <= loss[f"{side}_mean"] + 1e-4


def test_a_supervised_model_is_served_and_continues_by_reinforcement(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str], tmp_path: Path
) -> None:
    client = live.client()
    training, validation = (file(client, tmp_path, rows) for rows in (range(16), HELD_OUT))
    attached = attached_eval(client, tmp_path, {number: lookup_row(number) for number in HELD_OUT})
    with _reported_ends(client, endpoints) as reported:
        created = client.fine_tuning.jobs.create(
            model="tiny-agent",
            extra_body={"evals": [attached]},
            training_file=training,
            validation_file=validation,
            seed=5,
            method={
                "type": "supervised",
                "supervised": {"hyperparameters": {"n_epochs": 2, "batch_size": 4}},
            },
        )
        job = wait_until_final(client, created.id)
        assert job.status == "succeeded", job.error
        assert reported(1) == [("fine_tuning.job.succeeded", job.id)]
    tuned = str(job.fine_tuned_model)
    check_attached_runs(client, job, attached)

    metrics = [
        event for event in client.fine_tuning.jobs.list_events(job.id) if event.type == "metrics"
    ]
    assert len(metrics) == STEPS
    checkpoints = client.fine_tuning.jobs.checkpoints.list(job.id).data
    assert [checkpoint.step_number for checkpoint in checkpoints] == [8, 4]
    last = checkpoints[0].metrics
    assert last.full_valid_loss is not None
    assert last.train_mean_token_accuracy is not None
    assert metrics[0].data["full_valid_loss"] == last.full_valid_loss  # type: ignore[index]  # the client types an event's data as object
    report = live.get(f"/fine_tuning/jobs/{job.id}/report")
    assert report["full_valid_loss"]["tuned"] == last.full_valid_loss
    assert report["full_valid_loss"]["base"] > last.full_valid_loss
    for served, side in (("tiny-agent", "base"), (tuned, "tuned")):
        _played_rows_agree_with_the_supervised_report(client, report, served, side=side)

    (adapter,) = live.data_dir.glob(f"objects/projects/*/jobs/{job.id}/step-*8-f*/adapter")
    path = shipped_models()[0].path
    base: Any = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    model, tokenizer = PeftModel.from_pretrained(base, str(adapter)).eval(), AutoTokenizer
    sums = [_stock_loss(model, tokenizer.from_pretrained(path), lookup_row(n)) for n in HELD_OUT]
    stock = math.fsum(total for total, _ in sums) / sum(count for _, count in sums)
    assert last.full_valid_loss == pytest.approx(stock, abs=1e-4)

    table = list(csv.DictReader(io.StringIO(client.files.content(job.result_files[0]).text)))
    assert [row["step"] for row in table] == [str(step) for step in range(1, STEPS + 1)]
    assert float(table[-1]["full_valid_loss"]) == last.full_valid_loss
    assert table[0]["full_valid_loss"] == ""
    assert job.trained_tokens == sum(float(row["train/train/tokens"]) for row in table)
    page = live.get(f"/fine_tuning/jobs/{job.id}/metrics")["data"]
    assert [curve["name"] for curve in page if meaning(curve["name"]) is None] == []

    answer = client.chat.completions.create(
        model=tuned,
        messages=[{"role": "user", "content": "What is the weight of part P007?"}],
        tools=SCHEMAS,  # type: ignore[arg-type]  # a plain dict is sent where the client has a typed one
        max_tokens=32,
    )
    assert answer.model == tuned
    _reinforced_from(live, endpoints, small_files, tuned)


@contextmanager
def _reported_ends(
    client: OpenAI, endpoints: Endpoints
) -> Iterator[Callable[[int], list[tuple[str, str]]]]:
    """Yields what waits for so many webhooks, and says what they were of."""
    with webhook_receiver(int(endpoints.hook.rpartition(":")[2])) as taken:
        made = client.webhooks.create(
            name="ends",
            url=endpoints.hook,
            event_types=["fine_tuning.job.succeeded", "fine_tuning.job.failed"],
        )

        def reported(count: int) -> list[tuple[str, str]]:
            wait_for(lambda: len(taken) == count, what="the event of the end")
            events: Any = [
                client.webhooks.unwrap(body, headers, secret=made.signing_secret)
                for headers, body in taken
            ]
            return [(event.type, event.data.id) for event in events]

        yield reported
        client.webhooks.delete(made.id)


def _reinforced_from(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], tuned: str
) -> None:
    client = live.client()
    method = records_method(endpoints.good)
    sent = {"training_file": files[0], "validation_file": files[1], "method": method}
    reinforced(live, endpoints, files, tuned)

    project = httpx.post(
        f"{live.base_url}/organization/projects",
        json={"name": "apart"},
        headers={"Authorization": f"Bearer {live.admin_key}"},
        timeout=PATIENCE_S,
    )
    service = httpx.post(
        f"{live.base_url}/organization/projects/{project.json()['id']}/service_accounts",
        json={"name": "apart"},
        headers={"Authorization": f"Bearer {live.admin_key}"},
        timeout=PATIENCE_S,
    )
    stranger = OpenAI(base_url=live.base_url, api_key=service.json()["api_key"]["value"])
    reported = []
    for name in (tuned, tuned[:-1] + "_"):
        with pytest.raises(BadRequestError) as caught:
            stranger.fine_tuning.jobs.create(model=name, **sent)
        reported.append(
            (caught.value.code, caught.value.param, caught.value.message.replace(name, ""))
        )
    assert reported[0] == reported[1]
    assert reported[0][:2] == ("model_not_available", "model")
    client.models.delete(tuned)
    with pytest.raises(BadRequestError, match="does not exist"):
        client.fine_tuning.jobs.create(model=tuned, **sent)
