"""A tuned model is prompted with the reasoning effort it was trained with."""

from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from tests.support.contract.service import BASE, Service
from tests.support.contract.siblings import SiblingProject

LOW = {"reasoning_effort": "low", "enable_thinking": False}
HIGH = {"reasoning_effort": "high", "enable_thinking": True}


@pytest.fixture
def tuned(service: Service, job: Any) -> str:
    """Adds a tuned model that was trained with little effort."""
    name = f"ft:{BASE}:first::{job.id[-8:]}"
    service.add_tuned_model(job.id, name, f"adapter-{job.id}", reasoning_effort="low")
    return name


def reported(service: Service, client: OpenAI, model: str, **options: Any) -> Any:
    """The variables that the engine was given."""
    ask: Any = client.chat.completions.create
    reply = ask(model=model, messages=[{"role": "user", "content": "hi"}], **options)
    if options.get("stream"):
        list(reply)
    body = service.engine.bodies[-1]
    assert "reasoning_effort" not in body
    return body.get("chat_template_kwargs")


def test_the_calls_own_effort_wins_and_the_trained_one_is_the_default(
    service: Service, tuned: str
) -> None:
    client = service.client()
    assert reported(service, client, tuned) == LOW
    assert reported(service, client, tuned, stream=True) == LOW
    assert reported(service, client, tuned, reasoning_effort=None) == LOW
    assert reported(service, client, tuned, reasoning_effort="high") == HIGH
    assert reported(service, client, tuned, reasoning_effort="high", stream=True) == HIGH
    assert reported(service, client, tuned, reasoning_effort="default") is None
    assert reported(service, client, BASE) is None
    assert reported(service, client, BASE, reasoning_effort="low") == LOW


def test_a_project_that_shares_the_model_calls_it_with_the_same_effort(
    service: Service, sibling: SiblingProject, tuned: str
) -> None:
    permissions = service.client().fine_tuning.checkpoints.permissions
    permissions.create(tuned, project_ids=[sibling.project_id])
    assert reported(service, service.client(key=sibling.key), tuned) == LOW


def test_a_model_trained_without_one_is_called_without(service: Service, job: Any) -> None:
    name = f"ft:{BASE}:first::plain"
    service.add_tuned_model(job.id, name, "adapter-plain")
    assert reported(service, service.client(), name) is None


@pytest.mark.parametrize("wrong", ["", "endless", "Low", 3, ["low"], {"a": 1}])
def test_an_unknown_effort_is_refused_before_the_engine_is_called(
    service: Service, tuned: str, wrong: Any
) -> None:
    with pytest.raises(BadRequestError) as caught:
        reported(service, service.client(), tuned, reasoning_effort=wrong)
    assert (caught.value.param, caught.value.code) == ("reasoning_effort", "invalid_value")
    assert service.engine.bodies == []
