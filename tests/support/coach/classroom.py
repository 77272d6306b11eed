"""A project with a student of the shipped model, a Coach, and a worker, in the test's process.

The worker runs each job and each eval run that a session waits for, with the real engine and
trainer; only the customer's grader is the test's own.
"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from app.database import Database as Store
from app.evals.claims import eval_claims
from app.graders.judge_calls import build_judge_egress
from app.jobs.claims import job_claims
from app.kit.egress_client import build_egress
from app.kit.leases import Lease
from app.kit.objects import build_objects
from app.models.engine_http import HttpInference
from app.settings import EgressSettings
from app.teaching.coach.driver import CoachRunner
from app.wiring import coach_runner, context_of, provisioning_service
from tests.support.api.organization import execute
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.processes.shared_inspections import shared_inspections
from tests.support.stack import Database
from tests.support.store.claims import claim_row
from tests.support.web.application import application
from workers.evals import child as eval_child
from workers.job_child import work
from workers.processes.clients import Clients

SESSIONS = "/v1/coach_sessions"
HABIT = "Probably"
"""The answer that the shipped model gives to two questions in three."""
WEAK, STRONG = ("refunds", "invoices"), "greetings"
_MOST_STEPS = 400
Room = TypeVar("Room", bound="Classroom")


def rows(*tags: str, count: int, start: int = 0) -> list[dict[str, Any]]:
    """Returns `count` rows of each tag, all with different questions."""
    return [
        {
            "messages": [{"role": "user", "content": f"Ticket {number} about {tag}: what now?"}],
            "tags": [tag],
        }
        for tag in tags
        for number in range(start, start + count)
    ]


@dataclass
class Classroom:
    http: httpx.AsyncClient
    ports: Clients
    grader: EndpointServer
    runner: CoachRunner
    database: Database
    played: list[str] = field(default_factory=list)
    """Jobs that the worker ran, in their order."""
    before_job: Callable[[], None] = lambda: None

    async def post(self, path: str, body: Any = None, *, expect: int = 201) -> Any:
        reply = await self.http.post(path, json=body)
        assert reply.status_code == expect, reply.text
        return reply.json()

    async def get(self, path: str, **params: Any) -> Any:
        reply = await self.http.get(path, params=params)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def upload(self, content: Sequence[dict[str, Any]]) -> str:
        lines = "".join(json.dumps(row) + "\n" for row in content).encode()
        files = {"file": ("rows.jsonl", lines)}
        reply = await self.http.post("/v1/files", files=files, data={"purpose": "fine-tune"})
        file_id: str = reply.json()["id"]
        return file_id

    async def student(self, name: str = "clerk") -> None:
        """Makes a student that must go on to give its habitual answer to one question."""
        criterion = {
            "type": "string_check",
            "name": "habit",
            "operation": "eq",
            "input": "{{ sample.output_text }}",
            "reference": HABIT,
        }
        config = {"type": "custom", "item_schema": {"type": "object"}}
        made = await self.post(
            "/v1/evals", {"data_source_config": config, "testing_criteria": [criterion]}
        )
        question = {"role": "user", "content": "What is {{ item.number }} + 1?"}
        source = {
            "type": "completions",
            "model": "tiny-agent",
            "source": {
                "type": "file_content",
                "content": [{"item": {"number": number}} for number in range(8)],
            },
            "input_messages": {"type": "template", "template": [question]},
            "sampling_params": {"temperature": 0, "max_completion_tokens": 4},
        }
        await self.post(f"/v1/evals/{made['id']}/runs", {"data_source": source})
        body = {"name": name, "base_model": "tiny-agent", "regression_evals": [made["id"]]}
        await self.post("/v1/students", body)

    async def session(
        self, training: Sequence[dict[str, Any]], validation: Sequence[dict[str, Any]], **more: Any
    ) -> str:
        """Makes a session of student `clerk`. Returns its path."""
        body = {
            "student": "clerk",
            "training_file": await self.upload(training),
            "validation_file": await self.upload(validation),
            "grader": {"type": "endpoint", "name": "desk", "url": self.grader.url("/grade")},
            "samples": 4,
            **more,
        }
        return f"{SESSIONS}/{(await self.post(SESSIONS, body))['id']}"

    async def finish(self, path: str) -> Any:
        """Takes steps, and runs what each waits for, until the session has stopped."""
        for _ in range(_MOST_STEPS):
            session = await self.get(path)
            if session["status"] != "running":
                return session
            self.hurry()
            await self.take_step()
            await self.work((await self.get(path))["waiting_for"])
        raise AssertionError(f"{path} did not stop")

    async def take_step(self) -> None:
        await self.runner.take_due_steps()

    async def play(self, lease: Lease) -> None:
        """Runs a claim of a job."""
        await work(self.ports, lease)

    async def sample(self, lease: Lease) -> None:
        """Runs a claim of an eval run."""
        await eval_child.work(self.ports, lease)

    def hurry(self) -> None:
        """Makes the next step due now, not in two seconds."""
        execute(self.database, "UPDATE coach_sessions SET next_step_at = now() RETURNING id")

    async def work(self, waiting: Any) -> None:
        """Does what a session waits for, as a worker does."""
        if waiting is None:
            return
        if waiting["kind"] == "skill":
            await self._gate()
            return
        claims = job_claims(self.ports.database)
        lease = await claim_row(claims, waiting["id"], lease_s=600.0)
        if lease is not None:
            self.before_job()
            self.played.append(waiting["id"])
            await self.play(lease)

    async def _gate(self) -> None:
        for student in (await self.get("/v1/students"))["data"]:
            for skill in (await self.get(f"/v1/students/{student['name']}/skills"))["data"]:
                for pair in skill["runs"]:
                    for run_id in (pair["before"], pair["after"]):
                        claims = eval_claims(self.ports.database)
                        lease = await claim_row(claims, run_id, lease_s=600.0)
                        if lease is not None:
                            await self.sample(lease)

    async def logbook(self, path: str) -> list[Any]:
        data: list[Any] = (await self.get(f"{path}/logbook", limit=100))["data"]
        return data


def _score(sent: ReceivedRequest) -> Reply:
    """Scores a ticket: any greeting is right, and every other answer must be the habitual one."""
    if not sent.body:  # the probe before a job is made
        return Reply(json={})
    body = sent.json
    right = STRONG in body["item"]["tags"] or body["sample"]["output_text"].strip() == HABIT
    return Reply(json={"score": float(right)})


@asynccontextmanager
async def classroom_of(
    database: Database, engine_url: str, kind: type[Room]
) -> AsyncIterator[Room]:
    """Yields a classroom of a kind on a fresh database, with the engine of the shipped model."""
    async with endpoint(_score) as grader:
        egress = EgressSettings(
            allow_endpoints=(grader.host_port,),
            allow_plain_http=True,
            call_timeout_s=PATIENCE_S,
            max_retries=0,
        )
        settings = database.settings.model_copy(update={"egress": egress, "engine_url": engine_url})
        store = Store(settings.database_url)
        provisioning = provisioning_service(settings, store)
        first = await provisioning.provision(slug="first", title="First", project_name="p")
        await store.dispose()
        ports = Clients(
            settings=settings,
            database=Store(settings.worker_database_url, pool_size=3),
            objects=build_objects(settings),
            egress=build_egress(settings.egress),
            judge_egress=build_judge_egress((), settings.egress),
            inference=HttpInference(engine_url),
        )
        app = application(settings)
        transport = httpx.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {first.api_key}"}
        with shared_inspections():
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(
                    transport=transport, base_url="http://test", headers=headers
                ) as http,
            ):
                runner = coach_runner(context_of(app))
                yield kind(http, ports, grader, runner, database)
        await ports.egress.aclose()
        await ports.judge_egress.aclose()
        await ports.inference.aclose()
        await ports.database.dispose()
