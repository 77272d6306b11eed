"""A model that was tuned on a base model which an upgrade no longer ships: what calls of it answer,
and that it serves once its directory is named.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from app.models.models import BaseModelSpec
from app.settings import shipped_models
from tests.support.contract.evals import make, sampled
from tests.support.contract.service import Service
from tests.support.engines.engine_server import running_engine
from tests.support.models.base_models import SHIPPED
from tests.support.web.api_server import running_api
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainerOptions

FORMER = "tiny-agent-2026-11-21"
OFFERED_AGAIN = BaseModelSpec(name=FORMER, path=str(SHIPPED), context_length=1024)
"""The former weights are not in the package; those of today stand in for them."""
MESSAGES: Any = [{"role": "user", "content": "What is 3 + 4?"}]
Call = Callable[[Any, str, Any], Any]


@pytest.fixture
def tuned(service: Service, job: Any) -> str:
    """Returns the name of a model with an adapter of the former base model."""
    name, key = f"ft:{FORMER}:first:kept:{job.id[-8:]}", f"adapters/former-{job.id}"
    trainer = LoraTrainer(
        str(SHIPPED),
        base_name=FORMER,
        rank=4,
        alpha=8.0,
        learning_rate=1e-3,
        seed=0,
        options=TrainerOptions(device="cpu", threads=1),
    )
    trainer.save_adapter(service.database.settings.objects_dir / key)
    service.add_tuned_model(job.id, name, f"former-{job.id}", object_key=key)
    service.execute("UPDATE tuned_models SET base_model = %s WHERE name = %s", FORMER, name)
    return name


def _chat(client: Any, model: str, job: Any) -> Any:
    del job
    return client.chat.completions.create(model=model, messages=MESSAGES)


def _stream(client: Any, model: str, job: Any) -> Any:
    del job
    return client.chat.completions.create(model=model, messages=MESSAGES, stream=True)


def _eval_run(client: Any, model: str, job: Any) -> Any:
    del job
    source = {**sampled("7"), "model": model}
    return client.evals.runs.create(make(client).id, data_source=source)


def _job(client: Any, model: str, job: Any) -> Any:
    method = {"type": "supervised"}
    return client.fine_tuning.jobs.create(
        model=model, training_file=job.training_file, method=method
    )


@pytest.mark.parametrize(
    ("call", "param"),
    [(_chat, "model"), (_stream, "model"), (_eval_run, "data_source.model"), (_job, "model")],
)
def test_calls_name_the_missing_base_model_and_the_cure(
    service: Service, job: Any, tuned: str, call: Call, param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        call(service.client(max_retries=0), tuned, job)
    assert (refused.value.code, refused.value.param) == ("model_not_available", param)
    for part in (tuned, f"'{FORMER}' is not offered any more", "AGENT_RFT_BASE_MODELS"):
        assert part in refused.value.message
    assert [body for body in service.engine.bodies if "former" in body["model"]] == []


def test_the_model_is_still_listed_and_its_adapter_can_be_downloaded(
    service: Service, tuned: str
) -> None:
    client = service.client()
    assert tuned in {model.id for model in client.models.list()}
    archive = client.get(f"/models/{tuned}/adapter", cast_to=bytes)
    assert archive


@contextmanager
def _offering(service: Service, *models: BaseModelSpec) -> Iterator[Any]:
    """Yields a client of the same database and objects behind an engine with more base models."""
    models = (*shipped_models(), *models)
    with running_engine(list(models)) as engine_url:
        changes = {"base_models": models, "engine_url": engine_url}
        with running_api(service.database.settings.model_copy(update=changes)) as api:
            yield openai.OpenAI(base_url=api.base_url, api_key=service.api.key, max_retries=0)


def test_with_its_directory_named_it_answers_as_its_base_does(service: Service, tuned: str) -> None:
    """A new adapter changes nothing, so the tuned model says what its base says."""
    with _offering(service, OFFERED_AGAIN) as client:
        said = [
            client.chat.completions.create(
                model=model, messages=MESSAGES, temperature=0, max_completion_tokens=24
            )
            for model in (tuned, FORMER)
        ]
    assert [reply.model for reply in said] == [tuned, FORMER]
    contents = [reply.choices[0].message.content for reply in said]
    assert contents[0] == contents[1] != ""
