"""Builders of files and jobs for tests that talk to a running installation."""

from pathlib import Path
from typing import Any

from openai import OpenAI

from examples.records_agent.dataset import write_dataset


def upload(client: OpenAI, path: Path) -> str:
    with path.open("rb") as file:
        return client.files.create(file=file, purpose="fine-tune").id


def upload_dataset(client: OpenAI, directory: Path, *, train: int, valid: int) -> tuple[str, str]:
    paths = write_dataset(directory, train=train, valid=valid, seed=7)
    return upload(client, paths[0]), upload(client, paths[1])


def records_method(endpoint: str, **hyperparameters: Any) -> Any:
    return {
        "type": "reinforcement",
        "reinforcement": {
            "tools": [
                {
                    "name": name,
                    "server_url": f"{endpoint}/tools",
                    "headers": {"X-Customer-Key": "canary-header-value"},
                }
                for name in ("lookup", "calculator")
            ],
            "grader": {"type": "endpoint", "name": "records", "url": f"{endpoint}/grade"},
            "response_format": None,
            "max_episode_steps": 12,
            "hyperparameters": {"n_epochs": 1, "batch_size": 8, **hyperparameters},
        },
    }


def create_job(
    client: OpenAI,
    endpoint: str,
    files: tuple[str, str],
    *,
    model: str = "tiny-agent",
    **settings: Any,
) -> Any:
    return client.fine_tuning.jobs.create(
        model=model,
        training_file=files[0],
        validation_file=files[1],
        seed=3,
        suffix="records",
        metadata={"team": "tests"},
        method=records_method(endpoint, **settings),
    )
