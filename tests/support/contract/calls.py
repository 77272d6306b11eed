"""One call of each method the Python client has for what is served, and what is not served.

A call is made of a `World` for every single use, so that it may delete what it is given.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from openai import OpenAI

from tests.support.contract.evals import CHECK, SCHEMA, content, make, sampled
from tests.support.contract.service import HOOK_PORT, ROW, Service

GRADER: Any = {
    "type": "string_check",
    "name": "g",
    "operation": "eq",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
}
HOOK = f"http://127.0.0.1:{HOOK_PORT}/hook"
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class Args:
    positional: tuple[Any, ...]
    named: dict[str, Any]


def args(*positional: Any, **named: Any) -> Args:
    return Args(positional, named)


@dataclass(frozen=True, slots=True)
class World:
    """The objects that calls name. Methods create the objects that a call may change or delete."""

    service: Service
    client: OpenAI
    project: str
    siblings: list[str] = field(default_factory=list)
    job_id: str = ""
    model: str = ""
    eval_id: str = ""
    run_id: str = ""
    item_id: str = ""
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    """Headers and body of each webhook."""

    def file(self, purpose: Any = "fine-tune") -> str:
        return self.client.files.create(file=ROW * 12, purpose=purpose).id

    def job(self) -> dict[str, Any]:
        """Arguments of a job."""
        file = self.file()
        method = {"type": "reinforcement", "reinforcement": {"grader": GRADER}}
        return {
            "model": "tiny-agent",
            "training_file": file,
            "validation_file": file,
            "method": method,
        }

    def made_job(self, status: str | None = None) -> str:
        job_id = self.client.fine_tuning.jobs.create(**self.job()).id
        if status is not None:
            self.service.execute(
                "UPDATE fine_tuning_jobs SET status = %s WHERE id = %s", status, job_id
            )
        return job_id

    def upload(self) -> str:
        made = self.client.uploads.create(
            bytes=len(ROW), filename="a", mime_type="text/jsonl", purpose="fine-tune"
        )
        return made.id

    def full_upload(self) -> Args:
        upload = self.upload()
        part = self.client.uploads.parts.create(upload, data=ROW)
        md5 = hashlib.md5(ROW, usedforsecurity=False).hexdigest()
        return args(upload, part_ids=[part.id], md5=md5)

    def tuned(self) -> str:
        name = f"{self.model}-{next(_NUMBERS)}"
        self.service.add_tuned_model(self.job_id, name, name.rsplit(":", 1)[1])
        return name

    def permission(self) -> Args:
        model = self.tuned()
        permissions = self.client.fine_tuning.checkpoints.permissions
        (granted,) = permissions.create(model, project_ids=self.siblings[:1]).data
        return args(granted.id, fine_tuned_model_checkpoint=model)

    def eval(self) -> str:
        return str(make(self.client).id)

    def hook(self) -> str:
        made = self.client.webhooks.create(
            name="n", url=HOOK, event_types=["fine_tuning.job.succeeded"]
        )
        # A project may have a limited number of them.
        self.service.execute("DELETE FROM webhook_endpoints WHERE id <> %s", made.id)
        return made.id

    def delivered(self) -> Args:
        """Returns a delivery of the service and the secret that signed it."""
        kind = "fine_tuning.job.succeeded"
        post: Any = self.client.post  # Version 2 has no methods for endpoints.
        new = {"name": "n", "url": HOOK, "event_types": [kind]}
        made = post("/webhook_endpoints", body=new, cast_to=dict[str, Any])
        self.received.clear()
        path = f"/webhook_endpoints/{made['id']}"
        result = post(f"{path}/test", body={"event_type": kind}, cast_to=dict[str, Any])
        assert result["status_code"] == 200
        self.service.execute("DELETE FROM webhook_endpoints WHERE id = %s", made["id"])
        ((headers, body),) = self.received
        return args(body, headers, secret=made["signing_secret"])

    def run(self) -> Args:
        made = self.client.evals.runs.create(self.eval_id, data_source=sampled("hello"))
        return args(made.id, eval_id=self.eval_id)


CALLS: dict[str, Callable[[World], Args]] = {
    "files.create": lambda _: args(
        file=("rows.jsonl", ROW),
        purpose="fine-tune",
        expires_after={"anchor": "created_at", "seconds": 3600},
    ),
    "files.retrieve": lambda world: args(world.file()),
    "files.list": lambda _: args(limit=2, order="asc", purpose="fine-tune"),
    "files.delete": lambda world: args(world.file()),
    "files.content": lambda world: args(world.file()),
    "files.retrieve_content": lambda world: args(world.file()),
    "files.wait_for_processing": lambda world: args(world.file()),
    "uploads.create": lambda _: args(
        bytes=5, filename="a", mime_type="text/plain", purpose="user_data"
    ),
    "uploads.parts.create": lambda world: args(world.upload(), data=ROW),
    "uploads.complete": World.full_upload,
    "uploads.cancel": lambda world: args(world.upload()),
    "uploads.upload_file_chunked": lambda _: args(
        file=ROW,
        filename="rows.jsonl",
        bytes=len(ROW),
        mime_type="text/jsonl",
        purpose="fine-tune",
        part_size=20,
    ),
    "fine_tuning.jobs.create": lambda world: args(**world.job()),
    "fine_tuning.jobs.retrieve": lambda world: args(world.job_id),
    "fine_tuning.jobs.list": lambda _: args(limit=2),
    "fine_tuning.jobs.list_events": lambda world: args(world.job_id, limit=2),
    "fine_tuning.jobs.cancel": lambda world: args(world.made_job()),
    "fine_tuning.jobs.pause": lambda world: args(world.made_job()),
    "fine_tuning.jobs.resume": lambda world: args(world.made_job("paused")),
    "fine_tuning.jobs.checkpoints.list": lambda world: args(world.job_id, limit=2),
    "fine_tuning.checkpoints.permissions.create": lambda world: args(
        world.tuned(), project_ids=world.siblings
    ),
    "fine_tuning.checkpoints.permissions.list": lambda world: args(
        world.permission().named["fine_tuned_model_checkpoint"], order="ascending"
    ),
    "fine_tuning.checkpoints.permissions.retrieve": lambda world: args(
        world.permission().named["fine_tuned_model_checkpoint"], order="descending"
    ),
    "fine_tuning.checkpoints.permissions.delete": World.permission,
    "fine_tuning.alpha.graders.run": lambda _: args(
        grader=GRADER, model_sample="yes", item={"answer": "yes"}
    ),
    "fine_tuning.alpha.graders.validate": lambda _: args(grader=GRADER),
    "models.list": lambda _: args(),
    "models.retrieve": lambda world: args(world.model),
    "models.delete": lambda world: args(world.tuned()),
    "evals.create": lambda _: args(
        data_source_config={"type": "custom", "item_schema": SCHEMA, "include_sample_schema": True},
        testing_criteria=[CHECK],
        name="whole",
        metadata={"a": "b"},
    ),
    "evals.retrieve": lambda world: args(world.eval_id),
    "evals.update": lambda world: args(world.eval(), name="other"),
    "evals.list": lambda _: args(limit=2, order="desc"),
    "evals.delete": lambda world: args(world.eval()),
    "evals.runs.create": lambda world: args(
        world.eval_id, data_source={"type": "jsonl", "source": content("a")}, name="r"
    ),
    "evals.runs.retrieve": lambda world: args(world.run_id, eval_id=world.eval_id),
    "evals.runs.list": lambda world: args(world.eval_id, limit=2),
    "evals.runs.cancel": World.run,
    "evals.runs.delete": World.run,
    "webhooks.create": lambda _: args(
        name="n", url=HOOK, event_types=["fine_tuning.job.succeeded", "eval.run.canceled"]
    ),
    "webhooks.retrieve": lambda world: args(world.hook()),
    "webhooks.update": lambda world: args(world.hook(), name="other"),
    "webhooks.list": lambda world: (world.hook(), args(limit=2))[1],
    "webhooks.delete": lambda world: args(world.hook()),
    "webhooks.rotate_secret": lambda world: args(
        world.hook(), keep_old_secret_active_for_24_hours=True
    ),
    "webhooks.test": lambda world: args(world.hook(), event_type="fine_tuning.job.succeeded"),
    "webhooks.event_types.list": lambda _: args(),
    "webhooks.unwrap": lambda world: world.delivered(),
    "webhooks.verify_signature": lambda world: world.delivered(),
    "evals.runs.output_items.list": lambda world: args(world.run_id, eval_id=world.eval_id),
    "evals.runs.output_items.retrieve": lambda world: args(
        world.item_id, eval_id=world.eval_id, run_id=world.run_id
    ),
}
