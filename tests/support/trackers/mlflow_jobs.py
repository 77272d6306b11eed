"""Jobs that are written to an MLflow server of the test."""

from typing import Any, Final

from app.jobs.jobs import Job
from app.jobs.results import split_integrations
from app.kit.sealing import build_secret_box
from app.settings import EgressSettings
from tests.support.endpoints import EndpointServer
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.trackers.tracked_steps import execute
from workers.trackers.child import TrackerSync

TOKEN: Final = "canary-token-of-a-server"


async def tracked_job(world: World, server: EndpointServer, database: Database) -> Job:
    """Returns a job whose token is sealed, as a create call stores it."""
    sent: list[dict[str, Any]] = [
        {
            "type": "mlflow",
            "mlflow": {
                "tracking_uri": server.url(""),
                "experiment": "e",
                "tags": {"a": "b", "x//y": "c"},
            },
        }
    ]
    sent[0]["mlflow"]["token"] = TOKEN
    shown, secrets = split_integrations(sent)
    job = await world.job(integrations=shown)
    box = build_secret_box(world.settings)
    sealed = box.seal(secrets, project_id=job.project_id, row_id=job.id)
    execute(
        database, f"UPDATE fine_tuning_jobs SET secrets = '\\x{sealed.hex()}' WHERE id = '{job.id}'"
    )
    return job


async def follow(world: World, *allowed: EndpointServer) -> None:
    """Follows as a process that was just started and may call these servers."""
    egress = EgressSettings(
        allow_endpoints=tuple(one.host_port for one in allowed), allow_plain_http=True
    )
    followed = TrackerSync(world.worker, world.settings.model_copy(update={"egress": egress}))
    try:
        assert await followed.follow() is True
    finally:
        await followed.close()
