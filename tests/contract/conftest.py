"""The service on a real socket, an engine behind it, and a job with rows to page through."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.contract.service import BASE, ENDPOINT, ROW, Service, running_service
from tests.support.contract.siblings import SiblingProject, add_sibling
from tests.support.stack import Services


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture(scope="module")
def sibling(service: Service) -> SiblingProject:
    return add_sibling(service.database.settings)


@pytest.fixture(autouse=True)
def _engine_is_well(service: Service) -> None:
    engine = service.engine
    engine.models = {BASE}
    engine.refusals.clear()
    engine.bodies.clear()
    engine.stream.clear()
    engine.hang = engine.break_off = False
    engine.load_takes_s = 0.0
    engine.cancelled.clear()


@pytest.fixture
def method() -> dict[str, Any]:
    """The published Agent RFT method, names and addresses aside."""
    return {
        "type": "reinforcement",
        "reinforcement": {
            "tools": [
                {
                    "name": "search",
                    "server_url": f"{ENDPOINT}/search",
                    "headers": {"Authorization": "Bearer k"},
                }
            ],
            "grader": {
                "type": "endpoint",
                "name": "g",
                "url": f"{ENDPOINT}/grade",
                "headers": {},
                "rate_limit": 50,
                "pass_threshold": 0.75,
            },
            "response_format": None,
            "max_episode_steps": 10,
            "hyperparameters": {
                "compute_multiplier": 1,
                "eval_samples": 2,
                "eval_interval": 5,
                "n_epochs": 1,
                "reasoning_effort": "medium",
                "batch_size": 16,
            },
        },
    }


@pytest.fixture
def job(service: Service, method: dict[str, Any]) -> Any:
    client = service.client()
    file = client.files.create(file=("rows.jsonl", ROW * 12), purpose="fine-tune")
    create: Any = client.fine_tuning.jobs.create
    return create(
        model="tiny-agent",
        training_file=file.id,
        validation_file=file.id,
        seed=42,
        suffix="finqa",
        method=method,
    )
