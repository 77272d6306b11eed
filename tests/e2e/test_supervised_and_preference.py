"""Supervised and preference training over HTTP, reinforcement jobs that go on from there and from
one another, the tuned model called, and the webhook at an end.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx
import pytest
import torch
from openai import BadRequestError, OpenAI
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.domain.rollouts.metric_meanings import meaning
from app.rendering.renderer import Renderer
from app.settings.models import shipped_models
from examples.records_agent.tools import SCHEMAS
from tests.support.e2e.main_job import Endpoints
from tests.support.installation import Installation, wait_until_final
from tests.support.jobs import records_method, upload
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.served import FollowedText, follow_text
from tests.support.webhook_receiver import webhook_receiver

STEPS = 8
HELD_OUT = range(40, 50)


def _row(number: int) -> dict[str, Any]:
    """An agent's whole conversation: a call, its reply, the answer."""
    call = {"name": "lookup", "arguments": json.dumps({"record": f"P{number:03}"})}
    return {
        "messages": [
            {"role": "user", "content": f"What is the weight of part P{number:03}?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "the weight is 12"},
            {"role": "assistant", "content": "The weight is 12."},
        ],
        "tools": list(SCHEMAS),
    }


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


def _file(
    client: OpenAI, directory: Path, numbers: range, row: Callable[[int], dict[str, Any]] = _row
) -> str:
    path = directory / f"rows-{numbers.start}.jsonl"
    path.write_text("\n".join(json.dumps(row(n)) for n in numbers))
    return upload(client, path)


def _turn_ids(
    tokenizer: Any, messages: list[Any], place: int, tools: list[Any] | None = None
) -> tuple[list[int], int]:
    """Returns the ids up to the end of the assistant message at `place`, and where it begins."""
    messages = json.loads(json.dumps(messages))
    for message in messages:
        message["content"] = message["content"] or ""
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    opening, whole = (
        tokenizer.apply_chat_template(
            part, tools=tools, add_generation_prompt=opens, return_dict=False
        )
        for part, opens in ((messages[:place], True), (messages[: place + 1], False))
    )
    ids = whole[: len(whole) - whole[::-1].index(tokenizer.eos_token_id)]
    assert ids[: len(opening)] == opening
    return ids, len(opening)


def _stock_loss(model: Any, tokenizer: Any, row: dict[str, Any]) -> tuple[float, int]:
    """Sum of the cross-entropy of both of a row's assistant turns, and their tokens."""
    total, count = 0.0, 0
    for place in (1, 3):
        ids, start = _turn_ids(tokenizer, row["messages"], place, row["tools"])
        with torch.no_grad():
            lp_TV = model(torch.tensor([ids])).logits[0, :-1].log_softmax(-1)
        picked_T = lp_TV.gather(1, torch.tensor(ids[1:])[:, None])[start - 1 :]
        total, count = total - float(picked_T.sum()), count + len(picked_T)
    return total, count


def _followed(
    client: OpenAI,
    model: str,
    messages: list[Any],
    place: int,
    tools: list[Any] | None = None,
) -> FollowedText:
    """Follows the assistant message at `place` through the public API."""
    spec = shipped_models()[0]
    ids, start = _turn_ids(AutoTokenizer.from_pretrained(spec.path), messages, place, tools)
    renderer = Renderer(spec.path, tool_parser=spec.tool_parser, chat_template=spec.chat_template)
    return follow_text(
        client,
        model,
        messages[:place],
        text=[renderer.decode([token]) for token in ids[start:]],
        tools=tools or (),
    )


def _played_rows_agree_with_the_supervised_report(
    client: OpenAI, report: dict[str, Any], model: str, *, side: str
) -> None:
    """A token of a row is the most probable one as far as the greedy answer is the row's."""
    least, most, nats = [], [], []
    for number in HELD_OUT:
        row = _row(number)
        turns = [_followed(client, model, row["messages"], place, row["tools"]) for place in (1, 3)]
        tokens = sum(turn.tokens for turn in turns)
        least.append(sum(turn.matched for turn in turns) / tokens)
        most.append(sum(turn.most_matching for turn in turns) / tokens)
        nats.append(-sum(turn.logprob for turn in turns) / tokens)
    accuracy, loss = report["token_accuracy"], report["loss"]
    assert fmean(least) - 1e-6 <= accuracy[f"{side}_mean"] <= fmean(most) + 1e-6
    assert fmean(nats) > 0, "the answers show something"
    assert fmean(nats) <= loss[f"{side}_mean"] + 1e-4


def _played_pairs_agree_with_the_preference_report(
    client: OpenAI, report: dict[str, Any], model: str, *, side: str
) -> None:
    """An answer is at most as probable as its first token, whose log-prob the API lists."""
    for answer, figure in (
        ("preferred_output", "chosen_logprob"),
        ("non_preferred_output", "rejected_logprob"),
    ):
        firsts = []
        for number in HELD_OUT:
            pair = _pair(number)
            messages = [*pair["input"]["messages"], *pair[answer]]
            firsts.append(_followed(client, model, messages, 1).logprob)
        assert answer != "preferred_output" or max(firsts) < 0, "the API lists each of them"
        assert report[figure][f"{side}_mean"] <= fmean(firsts) + 1e-4


def test_a_supervised_model_is_served_and_goes_on_by_reinforcement(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str], tmp_path: Path
) -> None:
    client = live.client()
    training, validation = (_file(client, tmp_path, rows) for rows in (range(16), HELD_OUT))
    with _told_of_ends(client, endpoints) as told:
        created = client.fine_tuning.jobs.create(
            model="tiny-agent",
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
        assert told(1) == [("fine_tuning.job.succeeded", job.id)]
    tuned = str(job.fine_tuned_model)

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
    sums = [_stock_loss(model, tokenizer.from_pretrained(path), _row(n)) for n in HELD_OUT]
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


def test_a_preferring_model_goes_on_by_reinforcement_twice(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str], tmp_path: Path
) -> None:
    client = live.client()
    created = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=_file(client, tmp_path, range(10), _pair),
        validation_file=_file(client, tmp_path, HELD_OUT, _pair),
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
    assert report["full_valid_loss"] == {
        "base": losses[0],
        "start": losses[0],
        "tuned": losses[4],
    }
    assert report["implicit_rewards"]["margin"] > 0
    for served, side in (("tiny-agent", "base"), (str(job.fine_tuned_model), "tuned")):
        _played_pairs_agree_with_the_preference_report(client, report, served, side=side)

    chain = [job]
    for _ in range(2):
        chain.append(_reinforced(live, endpoints, small_files, chain[-1].fine_tuned_model))
    for before, after in pairwise(chain):
        moved = _distance(_published(live, before), _published(live, after))
        assert 0 < moved < 0.01, "two small steps away from where it started, and not from the base"


