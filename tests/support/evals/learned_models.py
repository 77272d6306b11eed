"""Tuned models of the world's base model, as succeeded jobs of its project leave them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.kit.directories import commit_directory
from tests.support.api.organization import execute
from tests.support.evals.world import TALK, World
from tests.support.models.tiny_model import save_adapter
from tests.support.stack import Database

NO_LOSS = {"rows": 8, "reward": {"difference": 0.25, "difference_ci95": [0.05, 0.45]}}


async def learned_model(
    world: World,
    database: Database,
    parrot: Path,
    *,
    seed: int,
    report: Any = NO_LOSS,
    told: Sequence[str | None] = (None,) * 10,
) -> tuple[str, str]:
    """Returns a succeeded job and its model, whose adapter forgot what its base model knew. `told`
    are the instructions of each row that it was trained on.
    """
    rows = [[*([] if one is None else [{"role": "system", "content": one}]), *TALK] for one in told]
    content = "\n".join(json.dumps({"messages": row}) for row in rows).encode()
    sent = await world.http.post(
        "/v1/files", files={"file": ("t.jsonl", content)}, data={"purpose": "fine-tune"}
    )
    body = {"model": "parrot", "training_file": sent.json()["id"], "method": {"type": "supervised"}}
    job = (await world.post("/v1/fine_tuning/jobs", body, expect=200))["id"]
    model, key = f"ft:parrot:first::{job[-8:]}", f"adapters/{job}"
    with commit_directory(database.settings.objects_dir / key) as partial:
        save_adapter(parrot, partial, seed=seed)
    execute(
        database,
        "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name, object_key,"
        " step) SELECT %s, project_id, id, model, %s, %s, 1 FROM fine_tuning_jobs WHERE id = %s",
        *(model, f"model-{job}", key, job),
    )
    execute(
        database,
        "UPDATE fine_tuning_jobs SET status = 'succeeded', fine_tuned_model = %s,"
        " finished_at = now() WHERE id = %s",
        *(model, job),
    )
    execute(
        database,
        "INSERT INTO reports (project_id, job_id, report)"
        " SELECT project_id, id, %s::jsonb FROM fine_tuning_jobs WHERE id = %s",
        *(json.dumps(report), job),
    )
    return job, model
