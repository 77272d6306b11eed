"""Creates evals through the official client and runs the worker over them."""

import asyncio
from typing import Any

from openai import OpenAI

from app.database import Database as Store
from app.evals.claims import eval_claims
from app.kit.egress_client import build_egress
from app.kit.objects import build_objects
from app.models.engine_http import HttpInference
from tests.support.contract.service import Service
from tests.support.store.claims import claim_row
from workers.evals.child import work
from workers.processes.clients import Clients

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}


CHECK: Any = {
    "type": "string_check",
    "name": "exact",
    "operation": "eq",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
}


def make(client: OpenAI, name: str = "mine", **changes: Any) -> Any:
    config: Any = {"type": "custom", "item_schema": SCHEMA, "include_sample_schema": True}
    return client.evals.create(
        name=name,
        data_source_config=config,
        testing_criteria=[CHECK],
        metadata={"team": "tests"},
        **changes,
    )


def content(*answers: str) -> Any:
    given = {"output_text": "hi"}
    rows = [{"item": {"answer": answer}, "sample": given} for answer in answers]
    return {"type": "file_content", "content": rows}


def sampled(*answers: str) -> Any:
    return {
        "type": "completions",
        "source": content(*answers),
        "model": "tiny-agent",
        "input_messages": {"type": "template", "template": [{"role": "user", "content": "Say it"}]},
        "sampling_params": {"seed": 7, "temperature": 0.5, "top_p": 0.9},
    }


def run_worker(service: Service, run_id: str) -> None:
    """Runs an eval in this process as the control worker does."""

    async def see_through() -> None:
        settings = service.database.settings
        egress = build_egress(settings.egress)
        ports = Clients(
            settings=settings,
            database=Store(settings.worker_database_url),
            objects=build_objects(settings),
            egress=egress,
            judge_egress=egress,
            inference=HttpInference(service.engine.url),
        )
        claimed = await claim_row(eval_claims(ports.database), run_id)
        assert claimed is not None
        await work(ports, claimed)
        await egress.aclose()
        await ports.inference.aclose()
        await ports.database.dispose()

    asyncio.run(see_through())