@contextmanager
def _told_of_ends(
    client: OpenAI, endpoints: Endpoints
) -> Iterator[Callable[[int], list[tuple[str, str]]]]:
    """Yields what waits for so many webhooks, and says what they were of."""
    with webhook_receiver(int(endpoints.hook.rpartition(":")[2])) as taken:
        made = client.webhooks.create(
            name="ends",
            url=endpoints.hook,
            event_types=["fine_tuning.job.succeeded", "fine_tuning.job.failed"],
        )

        def told(count: int) -> list[tuple[str, str]]:
            wait_for(lambda: len(taken) == count, what="the event of the end")
            events: Any = [
                client.webhooks.unwrap(body, headers, secret=made.signing_secret)
                for headers, body in taken
            ]
            return [(event.type, event.data.id) for event in events]

        yield told
        client.webhooks.delete(made.id)


def _reinforced(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], start: str
) -> Any:
    """A job of two steps that starts from a tuned model."""
    client = live.client()
    method = records_method(endpoints.good, batch_size=12, compute_multiplier=0.5, eval_interval=10)
    created = client.fine_tuning.jobs.create(
        model=start, training_file=files[0], validation_file=files[1], method=method, seed=5
    )
    assert created.model == start
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    ratios = live.curve(job.id, "train/sampler_max_abs_log_ratio")
    assert ratios[1] < 1e-2, "sampled from the model that the trainer starts from"
    assert live.get(f"/fine_tuning/jobs/{job.id}/report")["start_model"] == start
    return job


def _published(live: Installation, job: Any) -> dict[str, torch.Tensor]:
    step = live.get(f"/fine_tuning/jobs/{job.id}/report")["step"]
    (adapter,) = live.data_dir.glob(f"objects/projects/*/jobs/{job.id}/step-{step:06d}-f*/adapter")
    return load_file(adapter / "adapter_model.safetensors")


def _distance(adapter: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    """Of the weight that differs most. Two fresh adapters differ by 0.1 and more."""
    return max(float((adapter[name] - other[name]).abs().max()) for name in adapter)


def _reinforced_from(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], tuned: str
) -> None:
    client = live.client()
    method = records_method(endpoints.good)
    sent = {"training_file": files[0], "validation_file": files[1], "method": method}
    _reinforced(live, endpoints, files, tuned)

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
    told = []
    for name in (tuned, tuned[:-1] + "_"):
        with pytest.raises(BadRequestError) as caught:
            stranger.fine_tuning.jobs.create(model=name, **sent)
        told.append((caught.value.code, caught.value.param, caught.value.message.replace(name, "")))
    assert told[0] == told[1]
    assert told[0][:2] == ("model_not_available", "model")
    client.models.delete(tuned)
    with pytest.raises(BadRequestError, match="does not exist"):
        client.fine_tuning.jobs.create(model=tuned, **sent)
