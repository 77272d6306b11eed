"""Calls of `validate`, and rows to validate."""

import json
from typing import Any

from tests.support.api.application import Api
from tests.support.endpoints import EndpointServer

PATH = "/v1/fine_tuning/jobs/validate"


def rows(*texts: str) -> bytes:
    lines = [json.dumps({"messages": [{"role": "user", "content": text}]}) for text in texts]
    return "\n".join(lines).encode() + b"\n"


async def validate_call(api: Api, call: dict[str, Any]) -> Any:
    reply = await api.call("POST", PATH, json=call)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def job_count(api: Api) -> int:
    return len((await api.call("GET", "/v1/fine_tuning/jobs")).json()["data"])


async def create_call(api: Api, customer: EndpointServer) -> dict[str, Any]:
    """Returns a valid call whose grader is the customer's endpoint."""
    training = await api.upload(rows(*(f"a{n}" for n in range(32))))
    validation = await api.upload(rows(*(f"b{n}" for n in range(10))))
    return {
        "model": "tiny-agent",
        "training_file": training.json()["id"],
        "validation_file": validation.json()["id"],
        "method": {
            "type": "reinforcement",
            "reinforcement": {
                "tools": [],
                "grader": {"type": "endpoint", "name": "g", "url": customer.url("/grade")},
                "hyperparameters": {
                    "n_epochs": 2,
                    "batch_size": 8,
                    "compute_multiplier": 0.5,
                    "eval_interval": 4,
                    "eval_samples": 2,
                },
            },
        },
    }
