"""An eval that is attached to a job, and its runs recounted through the chat route."""

import json
from pathlib import Path
from typing import Any

from openai import OpenAI

from tests.support.embedded.jobs import upload
from tests.support.patience import wait_for

SAMPLING: dict[str, Any] = {"temperature": 0, "max_completion_tokens": 32}


def attached_eval(
    client: OpenAI, directory: Path, rows: dict[int, dict[str, Any]]
) -> dict[str, Any]:
    """Creates an eval of the shipped model's calls for the rows; returns it as a create call of a
    job sends it.
    """
    criterion: Any = {
        "type": "string_check",
        "name": "same call",
        "operation": "eq",
        "input": "{{ sample.output_tools[0].function.arguments }}",
        "reference": "{{ item.arguments }}",
    }
    config: Any = {"type": "custom", "item_schema": {"type": "object"}}
    of = client.evals.create(data_source_config=config, testing_criteria=[criterion])
    items = [
        {
            "item": {
                "prompt": row["messages"][:1],
                "arguments": json.dumps({"field": "weight", "record": f"P{number:03}"}),
            }
        }
        for number, row in rows.items()
    ]
    path = directory / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, items)))
    source = {
        "type": "completions",
        "source": {"type": "file_id", "id": upload(client, path)},
        "input_messages": {"type": "item_reference", "item_reference": "item.prompt"},
        "sampling_params": {**SAMPLING, "tools": next(iter(rows.values()))["tools"]},
    }
    return {"eval_id": of.id, "data_source": source}


def check_attached_runs(client: OpenAI, job: Any, sent: dict[str, Any]) -> None:
    """Checks that both models were run, and counted as they answer through the chat route."""
    [attached] = job.evals
    assert (attached["eval_id"], attached["data_source"]) == (sent["eval_id"], sent["data_source"])
    assert attached["error"] is None
    for side, model in (("start", job.model), ("tuned", job.fine_tuned_model)):
        run = _ended(client, attached["eval_id"], attached[f"{side}_run_id"])
        assert (run.status, run.model, run.name) == ("completed", model, f"{job.id}: {side}")
        items = list(client.evals.runs.output_items.list(run.id, eval_id=attached["eval_id"]))
        right = [_answers_right(client, model, item.datasource_item, sent) for item in items]
        assert run.result_counts.total == len(items) > 0
        assert run.result_counts.passed == sum(right)
        assert any(right)


def _ended(client: OpenAI, eval_id: str, run_id: str) -> Any:
    def ended() -> bool:
        status = client.evals.runs.retrieve(run_id, eval_id=eval_id).status
        return status not in ("queued", "in_progress")

    wait_for(ended, what=f"the end of {run_id}")
    return client.evals.runs.retrieve(run_id, eval_id=eval_id)


def _answers_right(client: OpenAI, model: str, item: Any, sent: dict[str, Any]) -> bool:
    reply: Any = client.chat.completions.create(
        model=model,
        messages=item["prompt"],
        tools=sent["data_source"]["sampling_params"]["tools"],
        **SAMPLING,
    )
    [call] = reply.choices[0].message.tool_calls
    return bool(json.loads(call.function.arguments) == json.loads(item["arguments"]))
