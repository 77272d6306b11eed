"""`agent-rft rollouts export` and `jobs export-curves`: files equal to the API's own lists."""

import json
import os
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.support.cli.remote_commands import Commands


def test_rollouts_are_written_as_they_are_listed(
    commands: Commands, trained: str, tmp_path: Path
) -> None:
    listed = commands.envelope("rollouts", "list", trained, "--limit", "1000")["data"]
    assert len(listed) > 20
    lines, columns = tmp_path / "all.jsonl", tmp_path / "some.parquet"
    assert commands.text("rollouts", "export", trained, "--out", str(lines)) == f"{lines}\n"
    assert [json.loads(line) for line in lines.read_text().splitlines()] == listed
    some = ("rollouts", "export", trained, "--out", str(columns), "--split", "report")
    reply = commands.envelope(*some)["data"]
    assert reply == {"job_id": trained, "path": str(columns), "bytes": columns.stat().st_size}
    ids = parquet.read_table(columns).column("id").to_pylist()
    assert ids == [row["id"] for row in listed if row["split"] == "report"]
    assert ids


def test_every_point_of_the_curves_is_written(
    commands: Commands, trained: str, tmp_path: Path
) -> None:
    shown = commands.envelope("jobs", "curves", trained, "--name", "reward/mean")["data"]
    points = [
        {"name": curve["name"], "split": curve["split"], **point}
        for curve in shown
        for point in curve["points"]
    ]
    assert len(points) >= 12
    out = tmp_path / "curves.parquet"
    commands.text("jobs", "export-curves", trained, "--out", str(out), "--name", "reward/mean")
    assert parquet.read_table(out).to_pylist() == points
    commands.text("jobs", "export-curves", trained, "--out", str(out), "--force")
    names = set(parquet.read_table(out).column("name").to_pylist())
    assert {"reward/mean"} < names


@pytest.mark.parametrize(
    ("name", "options", "code", "message"),
    [
        ("there.jsonl", (), 2, "exists: pass --force"),
        ("rows.jsonl", ("--split", "never"), 18, "split"),
    ],
)
def test_a_mistake_leaves_no_file(
    commands: Commands,
    trained: str,
    tmp_path: Path,
    name: str,
    options: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    (tmp_path / "there.jsonl").write_text("mine")
    done = commands.run("rollouts", "export", trained, "--out", str(tmp_path / name), *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_device_is_never_replaced(commands: Commands, trained: str, tmp_path: Path) -> None:
    """A pipe stands for /dev/null here, which root would replace by a file."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("pipe.jsonl", "folder.jsonl"):
        out = str(tmp_path / name)
        done = commands.run("rollouts", "export", trained, "--out", out, "--force")
        assert (done.returncode, done.stdout) == (2, "")
        assert "is not a file" in done.stderr
    assert (tmp_path / "pipe.jsonl").is_fifo()


def test_a_link_to_nowhere_is_replaced_by_force_alone(
    commands: Commands, trained: str, tmp_path: Path
) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "nowhere")
    command = ("rollouts", "export", trained, "--out", str(link))
    assert commands.run(*command).returncode == 2
    assert link.is_symlink()
    assert commands.run(*command, "--force").returncode == 0
    assert link.read_text().startswith('{"id"')
