"""`agent-rft usage` and `audit` against a running service, with an admin key."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.cases import cases
from tests.support.cli.command_line import agent_rft
from tests.support.cli.remote_commands import Commands, new_job
from tests.support.cli.scripted_service import reply, scripted_service
from tests.support.contract.administration import admin_keys_of


@pytest.fixture(scope="module")
def admin(commands: Commands) -> str:
    return asyncio.run(admin_keys_of(commands.service.database.settings)).first


def record(commands: Commands, job: str) -> None:
    """Records what two steps of a job used, today and thirty hours ago."""
    commands.service.execute(
        "INSERT INTO usage_records (id, organization_id, project_id, kind, key_id, model, job_id,"
        " rollouts, input_tokens, training_s, cost, currency, used_at)"
        " SELECT id || hours, organization_id, project_id, 'fine_tuning', key_id, model, id,"
        " 8, 1000, 75, 0.5, 'EUR', now() - hours * interval '1 hour'"
        " FROM fine_tuning_jobs, unnest(ARRAY[0, 30]) AS hours WHERE id = %s",
        job,
    )


def test_usage_is_a_table_by_day(commands: Commands, admin: str) -> None:
    job = new_job(commands.service)
    record(commands, job)
    done = commands.run("usage", "--by", "job", "--days", "9", AGENT_RFT_API_KEY=admin)
    assert done.returncode == 0, done.stderr
    usage, costs = done.stdout.split("\n\n")
    header, *lines = usage.splitlines()
    assert header.split()[:5] == ["DAY", "FOR", "JOB", "REQUESTS", "ROLLOUTS"]
    cells = [line.split() for line in lines if job in line]
    assert [(one[1], one[4], one[5]) for one in cells] == [("training", "8", "1000")] * 2
    assert [line.split()[-2:] for line in costs.splitlines()[1:]] == [["0.5000", "EUR"]] * 2
    assert "AGENT_RFT_PRICING__PER_HOUR" in done.stderr
    [line] = commands.run(
        "usage", "--days", "1", "--json", AGENT_RFT_API_KEY=admin
    ).stdout.splitlines()
    read = json.loads(line)
    assert (read["command"], set(read["data"])) == (
        "usage",
        {"completions", "fine_tuning", "costs", "unpriced"},
    )
    [bucket] = read["data"]["fine_tuning"]
    assert bucket["results"][0]["num_rollouts"] == 8
    assert commands.run("usage").returncode == 16


def test_the_audit_log_is_listed_and_exported(
    commands: Commands, admin: str, tmp_path: Path
) -> None:
    job = new_job(commands.service)
    done = commands.run("audit", "list", "--resource", job, AGENT_RFT_API_KEY=admin)
    header, line = done.stdout.splitlines()
    assert header.split() == ["TIME", "CHANGE", "OBJECT", "BY", "FROM", "PROJECT"]
    assert line.split()[2:4] == ["fine_tuning.job.created", job]
    assert line.split()[5] == "127.0.0.1"
    out = tmp_path / "audit.jsonl"
    export = ("audit", "export", "--out", str(out), "--type", "fine_tuning.job.created")
    done = commands.run(*export, AGENT_RFT_API_KEY=admin)
    assert done.stdout == f"{out}\n", done.stderr
    entries = [json.loads(line) for line in out.read_text().splitlines()]
    assert entries[0]["fine_tuning.job.created"]["id"] == job
    assert {entry["type"] for entry in entries} == {"fine_tuning.job.created"}
    assert commands.run(*export, AGENT_RFT_API_KEY=admin).returncode == 2


def bucket(**result: object) -> str:
    return json.dumps({"data": [{"start_time": 0, "results": [result]}]})


def page_with(token: str) -> str:
    return json.dumps({"data": [{"start_time": 0, "results": []}], "next_page": token})


ENTRY = {"id": "a", "type": "a", "effective_at": 1, "actor": {"type": "command_line"}}


@cases(
    ("command", "answers", "reported"),
    [
        ("usage", [bucket(), bucket(), bucket(amount="x")], "(data.0.results.0.amount)"),
        ("usage", [page_with(name) for name in "aba"], "did not answer as an agent-rft service"),
        ("audit list", [json.dumps({"data": [ENTRY | {"project": {"name": [1]}}]})], "(project."),
    ],
)
def test_an_odd_reply_is_a_sentence_and_a_code(
    command: str, answers: list[str], reported: str
) -> None:
    with scripted_service([reply(answer) for answer in answers]) as found:
        done = agent_rft(*command.split(), "--base-url", found.base_url, "--api-key", "art_x")
    assert (done.returncode, done.stdout) == (15, "")
    assert reported in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_project_without_usage_is_noted(commands: Commands, admin: str) -> None:
    done = commands.run("usage", "--project", "rivers", AGENT_RFT_API_KEY=admin)
    assert done.returncode == 0
    assert "--project takes ids, not names" in done.stderr
