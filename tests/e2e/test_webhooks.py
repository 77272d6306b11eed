"""Webhooks on the whole product: what the API ended and what a worker ended, within seconds."""

from typing import Any

from openai import OpenAI

from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation
from tests.support.embedded.jobs import create_job
from tests.support.patience import wait_for
from tests.support.webhooks.webhook_receiver import webhook_receiver

"""The objective for the first attempt, at the 99th percentile."""
TYPES: Any = ["fine_tuning.job.cancelled", "eval.run.succeeded"]


def ended_run(client: OpenAI) -> str:
    check: Any = {
        "type": "string_check",
        "name": "exact",
        "operation": "eq",
        "input": "a",
        "reference": "a",
    }
    of = client.evals.create(
        data_source_config={"type": "custom", "item_schema": {"type": "object"}},
        testing_criteria=[check],
    )
    source: Any = {"type": "jsonl", "source": {"type": "file_content", "content": [{"item": {}}]}}
    run = client.evals.runs.create(of.id, data_source=source)

    def completed() -> bool:
        return client.evals.runs.retrieve(run.id, eval_id=of.id).status == "completed"

    wait_for(completed, what="the run")
    return run.id


def test_every_end_arrives(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    client = live.client()
    with webhook_receiver(int(endpoints.hook.rpartition(":")[2])) as taken:
        made = client.webhooks.create(name="ci", url=endpoints.hook, event_types=TYPES)
        job = create_job(client, endpoints.good, small_files)
        client.fine_tuning.jobs.cancel(job.id)
        wait_for(lambda: len(taken) == 1, what="the job's event")
        run_id = ended_run(client)
        wait_for(lambda: len(taken) == 2, what="the run's event")
        events: Any = [
            client.webhooks.unwrap(body, headers, secret=made.signing_secret)
            for headers, body in taken
        ]
        client.webhooks.delete(made.id)
    assert [(event.type, event.data.id) for event in events] == [
        ("fine_tuning.job.cancelled", job.id),
        ("eval.run.succeeded", run_id),
    ]
