"""Jobs on a customer's MLflow server: what arrives there, and which addresses are never dialled."""

import json

import pytest

from app.rollouts.metrics import REWARD_MEAN
from tests.support.endpoints import Reply, endpoint
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.trackers.mlflow_jobs import TOKEN, follow, tracked_job
from tests.support.trackers.mlflow_server import MlflowServer
from tests.support.trackers.tracked_steps import CURSORS_LOST, commit_steps, execute, warnings_of

METADATA = {"team": "one", "a//b": "two", "a/_/b": "three", "../c:": "four"}
"""Keys of which MLflow takes one as it is, and two would get one name without a checksum."""
TRAIN = f"train/{REWARD_MEAN}"


async def test_a_server_gets_curves_settings_and_rollouts_with_its_token(
    world: World, database: Database
) -> None:
    mlflow = MlflowServer(TOKEN)
    async with endpoint(mlflow.answer) as server:
        job = await tracked_job(world, server, database)
        execute(database, f"UPDATE fine_tuning_jobs SET metadata = '{json.dumps(METADATA)}'")
        await commit_steps(world, job, 1, 2)
        await follow(world, server)
        execute(database, CURSORS_LOST)
        await follow(world, server)
        address = server.url("/#/experiments/7/runs/r")
    assert [(one["step"], one["value"]) for one in mlflow.metrics if one["key"] == TRAIN] == [
        (1, 0.125),
        (2, 0.25),
    ]
    assert (mlflow.experiment, mlflow.status, mlflow.params["model"]) == ("e", "RUNNING", job.model)
    assert mlflow.tags["agent_rft.run"] == job.id
    named = {key: value for key, value in mlflow.params.items() if key.startswith("metadata.")}
    assert named.pop("metadata.team") == "one"
    assert sorted(named.values()) == ["four", "three", "two"], "no key is lost or refused"
    assert mlflow.tags["a"] == "b"
    [tag] = [key for key in mlflow.tags if key.startswith("x/_/y-")]
    assert mlflow.tags[tag] == "c"
    [text] = [one for name, one in mlflow.files.items() if name.endswith("step-000002/1.md")]
    assert "reward 1.0\n" in text
    assert all(name.startswith("7/r/artifacts/") for name in mlflow.files)
    assert await warnings_of(world, job) == []
    async with world.app.tenant(world.tenant) as unit:
        [link] = await unit.events.links(job.id)
    assert link.message == f"MLflow shows the job at {address}"
    assert (link.data or {})["url"] == address


async def test_a_server_that_names_another_address_later_gets_the_artifacts_itself(
    world: World, database: Database
) -> None:
    elsewhere = world.settings.trackers_dir.parent / "elsewhere"
    mlflow = MlflowServer(TOKEN, artifacts_later=elsewhere.as_uri())
    async with endpoint(mlflow.answer) as server:
        job = await tracked_job(world, server, database)
        await commit_steps(world, job, 1)
        await follow(world, server)
    assert not elsewhere.exists()
    assert "7/r/artifacts/settings.json" in mlflow.files
    assert await warnings_of(world, job) == []


@pytest.mark.parametrize(
    "stored_at", ["file:///PATH/artifacts", "mlflow-artifacts://HOST/7/r", "ftp://HOST/7/r"]
)
async def test_artifacts_go_to_no_address_or_path_that_the_server_names(
    world: World, database: Database, stored_at: str
) -> None:
    elsewhere_path = world.settings.trackers_dir.parent / "elsewhere"
    async with endpoint(lambda _: Reply(json={})) as elsewhere:
        stored_at = stored_at.replace("/PATH", str(elsewhere_path)).replace(
            "HOST", elsewhere.host_port
        )
        mlflow = MlflowServer(TOKEN, artifacts=stored_at)
        async with endpoint(mlflow.answer) as server:
            job = await tracked_job(world, server, database)
            await commit_steps(world, job, 1)
            await follow(world, server, elsewhere)
    assert [one["step"] for one in mlflow.metrics if one["key"] == TRAIN] == [1]
    assert (mlflow.files, elsewhere.connections, elsewhere_path.exists()) == ({}, 0, False)
    [warning] = await warnings_of(world, job)
    assert "gets no rollouts and no report" in warning


async def test_an_address_that_is_not_allowed_gets_no_connection(
    world: World, database: Database
) -> None:
    async with endpoint(lambda _: Reply(json={})) as server:
        job = await tracked_job(world, server, database)
        await commit_steps(world, job, 1)
        await follow(world)
        assert server.connections == 0
    [warning] = await warnings_of(world, job)
    assert "MLflow cannot be written: its address is not allowed:" in warning


async def test_a_redirect_is_not_followed_and_a_refusal_shows_no_token(
    world: World, database: Database
) -> None:
    async with endpoint(lambda _: Reply(json={})) as elsewhere:
        away = Reply(307, headers={"Location": elsewhere.url("/")})
        async with endpoint(lambda _: away) as server:
            job = await tracked_job(world, server, database)
            await commit_steps(world, job, 1)
            await follow(world, server, elsewhere)
        assert (elsewhere.connections, server.connections > 0) == (0, True)
    [warning] = await warnings_of(world, job)
    assert warning.startswith("MLflow cannot be written: its server")
    assert TOKEN not in warning
