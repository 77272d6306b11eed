"""Old rows of eval runs and jobs lose the credentials that earlier versions stored in clear."""

from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from psycopg.types.json import Jsonb

from app.local.servers import package_dir
from tests.support.stack import Database

CANARY = "canary-data-source"
ROWS = [{"item": {"api_key": "a customer's own data", "url": "https://i.example/?q=1"}}]
PROMPT = [{"role": "user", "content": "See https://p.example/?q={{ item.q }}"}]
REDACTED = "[redacted]"


def source(secret: str) -> dict[str, Any]:
    return {
        "type": "completions",
        "model": "tiny",
        "source": {"type": "file_content", "content": ROWS, "api_key": secret},
        "input_messages": {"type": "template", "template": [{**PROMPT[0], "auth": secret}]},
        "sampling_params": {
            "seed": 7,
            "max_completion_tokens": 9,
            "api_key": secret,
            "tools": [
                {"type": "mcp", "server_url": f"https://m.example/?k={secret}",
                 "authorization": secret, "headers": {"X": secret}},
                {"type": "function", "function": {"name": "f", "parameters": {
                    "properties": {"token": {"type": "string", "default": secret}}}}},
            ],
        },
    }  # fmt: skip


def test_old_credentials_are_redacted_and_unknown_keys_of_integrations_dropped(
    database: Database,
) -> None:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0019")
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        _insert(connection)
    command.upgrade(config, "head")
    with psycopg.connect(url) as connection:
        runs: dict[str, Any] = dict(
            connection.execute("SELECT id, data_source FROM eval_runs").fetchall()
        )
        jobs = connection.execute("SELECT integrations FROM fine_tuning_jobs").fetchall()
    assert runs == {"evalrun_m": source(REDACTED), "evalrun_plain": {"type": "jsonl"}}
    assert jobs == [([{"type": "wandb", "wandb": {"project": "p", "tags": ["a"]}}],)]


def _insert(connection: psycopg.Connection[Any]) -> None:
    connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
    connection.execute(
        "INSERT INTO projects (id, organization_id, name) VALUES ('proj_m', 'org-m', 'm')"
    )
    wandb = {"project": "p", "tags": ["a"], "host": CANARY}
    connection.execute(
        "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,"
        " training_file, seed, method, integrations, result_files)"
        " VALUES ('ftjob-m', 'org-m', 'proj_m', 'k', 'tiny', 'succeeded', 'f', 0, '{}', %s, '[]')",
        [Jsonb([{"type": "wandb", "api_key": CANARY, "wandb": wandb}])],
    )
    connection.execute(
        "INSERT INTO evals (id, project_id, name, data_source_config, testing_criteria)"
        " VALUES ('eval_m', 'proj_m', 'e', '{}', '[]')"
    )
    for run_id, sent in (("evalrun_m", source(CANARY)), ("evalrun_plain", {"type": "jsonl"})):
        connection.execute(
            "INSERT INTO eval_runs (id, project_id, eval_id, name, status, data_source, criteria,"
            " usage) VALUES (%s, 'proj_m', 'eval_m', 'r', 'completed', %s, '[]', '[]')",
            [run_id, Jsonb(sent)],
        )
