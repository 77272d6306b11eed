"""The unmodified Node client, every method, against the service on a real socket.

Runs where `node` and `npm` are, and the client can be installed; elsewhere it says that it did not.
"""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.accounts.accounts import KeyKind, Project
from app.accounts.key_service import KeyService
from app.database import Database as Store
from app.kit.ids import ProjectId, new_id
from app.settings import Settings
from app.wiring import provisioning_service
from tests.support.contract.evals import content, make, run_worker
from tests.support.contract.node_client import installed_client
from tests.support.contract.service import BASE, HOOK_PORT, ROW, Service
from tests.support.patience import PATIENCE_S
from tests.support.web.faults import fault_proxy

SUITES = Path(__file__).with_name("node")
MANY = 260


@pytest.fixture(scope="module")
def suites() -> Path:
    """A directory outside the tree that holds the suites and the installed client."""
    directory = installed_client()
    for script in SUITES.glob("*.mjs"):
        shutil.copy(script, directory)
    return directory


async def _principals(settings: Settings) -> dict[str, str]:
    """Another project of the first organization with a key, and the organization's admin key."""
    store = Store(settings.database_url, pool_size=1)
    try:
        provisioning = provisioning_service(settings, store)
        first = await provisioning.provision(slug="first", title="First", project_name="p")
        keys = KeyService(store, secret_key=settings.key_hmac)
        organization_id = (await keys.authenticate(first.admin_key)).organization_id
        project_id = ProjectId(new_id("proj_"))
        minted = keys.mint(
            KeyKind.PROJECT, organization_id=organization_id, project_id=project_id, name="sibling"
        )
        project = Project(id=project_id, organization_id=organization_id, name="q", created_at=0)
        async with store.organization(organization_id) as unit:
            await unit.projects.insert_project(project)
            await unit.keys.insert(minted.row)
    finally:
        await store.dispose()
    return {
        "sibling_project": project_id,
        "sibling_key": minted.value,
        "admin_key": first.admin_key,
    }


def _copies(service: Service, table: str, source: str, **changes: Any) -> None:
    """More rows like one of a table, with the changes and ids of their own."""
    columns = service.columns(table)
    service.execute(
        f"INSERT INTO {table} ({columns}) SELECT {columns} FROM (SELECT"
        " (jsonb_populate_record(one, %s::jsonb || jsonb_build_object('id', one.id || '-' || n))).*"
        f" FROM {table} one, generate_series(1, %s) n WHERE one.id = %s) copies",
        json.dumps(changes),
        MANY,
        source,
    )


def _evaluated(service: Service) -> dict[str, str]:
    client = service.client()
    made = make(client)
    check: Any = {"type": "jsonl", "source": content("hello", "other", "hello")}
    sampled: Any = {
        **check,
        "type": "completions",
        "model": "tiny-agent",
        "input_messages": {"type": "template", "template": [{"role": "user", "content": "Say it"}]},
    }
    run = client.evals.runs.create(made.id, data_source=sampled)
    run_worker(service, run.id)
    copied = make(client, name="copy")
    _copies(service, "evals", copied.id)
    service.execute("DELETE FROM evals WHERE id = %s", copied.id)
    return {"eval_id": made.id, "run_id": run.id}


@pytest.fixture(scope="module")
def prepared(service: Service) -> dict[str, Any]:
    """Makes the objects of the suites: a job with many rows, tuned models, a run with items."""
    client = service.client()
    file = client.files.create(file=("rows.jsonl", ROW * 12), purpose="fine-tune")
    grader = {"type": "endpoint", "name": "g", "url": "http://127.0.0.1:9/grade"}
    method: Any = {"type": "reinforcement", "reinforcement": {"grader": grader}}
    job = client.fine_tuning.jobs.create(
        model="tiny-agent", training_file=file.id, validation_file=file.id, method=method
    )
    model, spare = "ft:tiny-agent:first::node1234", "ft:tiny-agent:first::spare123"
    service.add_tuned_model(job.id, model, "node1234")
    service.add_tuned_model(job.id, spare, "spare123")
    service.add_rows(job.id, events=MANY, checkpoints=MANY)
    _copies(service, "fine_tuning_jobs", job.id, metadata={"copy": "yes"})
    evidence = client.files.create(file=("rows.jsonl", ROW), purpose="evals")
    _copies(service, "files", evidence.id)
    service.execute("DELETE FROM files WHERE id = %s", evidence.id)
    return {
        "job_id": job.id,
        "model": model,
        "spare_model": spare,
        "base_model": BASE,
        "many": MANY,
        "endpoint": "http://127.0.0.1:9",
        "hook_port": HOOK_PORT,
        **_evaluated(service),
        **asyncio.run(_principals(service.database.settings)),
    }


@pytest.mark.parametrize("suite", sorted(suite.name for suite in SUITES.glob("*.test.mjs")))
def test_the_node_client(
    service: Service, suites: Path, prepared: dict[str, Any], suite: str
) -> None:
    with fault_proxy(service.api.base_url.removesuffix("/v1")) as proxy:
        facts = prepared | {
            "base_url": service.api.base_url,
            "key": service.api.key,
            "other_key": service.api.other_key,
            "proxy_url": proxy.url,
        }
        done = subprocess.run(
            ["node", "--test", "--test-reporter=spec", suite],
            cwd=suites,
            env={**os.environ, "CONTRACT": json.dumps(facts), "NODE_NO_WARNINGS": "1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr[-3_000:]
