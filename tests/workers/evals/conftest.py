"""A project behind the API, a real engine whose model has learned one answer, and a worker."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from app.database import Database as Store
from app.graders.judge_calls import build_judge_egress
from app.kit.egress_client import build_egress
from app.kit.objects import build_objects
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.settings import EgressSettings, LeaseSettings, Settings
from app.wiring import provisioning_service
from tests.support import stack
from tests.support.endpoints import EndpointServer, Reply, endpoint
from tests.support.engines.engine_server import running_engine
from tests.support.evals.world import MODEL, TALK, World
from tests.support.models.tiny_model import CONTEXT_LENGTH, save_parrot
from tests.support.patience import PATIENCE_S
from tests.support.web.application import application
from workers.processes.clients import Clients


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
        allow_endpoints=(grader.host_port,),
        allow_plain_http=True,
        call_timeout_s=PATIENCE_S,
        max_retries=0,
    )
    return base.model_copy(
        update={
            "egress": egress,
            "engine_url": engine_url,
            "base_models": (parrot,),
            "lease": LeaseSettings(lease_s=4, sweep_interval_s=1, max_attempts=3),
        }
    )
