"""Jobs in Weights & Biases, MLflow and Trackio, read back with their own libraries."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from trackio import sqlite_storage
from trackio.sqlite_storage import SQLiteStorage

from app.jobs.integrations import LIBRARIES
from app.jobs.jobs import Job, JobError
from app.kit.objects import LocalObjects
from app.rollouts.metrics import REWARD_MEAN
from app.settings import WandbSettings
from tests.support.endpoints import Reply, endpoint
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.trackers import wandb_files
from tests.support.trackers.tracked_steps import (
    CURSORS_LOST,
    MESSAGE,
    commit_steps,
    execute,
    follow_once,
    opened,
    outcome,
    warnings_of,
)
from workers.maintenance.expiry import expire
from workers.trackers import child as tracker_sync
from workers.trackers.child import TrackerSync
from workers.trackers.libraries.wandb_run import plain_settings
from workers.trackers.tracker_factory import WriterProcess

pytestmark = pytest.mark.long

WANDB: dict[str, Any] = {
    "type": "wandb",
    "wandb": {"project": "rivers", "name": "first", "entity": "team", "tags": ["a"]},
}
MLFLOW: dict[str, Any] = {
    "type": "mlflow",
    "mlflow": {"experiment": "rivers", "run_name": "first", "tags": {"team": "a"}},
}
TENSORBOARD: dict[str, Any] = {"type": "tensorboard", "tensorboard": {}}
TRACKIO: dict[str, Any] = {"type": "trackio", "trackio": {"project": "rivers", "name": "first"}}
ROLLOUTS_RETIRED = (
    "UPDATE fine_tuning_jobs SET rollouts_deleted_at = now(), clean_after = now(), "
    "finished_at = finished_at - interval '11 minutes'"
)
TRAIN, VALID = f"train/{REWARD_MEAN}", f"valid/{REWARD_MEAN}"
CURVES = {TRAIN: [(1, 0.125), (2, 0.25), (3, 0.375)], VALID: [(1, 0.0625), (2, 0.125), (3, 0.1875)]}


def directory(world: World, job: Job, kind: str, position: int = 0) -> Path:
    return world.settings.trackers_dir / kind / job.project_id / job.id / str(position)


def wandb_file(world: World, job: Job, position: int = 0) -> Path:
    [file] = directory(world, job, "wandb", position).glob("wandb/offline-run-*/*.wandb")
    return file


def wandb_curves(file: Path) -> dict[str, list[tuple[int, float]]]:
    rows = wandb_files.history(file)
    return {
        name: [(row["_step"], row[name]) for row in rows if name in row] for name in (TRAIN, VALID)
    }


def mlflow_run(place: Path) -> tuple[MlflowClient, Run]:
    client = MlflowClient(f"sqlite:///{place / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("rivers")
    assert experiment is not None
    [run] = client.search_runs([experiment.experiment_id])
    return client, run


def mlflow_curves(place: Path) -> dict[str, list[tuple[int, float]]]:
    client, run = mlflow_run(place)
    return {
        name: sorted(
            (one.step, one.value) for one in client.get_metric_history(run.info.run_id, name)
        )
        for name in (TRAIN, VALID)
    }


def trackio_curves(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(sqlite_storage, "TRACKIO_DIR", place)
    rows = SQLiteStorage.get_logs("rivers", "first")
    return {
        name: [(row["step"], row[name]) for row in rows if name in row] for name in (TRAIN, VALID)
    }


def with_message(below: Path) -> list[str]:
    """Returns the files below a directory that hold the message of the rollouts."""
    return [
        str(path.relative_to(below))
        for path in sorted(below.rglob("*"))
        if path.is_file() and MESSAGE.encode() in path.read_bytes()
    ]


async def end(world: World, job: Job) -> None:
    """Commits step 3 and the report, and ends the job."""
    context, reporter = await opened(world, job)
    await reporter.commit_step(outcome(job, 3), total_steps=9, pace_s=1.0)
    async with context.unit() as unit:
        await unit.reports.upsert(job.id, {"reward": {"mean_gain": 0.375}})
        await unit.jobs.mark_failed(JobError("x", "a reason", None))


async def test_each_library_reads_back_curves_settings_rollouts_and_report(
    world: World, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await world.job(integrations=[WANDB, MLFLOW, TRACKIO, TENSORBOARD])
    followed = TrackerSync(world.worker, world.settings)
    assert await followed.follow() is True
    assert not world.settings.trackers_dir.exists(), "nothing is written before there is something"
    await commit_steps(world, job, 1, 2)
    assert await followed.follow() is True
    await end(world, job)
    assert [await followed.follow(), await followed.follow()] == [True, False]
    await followed.close()
    assert [one for one in await warnings_of(world, job) if "cannot be written" in one] == []

    file = wandb_file(world, job)
    run = wandb_files.run_of(file)
    assert (run.project, run.display_name, run.entity, list(run.tags), run.run_id) == (
        *("rivers", "first", "team", ["a"]),
        job.id,
    )
    assert wandb_curves(file) == CURVES
    assert wandb_files.config(file)["model"] == job.model
    assert wandb_files.summary(file)["report/reward.mean_gain"] == 0.375
    tables = sorted(file.parent.glob("files/media/table/rollouts_*.table.json"))
    assert [json.loads(table.read_text())["data"][0][3] for table in tables] == [1.0, 1.0, 1.0]
    assert json.loads((file.parent / "files/report.json").read_text()) == {
        "reward": {"mean_gain": 0.375}
    }

    place = directory(world, job, "mlflow", 1)
    client, found = mlflow_run(place)
    assert mlflow_curves(place) == CURVES
    assert (found.info.run_name, found.info.status) == ("first", "FAILED")
    assert (found.data.tags["team"], found.data.params["model"]) == ("a", job.model)
    assert found.data.metrics["report/reward.mean_gain"] == 0.375
    texts = place / "artifacts" / found.info.run_id / "artifacts"
    assert json.loads((texts / "settings.json").read_text())["id"] == job.id
    rollout = (texts / "rollouts/step-000002/1.md").read_text()
    assert ("reward 1.0\n" in rollout, f'"content": "{MESSAGE}"' in rollout) == (True, True)
    assert not (texts / "rollouts/step-000002/3.md").exists()
    del client

    place = directory(world, job, "trackio", 2)
    assert trackio_curves(place, monkeypatch) == CURVES
    config = SQLiteStorage.get_run_config("rivers", "first")
    assert config is not None
    assert (config["id"], config["model"]) == (job.id, job.model)
    traces = SQLiteStorage.get_traces("rivers", "first", sort="step_asc")
    assert [(one["step"], one["metadata"]["reward"]) for one in traces] == [
        (step, reward) for step in (1, 2, 3) for reward in (1.0, 0.0)
    ]
    assert traces[0]["messages"][0]["content"] == MESSAGE

    # The retention of rollouts ends what trackers keep of them, and only that.
    below = world.settings.trackers_dir
    assert {path.split("/")[0] for path in with_message(below)} == set(LIBRARIES)
    execute(database, ROLLOUTS_RETIRED)
    objects = LocalObjects(world.settings.objects_dir)
    await expire(world.worker, objects, world.inference, trackers_dir=below)
    assert with_message(below) == []
    assert wandb_curves(file) == CURVES
    assert mlflow_curves(directory(world, job, "mlflow", 1)) == CURVES
    assert trackio_curves(directory(world, job, "trackio", 2), monkeypatch) == CURVES
    event_files = below / "tensorboard" / job.project_id / job.id
    assert [path.name for path in sorted(event_files.iterdir()) if path.is_dir()] == [
        *("train", "valid")
    ]


async def test_a_step_is_there_once_whatever_a_killed_process_left(
    world: World, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await world.job(integrations=[WANDB, TRACKIO])
    await commit_steps(world, job, 1, 2)
    killed = TrackerSync(world.worker, world.settings)
    await killed.follow()
    for tracker in killed._open:
        await tracker.abandon()
    execute(database, CURSORS_LOST)
    await end(world, job)
    await follow_once(world)
    assert wandb_curves(wandb_file(world, job)) == CURVES
    place = directory(world, job, "trackio", 1)
    assert trackio_curves(place, monkeypatch) == CURVES
    assert len(SQLiteStorage.get_traces("rivers", "first")) == 6


async def test_a_library_that_hangs_is_killed_and_warned_of_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await world.job(integrations=[TRACKIO])
    await commit_steps(world, job, 1)
    followed = TrackerSync(world.worker, world.settings)
    await followed.follow()
    [writer] = followed._open
    assert isinstance(writer, WriterProcess)
    os.kill(writer.pid, signal.SIGSTOP)
    await commit_steps(world, job, 2)
    with monkeypatch.context() as hurried:
        hurried.setattr(tracker_sync, "_TO_WRITE_S", 0.1)
        assert await followed.follow() is True
    assert writer.returncode == -signal.SIGKILL
    await followed.close()
    [warning] = [one for one in await warnings_of(world, job) if one.startswith("Trackio")]
    assert "cannot be written: it did not answer within 0.1 s. The job continues" in warning
    assert (await world.read(job)).error is None
    await follow_once(world)
    place = directory(world, job, "trackio")
    assert trackio_curves(place, monkeypatch)[TRAIN] == [(1, 0.125), (2, 0.25)]


async def test_a_library_that_crashes_or_goes_missing_is_warned_of_once(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the working directory')")
    monkeypatch.chdir(tmp_path)
    job = await world.job(integrations=[TRACKIO])
    scratch = directory(world, job, "trackio") / ".tmp"
    scratch.mkdir(parents=True)
    (scratch / "left").write_text("by a writer and its parent, which were killed together")
    await commit_steps(world, job, 1)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "trackio", None)
        assert [await follow_once(world), await follow_once(world)] == [True, True]
    [warning] = [one for one in await warnings_of(world, job) if one.startswith("Trackio")]
    assert "its library is not installed here: pip install 'agent-rft[trackio]'" in warning
    followed = TrackerSync(world.worker, world.settings)
    await followed.follow()
    [writer] = followed._open
    assert isinstance(writer, WriterProcess)
    assert list(scratch.iterdir()) == []
    os.kill(writer.pid, signal.SIGKILL)
    (scratch / "left").write_text("by a writer")
    await commit_steps(world, job, 2)
    assert await followed.follow() is True
    await followed.close()
    assert not scratch.exists()
    await follow_once(world)
    assert trackio_curves(directory(world, job, "trackio"), monkeypatch)[TRAIN] == [
        (1, 0.125),
        (2, 0.25),
    ]
    assert len(await warnings_of(world, job)) == 1


async def test_a_server_of_weights_and_biases_that_refuses_the_key_is_a_warning(
    world: World,
) -> None:
    key = "0123456789" * 4
    job = await world.job(integrations=[WANDB])
    await commit_steps(world, job, 1)
    async with endpoint(lambda _: Reply(401, {"errors": [{"message": key}]})) as server:
        account = WandbSettings.model_validate({"api_key": key, "base_url": server.url("")})
        online = TrackerSync(world.worker, world.settings.model_copy(update={"wandb": account}))
        assert await online.follow() is True
        await online.close()
        assert server.connections > 0
    [warning] = await warnings_of(world, job)
    assert warning.startswith(
        "Weights & Biases cannot be written: its server cannot be reached, or"
    )
    assert key not in warning
    assert await follow_once(world) is True  # the operator has removed the key
    assert wandb_curves(wandb_file(world, job))[TRAIN] == [(1, 0.125)]


def test_a_text_of_a_tenant_is_no_reference_in_weights_and_biases() -> None:
    """Its library would look these up with the key of the session."""
    settings = {
        "suffix": "wandb-artifact://other/entity",
        "metadata": {"_type": "artifactVersion", "id": "of-another", "type": "plain"},
        "graders": [{"name": " wandb-client-artifact://x:latest"}],
        "seed": 7,
    }
    plain = plain_settings(settings)
    assert plain == {
        "suffix": "text: wandb-artifact://other/entity",
        "metadata": {"__type": "artifactVersion", "id": "of-another", "type": "plain"},
        "graders": [{"name": "text:  wandb-client-artifact://x:latest"}],
        "seed": 7,
    }
