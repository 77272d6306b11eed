"""Builds from feedback find their files by id, also those that were made before ids were noted."""

import psycopg
from alembic import command
from alembic.config import Config

from app.local.servers import package_dir
from tests.support.stack import Database

PROJECT = "INSERT INTO projects (id, organization_id, name) VALUES ('proj_m', 'org-m', 'm')"
BUILD = (
    "INSERT INTO feedback_builds (id, project_id, report, people) VALUES (%s, 'proj_m', '{}', '{}')"
)
FILE = (
    "INSERT INTO files (id, project_id, filename, purpose, bytes, sha256, object_key, status)"
    " VALUES (%s, 'proj_m', %s, %s, 1, 'x', 'k', 'processed')"
)
FILES = (
    ("file-t", "fbuild_1-training.jsonl", "fine-tune"),
    ("file-v", "fbuild_1-validation.jsonl", "fine-tune"),
    ("file-mine", "fbuild_1-training.jsonl", "user_data"),
    ("file-other", "fbuild_1-notes.jsonl", "fine-tune"),
)


def test_earlier_builds_name_their_files(database: Database) -> None:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0034")
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
        connection.execute(PROJECT)
        for build_id in ("fbuild_1", "fbuild_2"):
            connection.execute(BUILD, (build_id,))
        for row in FILES:
            connection.execute(FILE, row)
    command.upgrade(config, "head")
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT id, file_ids FROM feedback_builds").fetchall()
        forced = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname IN ('feedback_builds', 'files')"
        ).fetchall()
    assert forced == [(True,), (True,)]
    assert {build_id: sorted(ids) for build_id, ids in rows} == {
        "fbuild_1": ["file-t", "file-v"],
        "fbuild_2": [],
    }
