"""Generated calls, good and bad, as two tenants: no server error, no undocumented answer, no leak.

A slice of about 2,000 cases; `make fuzz` runs more than 10,000 (`FUZZ_EXAMPLES`), in every phase.
"""

import json
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.contract.evals import make
from tests.support.contract.service import BASE, ROW, Service
from tests.support.patience import PATIENCE_S
from tests.support.registry.recipes import OWN
from tests.support.web.fuzzing import fuzz

pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
_SLICE, _SLICE_EXAMPLES = 2_000, 27
_WHOLE = 10_000


@pytest.fixture(scope="module")
def known(service: Service) -> dict[str, list[str]]:
    """One of each object, by the place where its id is sent."""
    client = service.client()
    files = [
        client.files.create(file=("rows.jsonl", ROW * 12), purpose="fine-tune").id for _ in range(3)
    ]
    method: Any = {
        "type": "reinforcement",
        "reinforcement": {"grader": {"type": "endpoint", "url": "http://127.0.0.1:9/grade"}},
    }
    jobs = [
        client.fine_tuning.jobs.create(
            model="tiny-agent", training_file=files[0], validation_file=files[1], method=method
        ).id
        for _ in range(3)
    ]
    service.add_tuned_model(jobs[0], "ft:tiny-agent:first::fuzz1234", "fuzz1234")
    service.add_rows(jobs[0], events=30, checkpoints=5)
    tool = {"name": "search", "server_url": "http://127.0.0.1:9/search"}
    environment = {"name": "e", "url": "http://127.0.0.1:9/world"}
    grader = {"name": "g", "grader": method["reinforcement"]["grader"]}
    return {
        "path.file_id": files,
        "path.job_id": jobs,
        "path.model": [BASE, "ft:tiny-agent:first::fuzz1234"],
        "path.fine_tuned_model_checkpoint": ["ft:tiny-agent:first::fuzz1234"],
        "path.eval_id": [make(client).id],
        "path.tool_id": [_made(service, "tools", tool)],
        "path.grader_id": [_made(service, "graders", grader)],
        "path.environment_id": [_made(service, "environments", environment)],
        "path.recipe_id": ["reasoning", _made(service, "recipes", OWN)],
        "body.training_file": files,
        "body.validation_file": files,
        "body.model": ["tiny-agent", BASE],
    }


def _made(service: Service, collection: str, body: dict[str, Any]) -> str:
    reply = httpx.post(
        f"{service.api.base_url}/{collection}",
        json=body,
        headers={"Authorization": f"Bearer {service.api.key}"},
        timeout=PATIENCE_S,
    )
    assert reply.status_code == 200, reply.text
    return str(reply.json()["id"])


@pytest.mark.timeout(3600)
def test_nothing_generated_finds_a_fault(
    service: Service, known: dict[str, list[str]], tmp_path: Path
) -> None:
    found = fuzz(
        service.api,
        tmp_path,
        known=known,
        examples=EXAMPLES or _SLICE_EXAMPLES,
        every_phase=EXAMPLES > 0,
    )
    assert found.failures == [], json.dumps(found.failures, indent=1) + found.output[:20_000]
    assert found.unfinished == ""
    assert found.cases >= (_WHOLE if EXAMPLES else _SLICE)
