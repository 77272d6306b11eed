"""A project behind the API, a real engine with a model that knows one answer, and a worker."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from app.domain.models.models import BaseModelSpec
from app.factory import provisioning_service
from app.gateways.egress.client import build_egress
from app.gateways.inference.http import HttpInference
from app.gateways.inference.judges import build_judge_egress
from app.gateways.objects import LocalObjects
from app.main import create_app
from app.settings import EgressSettings, LeaseSettings, Settings
from app.store.database import Database as Store
from app.store.evals.claims import ClaimedEvalRun, eval_claims
from tests.support import stack
from tests.support.endpoints import EndpointServer, Reply, endpoint
from tests.support.engine_server import running_engine
from tests.support.tiny_model import CONTEXT_LENGTH, save_parrot
from workers.evals.child import work
from workers.evals.context import EvalPorts

MODEL = "parrot-2026-11-21"
QUESTION, ANSWER = "What is the weight of part P017?", "The answer is 42."
TALK = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]
PROMPT = {"type": "template", "template": [{"role": "user", "content": "{{ item.question }}"}]}


@pytest.fixture(scope="session")
def parrot(tmp_path_factory: pytest.TempPathFactory) -> BaseModelSpec:
    path = save_parrot(tmp_path_factory.mktemp("parrot"), [TALK])
    return BaseModelSpec(
        name=MODEL, aliases=("parrot",), path=str(path), context_length=CONTEXT_LENGTH
    )


@pytest.fixture(scope="session")
def engine_url(parrot: BaseModelSpec) -> Iterator[str]:
    with running_engine([parrot]) as url:
        yield url


@dataclass(frozen=True, slots=True)
class World:
    http: httpx.AsyncClient
    ports: EvalPorts
    grader: EndpointServer

    async def post(self, path: str, body: Any, *, expect: int = 201) -> Any:
        reply = await self.http.post(path, json=body)
        assert reply.status_code == expect, reply.text
        return reply.json()

    async def get(self, path: str, **params: Any) -> Any:
        reply = await self.http.get(path, params=params)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def make(self, *criteria: dict[str, Any], source: dict[str, Any]) -> str:
        """The path of a new run."""
        config = {"type": "custom", "item_schema": {"type": "object"}}
        made = await self.post(
            "/v1/evals", {"data_source_config": config, "testing_criteria": list(criteria)}
        )
        path = f"/v1/evals/{made['id']}/runs"
        run = await self.post(path, {"name": "r", "data_source": source})
        assert run["status"] == "queued"
        return f"{path}/{run['id']}"

    async def claim(self, path: str, *, lease_s: float = 30.0) -> ClaimedEvalRun:
        async with eval_claims(self.ports.database) as unit:
            claimed = await unit.runs.claim(path.rsplit("/", 1)[1], "here", lease_s, max_attempts=3)
        assert claimed is not None
        return claimed

    async def finish(self, path: str) -> Any:
        await work(self.ports, await self.claim(path))
        return await self.get(path)

    async def items(self, path: str, **params: Any) -> list[Any]:
        data: list[Any] = (await self.get(f"{path}/output_items", **params))["data"]
        return data

    async def until_items(self, path: str, count: int) -> None:
        for _ in range(1000):
            if len(await self.items(path)) >= count:
                return
            await asyncio.sleep(0.03)
        raise TimeoutError(f"{path} did not write {count} items")

    async def until_ended(self, path: str) -> Any:
        for _ in range(1000):
            run = await self.get(path)
            if run["status"] not in ("queued", "in_progress"):
                return run
            await asyncio.sleep(0.03)
        raise TimeoutError(f"{path} did not end")

    async def upload(self, rows: list[Any]) -> str:
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        reply = await self.http.post(
            "/v1/files", files={"file": ("rows.jsonl", content)}, data={"purpose": "evals"}
        )
        file_id: str = reply.json()["id"]
        return file_id


def rows(*contents: dict[str, Any]) -> dict[str, Any]:
    return {"type": "file_content", "content": [{"item": content} for content in contents]}


def sampled(source: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "type": "completions",
        "source": source,
        "input_messages": PROMPT,
        "model": "parrot",
        "sampling_params": {"temperature": 0, "max_completion_tokens": 32},
        **changes,
    }


def exact(name: str = "exact", **changes: Any) -> dict[str, Any]:
    return {
        "type": "string_check",
        "name": name,
        "operation": "eq",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.answer }}",
        **changes,
    }


@pytest.fixture
async def world(
    database: stack.Database, parrot: BaseModelSpec, engine_url: str
) -> AsyncIterator[World]:
    async with endpoint(lambda _: Reply(json={"score": 0.5})) as grader:
        settings = _settings(database.settings, parrot, engine_url, grader)
        store = Store(settings.database_url)
        provisioning = provisioning_service(settings, store)
        first = await provisioning.provision(slug="first", title="First", project_name="p")
        await store.dispose()
        ports = EvalPorts(
            settings=settings,
            database=Store(settings.worker_database_url, pool_size=3),
            objects=LocalObjects(settings.objects_dir),
            egress=build_egress(settings.egress),
            judge_egress=build_judge_egress((), settings.egress),
            inference=HttpInference(engine_url),
        )
        app = create_app(settings)
        transport = httpx.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {first.api_key}"}
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as http,
        ):
            yield World(http, ports, grader)
        await ports.egress.aclose()
        await ports.judge_egress.aclose()
        await ports.inference.aclose()
        await ports.database.dispose()


def _settings(
    base: Settings, parrot: BaseModelSpec, engine_url: str, grader: EndpointServer
) -> Settings:
    egress = EgressSettings(
        allow_endpoints=(grader.host_port,), allow_plain_http=True, call_timeout_s=2, max_retries=0
    )
    return base.model_copy(
        update={
            "egress": egress,
            "engine_url": engine_url,
            "base_models": (parrot,),
            "lease": LeaseSettings(lease_s=4, sweep_interval_s=1, max_attempts=3),
        }
    )
