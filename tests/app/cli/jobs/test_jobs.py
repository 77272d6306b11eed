"""`agent-rft jobs` against a running service: lists, changes, creation, curves and the report."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import client as service_client
from tests.support.cli.remote_commands import METHOD, Commands, new_job
from tests.support.contract.service import ROW, Service
from tests.support.dashboard.scenes import STEPS, execute

ROWS = (ROW * 12).decode()


@pytest.fixture
def call(tmp_path: Path) -> Path:
    path = tmp_path / "job.json"
    path.write_text(json.dumps({"model": "tiny-agent", "method": METHOD, "suffix": "made"}))
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Returns the options that name two local files."""
    for name in ("train", "valid"):
        (tmp_path / f"{name}.jsonl").write_text(ROWS)
    return [
        *("--training-file", str(tmp_path / "train.jsonl")),
        *("--validation-file", str(tmp_path / "valid.jsonl")),
    ]


def stored_files(service: Service) -> int:
    return int(service.value("SELECT count(*) FROM files WHERE deleted_at IS NULL"))


def test_a_list_follows_the_pages_up_to_its_limit(
    commands: Commands, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [new_job(service) for _ in range(3)][::-1]
    two = commands.envelope("jobs", "list", "--limit", "2")
    assert ([job["id"] for job in two["data"]], two["has_more"]) == (made[:2], True)
    monkeypatch.setattr(service_client, "_MOST_ROWS", 2)
    with service_client.service(service.api.base_url, service.api.key) as running:
        pages = running.rows("fine_tuning/jobs", limit=3)
        everything = running.rows("fine_tuning/jobs", limit=1000)
    assert [row["id"] for row in pages.data] == made
    ids = [row["id"] for row in everything.data]
    assert (ids[:3], len(set(ids)), everything.has_more) == (made, len(ids), False)
    assert len(ids) == service.value("SELECT count(*) FROM fine_tuning_jobs")
    header, first, second = lines = commands.text("jobs", "list", "--limit", "2").splitlines()
    assert lines == [line.rstrip() for line in lines]
    assert header.split() == ["ID", "STATUS", "STEP", "CREATED", "MODEL"]
    assert [first.split()[0], second.split()[0]] == made[:2]
    assert first.split()[1:3] == ["validating_files", "0/?"]


def test_a_job_is_shown_paused_resumed_and_cancelled(commands: Commands, job: str) -> None:
    lines = commands.text("jobs", "show", job).splitlines()
    assert lines == [line.rstrip() for line in lines]
    shown = [line.split() for line in lines]
    assert shown[:3] == [["id", job], ["status", "validating_files"], ["step", "0/?"]]
    for verb, status in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        done = commands.envelope("jobs", verb, job)
        assert (done["data"]["id"], done["data"]["status"]) == (job, status)
    refused = commands.run("jobs", "resume", job)
    assert (refused.returncode, refused.stdout) == (18, "")
    assert refused.stderr.startswith("agent-rft: the service answered 400: ")
    unknown = commands.envelope("jobs", "show", "ftjob-never", code=17)
    assert unknown["data"] is None
    assert unknown["error"]["status"] == 404
    assert unknown["error"]["message"].endswith("Could not find fine tune: ftjob-never")


def test_a_job_without_a_clear_gain_ends_as_one(commands: Commands, service: Service) -> None:
    job = new_job(service)
    execute(
        service.database,
        "UPDATE fine_tuning_jobs SET status = 'succeeded', verdict = 'no_clear_gain',"
        " fine_tuned_model = 'ft:tiny', finished_at = now() WHERE id = %s",
        (job,),
    )
    _, status, *_ = commands.text("jobs", "show", job).splitlines()
    assert status.split(maxsplit=1) == ["status", "succeeded, no clear gain"]
    *_, ending = commands.text("jobs", "watch", job).splitlines()
    assert ending == "succeeded, no clear gain: the tuned model is ft:tiny"


def test_a_job_is_created_from_local_files(
    commands: Commands, service: Service, call: Path, files: list[str]
) -> None:
    done = commands.run("jobs", "create", str(call), *files)
    assert done.returncode == 0, done.stderr
    job: Any = service.client().fine_tuning.jobs.retrieve(done.stdout.strip())
    assert job.user_provided_suffix == "made"
    assert job.validation_file is not None
    for name, file in (("train", job.training_file), ("valid", job.validation_file)):
        assert f"{name}.jsonl as {file}" in done.stderr
        assert service.client().files.content(file).text == ROWS


def test_a_dry_run_prints_every_issue_and_leaves_nothing(
    commands: Commands, service: Service, call: Path, files: list[str]
) -> None:
    before = stored_files(service), service.value("SELECT count(*) FROM fine_tuning_jobs")
    refused = commands.run("jobs", "create", str(call), *files, "--dry-run")
    assert refused.returncode == 1
    *issues, estimate, verdict = refused.stdout.splitlines()
    tool = "ERROR    endpoint_unreachable [method.reinforcement.tools[0].server_url]: search: "
    assert f"{tool}connection refused" in issues
    assert any(line.startswith("WARNING  overlapping_rows [validation_file]: ") for line in issues)
    assert estimate.startswith("estimate: 30 steps, 960 + 168 rollouts of training and validation")
    assert verdict == "not valid"
    grader = {"type": "string_check", "name": "g", "operation": "eq", "reference": "hi"}
    grader["input"] = "{{sample.output_text}}"
    method = {"type": "reinforcement", "reinforcement": {"grader": grader}}
    fine = {"model": "tiny-agent", "method": method}
    done = commands.run("jobs", "create", "-", *files, "--dry-run", stdin=json.dumps(fine))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "valid")
    report = commands.envelope("jobs", "create", str(call), *files, "--dry-run", code=1)
    assert report["data"]["valid"] is False
    after = stored_files(service), service.value("SELECT count(*) FROM fine_tuning_jobs")
    assert before == after


