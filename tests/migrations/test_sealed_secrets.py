from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg.types.json import Jsonb

from app.jobs.reproducibility import restored_method
from app.kit.sealing import SecretBox
from app.local.servers import package_dir
from tests.support.stack import Database

CANARY = "canary-migrated"
PROMPT = [{"role": "user", "content": "Is {{ item.key }} at https://h.example/?q=1 a token?"}]
PLAIN: dict[str, Any] = {
    "auth_check": {
        "type": "string_check", "name": "secret", "input": "{{ item.a }}", "reference": "b",
        "operation": "eq", "pass_threshold": 0.5,
    },
    "token": {"type": "endpoint", "url": "https://g.example/", "rate_limit": 3},
    "secret_leak": {
        "type": "score_model", "model": "m", "input": PROMPT, "range": [0, 1],
        "sampling_params": {"max_completions_tokens": 5},
    },
    "key": {
        "type": "text_similarity", "input": "x", "reference": "y", "evaluation_metric": "bleu",
    },
}  # fmt: skip
CHILDREN: dict[str, Any] = {**PLAIN, "token": {**PLAIN["token"], "headers": {"K": CANARY}}}
SHOWN = {**PLAIN, "token": {**PLAIN["token"], "headers": {"K": "[redacted]"}}}
SCHEMA = {"type": "object", "properties": {"api_key": {"type": "string", "default": CANARY}}}
METHOD: dict[str, Any] = {
    "type": "reinforcement",
    "reinforcement": {
        "tools": [
            {
                "name": "a", "server_url": f"https://t.example/?key={CANARY}",
                "headers": {"X-Key": "[redacted]"}, "auth": {"headers": {"a": CANARY}},
            }
        ],
        "grader": {
            "type": "multi",
            "calculate_output": "auth_check + token + secret_leak + key",
            "graders": CHILDREN,
            "token": CANARY,
        },
        "stop": {"token_growth": {"action": "warn"}},
        "hyperparameters": {"n_epochs": 1},
    },
}  # fmt: skip


@pytest.mark.parametrize("with_key", [True, False])
def test_old_secrets_are_sealed_or_redacted(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, with_key: bool
) -> None:
    key = database.settings.secret_key.get_secret_value()
    box = SecretBox(key)
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0012")
    sealed = box.seal({"tool:a": {"X-Key": "k"}}, project_id="proj_m", row_id="ftjob-m")
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        _insert(connection, sealed)
    monkeypatch.delenv("AGENT_RFT_SECRET_KEY", raising=False)
    if with_key:
        monkeypatch.setenv("AGENT_RFT_SECRET_KEY", key)
    command.upgrade(config, "head")
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        texts = [
            connection.execute(f"SELECT t::text FROM {table} t".encode()).fetchall()
            for table in ("fine_tuning_jobs", "evals", "registered_versions")
        ]
        row = connection.execute("SELECT method, secrets FROM fine_tuning_jobs").fetchone()
        versions: dict[str, bytes | None] = dict(
            connection.execute("SELECT object_id, secrets FROM registered_versions").fetchall()
        )
        definitions: dict[str, Any] = dict(
            connection.execute("SELECT object_id, definition FROM registered_versions").fetchall()
        )
        job_eval = connection.execute(
            "SELECT testing_criteria, data_source_config FROM evals"
        ).fetchone()
    assert CANARY not in repr(texts)
    assert row is not None
    assert job_eval is not None
    method = row[0]["reinforcement"]
    assert method["tools"][0]["server_url"] == "https://t.example/?key=[redacted]"
    graders = (method["grader"], job_eval[0][0], definitions["grader_m"])
    assert [grader["graders"] for grader in graders] == [SHOWN] * 3
    assert "[redacted]" not in repr(method["grader"]["calculate_output"])
    assert job_eval[1]["schema"]["properties"]["api_key"] == {
        "type": "string",
        "default": "[redacted]",
    }
    assert definitions["tool_m"] == {
        "name": "t",
        "server_url": "https://t.example/?key=[redacted]",
        "parameters": {"type": "object"},
    }
    assert "rubric" not in definitions["grader_m"]
    assert method["stop"] == METHOD["reinforcement"]["stop"]
    opened = box.open(row[1], project_id="proj_m", row_id="ftjob-m")
    if not with_key:
        assert opened == {"tool:a": {"X-Key": "k"}}
        assert versions == {"tool_m": None, "grader_m": None}
        return
    whole = restored_method(row[0], opened)["reinforcement"]
    assert whole["tools"][0]["headers"] == {"X-Key": "k"}
    assert whole["tools"][0]["server_url"] == f"https://t.example/?key={CANARY}"
    assert whole["grader"]["token"] == CANARY
    assert whole["grader"]["graders"] == CHILDREN
    sealed_tool = versions["tool_m"]
    assert sealed_tool is not None
    tool = box.open(sealed_tool, project_id="proj_m", row_id="tool_m/versions/1")
    assert tool == {"/server_url": f"https://t.example/?key={CANARY}"}


def _insert(connection: psycopg.Connection[Any], sealed: bytes) -> None:
    """A job, its eval and a registered tool of an earlier version."""
    connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
    connection.execute(
        "INSERT INTO projects (id, organization_id, name) VALUES ('proj_m', 'org-m', 'm')"
    )
    connection.execute(
        "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,"
        " training_file, seed, method, secrets, integrations, result_files)"
        " VALUES ('ftjob-m', 'org-m', 'proj_m', 'k', 'tiny', 'succeeded', 'f', 0, %s, %s,"
        " '[]', '[]')",
        [Jsonb(METHOD), sealed],
    )
    connection.execute(
        "INSERT INTO evals (id, project_id, job_id, name, data_source_config, testing_criteria)"
        " VALUES ('eval_m', 'proj_m', 'ftjob-m', 'e', %s, %s)",
        [Jsonb({"type": "custom", "schema": SCHEMA}), Jsonb([METHOD["reinforcement"]["grader"]])],
    )
    tool = {
        "name": "t",
        "server_url": f"https://t.example/?key={CANARY}",
        "parameters": {"type": "object"},
        "auth": {"token": CANARY},
        "extra": [1],
    }
    grader = {**METHOD["reinforcement"]["grader"], "rubric": "r"}
    for noun, definition in (("tool", tool), ("grader", grader)):
        connection.execute(
            "INSERT INTO registered_objects (id, project_id, noun, name, version)"
            " VALUES (%s, 'proj_m', %s, 't', 1)",
            [f"{noun}_m", noun],
        )
        connection.execute(
            "INSERT INTO registered_versions (project_id, object_id, version, name, definition)"
            " VALUES ('proj_m', %s, 1, 't', %s)",
            [f"{noun}_m", Jsonb(definition)],
        )
