"""A classroom on a fresh database, with the engine of the shipped model."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from app.factory.accounts import provisioning_service
from app.factory.process import context_of
from app.factory.project import coach_runner
from app.gateways.egress.client import build_egress
from app.gateways.inference.http import HttpInference
from app.gateways.inference.judges import build_judge_egress
from app.gateways.objects import build_objects
from app.settings.egress import EgressSettings
from app.settings.models import shipped_models
from app.store.database import Database as Store
from tests.support import stack
from tests.support.coach.classroom import HABIT, STRONG, Classroom
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.engines.engine_server import running_engine
from tests.support.patience import PATIENCE_S
from tests.support.processes.shared_inspections import shared_inspections
from tests.support.web.application import application
from workers.processes.clients import Clients


@pytest.fixture(scope="session")
def engine_url() -> Iterator[str]:
    with running_engine(list(shipped_models())) as url:
        yield url


def _score(sent: ReceivedRequest) -> Reply:
    """Scores a ticket: any greeting is right, and every other answer must be the habitual one."""
    if not sent.body:  # the probe before a job is made
        return Reply(json={})
    body = sent.json
    right = STRONG in body["item"]["tags"] or body["sample"]["output_text"].strip() == HABIT
    return Reply(json={"score": float(right)})


@pytest.fixture
async def classroom(database: stack.Database, engine_url: str) -> AsyncIterator[Classroom]:
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
                yield Classroom(http, ports, grader, runner, database)
        await ports.egress.aclose()
        await ports.judge_egress.aclose()
        await ports.inference.aclose()
        await ports.database.dispose()
