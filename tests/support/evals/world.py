"""A project behind the API, and a worker that runs its evals on a real engine."""

import json
from dataclasses import dataclass
from typing import Any

import httpx

from app.evals.claims import eval_claims
from app.kit.leases import Lease
from tests.support.endpoints import EndpointServer
from tests.support.patience import until
from tests.support.store.claims import claim_row
from workers.evals.child import work
from workers.processes.clients import Clients

MODEL = "parrot-2026-11-21"


QUESTION, ANSWER = "What is the weight of part P017?", "The answer is 42."


TALK = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]


PROMPT = {"type": "template", "template": [{"role": "user", "content": "{{ item.question }}"}]}


@dataclass(frozen=True, slots=True)
class World:
    http: httpx.AsyncClient
    ports: Clients
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
        """Makes a run and returns its path."""
        config = {"type": "custom", "item_schema": {"type": "object"}}
        made = await self.post(
            "/v1/evals", {"data_source_config": config, "testing_criteria": list(criteria)}
        )
        path = f"/v1/evals/{made['id']}/runs"
        run = await self.post(path, {"name": "r", "data_source": source})
        assert run["status"] == "queued"
        return f"{path}/{run['id']}"

    async def claim(self, path: str, *, lease_s: float = 30.0) -> Lease:
        claims = eval_claims(self.ports.database)
        claimed = await claim_row(claims, path.rsplit("/", 1)[1], lease_s=lease_s, max_attempts=3)
        assert claimed is not None
        return claimed

    async def finish(self, path: str) -> Any:
        await work(self.ports, await self.claim(path))
        return await self.get(path)

    async def items(self, path: str, **params: Any) -> list[Any]:
        data: list[Any] = (await self.get(f"{path}/output_items", **params))["data"]
        return data

    async def until_items(self, path: str, count: int) -> None:
        async def written() -> bool:
            return len(await self.items(path)) >= count

        await until(written, what=f"{count} items of {path}")

    async def until_ended(self, path: str) -> Any:
        async def ended() -> bool:
            return (await self.get(path))["status"] not in ("queued", "in_progress")

        await until(ended, what=f"the end of {path}")
        return await self.get(path)

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
