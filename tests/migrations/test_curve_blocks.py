"""Curves of an earlier version get the blocks that later points would have made."""

import psycopg
from alembic import command
from alembic.config import Config

from app.jobs.curves import BLOCK_SIZES
from app.local.servers import package_dir
from tests.support.stack import Database
from tests.support.store.blocks import Points, blocks_of, stored_blocks

JOB = (
    "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,"
    " training_file, seed, method, integrations, result_files)"
    " VALUES (%s, 'org-m', %s, 'k', 'm', 'running', 'f', 0, '{}', '[]', '[]')"
)
POINT = (
    "INSERT INTO job_metrics (project_id, job_id, name, split, step, value)"
    " VALUES (%s, %s, %s, %s, %s, %s)"
)


def test_earlier_points_get_their_blocks(database: Database) -> None:
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0042")
    written: dict[str, Points] = {
        "a": {
            ("reward/mean", split, step): step * 37 % 101 / 4
            for split, every in (("train", 1), ("valid", 50))
            for step in range(every, 5000, every)
        },
        "b": {("train/loss", "train", 6): 1e308, ("train/loss", "train", 7): 1e308},
    }
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
        for project, points in written.items():
            connection.execute(
                "INSERT INTO projects (id, organization_id, name) VALUES (%s, 'org-m', %s)",
                (project, project),
            )
            connection.execute(JOB, (f"ftjob-{project}", project))
            with connection.cursor() as cursor:
                cursor.executemany(
                    POINT, [(project, f"ftjob-{project}", *key, v) for key, v in points.items()]
                )
    command.upgrade(config, "head")
    assert stored_blocks(database, "ftjob-a") == blocks_of(written["a"])
    assert len(stored_blocks(database, "ftjob-b")) == len(BLOCK_SIZES)
    with psycopg.connect(url) as connection:
        unforced = "SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity"
        assert connection.execute(unforced).fetchall() == []
        connection.execute(POINT, ("a", "ftjob-a", "reward/mean", "train", 5000, 9.0))
    written["a"]["reward/mean", "train", 5000] = 9.0
    assert stored_blocks(database, "ftjob-a") == blocks_of(written["a"])