def test_a_refused_job_leaves_no_uploaded_file(
    commands: Commands, service: Service, call: Path, files: list[str]
) -> None:
    before = stored_files(service)
    call.write_text(json.dumps({"model": "nobody", "method": METHOD}))
    refused = commands.run("jobs", "create", str(call), *files)
    assert (refused.returncode, refused.stdout) == (18, "")
    assert "Model nobody is not available for fine-tuning" in refused.stderr
    assert refused.stderr.count(" again\n") == 2  # each file is named as deleted
    misspelt = {**METHOD["reinforcement"], "hyperparameters": {"n_epoch": 3}}
    method = {**METHOD, "reinforcement": misspelt}
    call.write_text(json.dumps({"model": "tiny-agent", "method": method}))
    refused = commands.run("jobs", "create", str(call), *files)
    assert (refused.returncode, refused.stdout) == (18, "")
    assert "Did you mean 'n_epochs'?" in refused.stderr
    assert stored_files(service) == before


def test_options_without_effect_are_refused(commands: Commands, call: Path) -> None:
    for arguments in (
        ("create", str(call), "--dry-run", "--watch"),
        ("curves", "ftjob-1", "--list", "--name", "reward/mean"),
        ("curves", "ftjob-1", "--list", "--table"),
    ):
        done = commands.run("jobs", *arguments)
        assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("content", ["[1]", '{"seed": NaN}', '{"a": "\\ud800"}', "[" * 9999])
def test_a_file_that_is_no_call_is_refused_here(
    commands: Commands, call: Path, content: str
) -> None:
    call.write_text(content)
    for name, stdin in ((str(call), ""), ("-", content)):
        done = commands.run("jobs", "create", name, stdin=stdin)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("agent-rft: ")
        assert done.stderr.count("\n") == 1


def test_curves_are_a_table_in_a_pipe_and_a_chart_on_request(
    commands: Commands, trained: str
) -> None:
    header, *rows = commands.text("jobs", "curves", trained).splitlines()
    assert header.split("  ")[0] == "STEP"
    assert "reward/mean (train)" in header
    assert "reward/mean (valid)" in header
    cells = [row.split() for row in rows]
    assert len(cells) == STEPS + 1
    assert cells[0] == ["0", "-", "0.125"]
    assert cells[12] == ["12", "0.7", "0.7"]
    chart = commands.text("jobs", "curves", trained, "--chart", "--split", "train")
    assert "reward/mean (train)" in chart
    numbers, columns = zip(*(line.split("│") for line in chart.splitlines()[1:-1]), strict=True)
    assert (numbers[0].strip(), numbers[-1].strip()) == ("0.7", "0.15")
    assert (columns[0][-1], columns[-1][0]) == ("█", "▁"), "from the lowest value to the highest"
    assert chart.endswith("step  1 to 12\n")
    listed = commands.text("jobs", "curves", trained, "--list").splitlines()
    assert ["train/loss", "train", "12", "0.1"] in [line.split() for line in listed]
    named = commands.envelope("jobs", "curves", trained, "--name", "train/loss")
    assert [curve["name"] for curve in named["data"]] == ["train/loss"]
    unknown = commands.run("jobs", "curves", trained, "--name", "no/such")
    assert unknown.returncode == 18
    assert "no/such" in unknown.stderr


def test_a_job_without_points_has_no_curves(commands: Commands, job: str) -> None:
    assert commands.text("jobs", "curves", job) == "no points yet\n"


def test_the_report_is_sentences_and_a_table(commands: Commands, trained: str, job: str) -> None:
    lines = [line.rstrip() for line in commands.text("jobs", "report", trained).splitlines()]
    compared = "tiny-agent before training against step 12, on 4 held-out rows"
    assert lines[:2] == [
        f"{compared}: 3 better, 1 the same, 0 worse.",
        "The report has a gain in reward of +0.75 over 4 rows, 95 % interval +0.5 to +0.9.",
    ]
    assert lines[2].split() == ["MEASURE", "BASE", "START", "TUNED", "CHANGE", "95", "%"]
    assert lines[3].split() == ["reward", "-", "0.125", "0.875", "+0.750", "+0.500", "to", "+0.900"]
    assert lines[4].split() == ["tool", "calls", "-", "0.125", "0.875", "-0.500", "-"]
    assert commands.envelope("jobs", "report", trained)["data"]["wins"] == 3
    assert commands.run("jobs", "report", job).returncode == 17
