"""The Celery tasks as the worker registers them, in a process of its own with its own settings."""

import json
import subprocess
import sys

from app.settings import inherited_environment, to_environment
from tests.support.stack import Database

PROBE = """
import importlib.util, json, sys
from workers import tasks
from workers.celery_app import app
app.loader.import_default_modules()
limits = {name: task.child_limit for name, task in app.tasks.items() if hasattr(task, "children")}
lists = {id(task.children) for task in app.tasks.values() if hasattr(task, "children")}
beat = {entry["task"] for entry in app.conf.beat_schedule.values()}
heavy = [name for name in ("torch", "sqlalchemy", "aiohttp") if name in sys.modules]
preloaded = (*tasks.JOB_CHILDREN.modules, *tasks.CONTROL_CHILDREN.modules)
unknown = [name for name in preloaded if importlib.util.find_spec(name) is None]
own = {name for name in app.tasks if name.startswith("agent_rft.")}
unrouted = sorted(own ^ app.conf.task_routes.keys())
print(json.dumps([limits, len(lists), sorted(beat - own), heavy, unknown, unrouted]))
"""


def test_each_task_that_starts_children_has_its_own_and_its_limit(database: Database) -> None:
    environment = {**inherited_environment(), **to_environment(database.settings)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment, stdout=subprocess.PIPE, check=True
    )
    limits, lists, unregistered, heavy, unknown, unrouted = json.loads(done.stdout)
    assert limits == {
        "agent_rft.run_eval": 2,
        "agent_rft.run_export": 1,
        "agent_rft.deliver_webhooks": 1,
        "agent_rft.track": 1,
    }
    assert lists == 4
    assert unregistered == []
    assert heavy == []
    assert unrouted == [], "a task sent by its name alone would go to a queue without a worker"
    assert unknown == [], "a fork server that preloads it would not start"
