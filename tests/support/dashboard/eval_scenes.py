"""An eval with a run of several samples of each item, as rows, for pages to show."""

import json
from typing import Any

from tests.support.api.application import Api
from tests.support.dashboard.scenes import HOSTILE, execute
from tests.support.stack import Database

SCORES: dict[int, tuple[float | None, ...]] = {
    0: (0.0, 0.0),
    1: (0.0, 1.0),
    2: (1.0, 1.0),
    3: (1.0, None),
    4: (None, None),
}
"""Scores of two samples by item; `None` is an error."""


async def create_eval_run(api: Api, *, key: str | None = None, name: str = "rivers") -> str:
    """Returns the path of the page of a run that samples each item twice."""
    criterion = {
        "type": "string_check",
        "name": "exact",
        "operation": "eq",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.answer }}",
    }
    config = {"type": "custom", "item_schema": {"type": "object"}}
    body = {"name": name, "data_source_config": config, "testing_criteria": [criterion]}
    reply = await api.call("POST", "/v1/evals", json=body, key=key)
    assert reply.status_code == 201, reply.text
    source = {
        "type": "completions",
        "model": "tiny-agent",
        "samples_per_item": 2,
        "source": {
            "type": "file_content",
            "content": [{"item": {"answer": str(item)}} for item in SCORES],
        },
        "input_messages": {"type": "template", "template": [{"role": "user", "content": "hi"}]},
    }
    eval_id = reply.json()["id"]
    body = {"name": "night", "data_source": source}
    reply = await api.call("POST", f"/v1/evals/{eval_id}/runs", json=body, key=key)
    assert reply.status_code == 201, reply.text
    return f"/evals/{eval_id}/runs/{reply.json()['id']}"


def put_items(database: Database, run: str) -> None:
    """Stores the output items of a run and ends it, as a worker does."""
    _, _, eval_id, _, run_id = run.split("/")
    for item, scores in SCORES.items():
        for sample, score in enumerate(scores):
            _put_item(database, (eval_id, run_id), item, sample, score)
    execute(
        database,
        "UPDATE eval_runs SET status = 'completed', passed = 4, failed = 3, "
        "errored = 3 WHERE id = %s",
        (run_id,),
    )


def _put_item(
    database: Database, of: tuple[str, str], item: int, sample: int, score: float | None
) -> None:
    error = {"code": "model_error", "message": "no answer"}
    results = [] if score is None else [{"name": "exact", "score": score, "passed": score == 1}]
    shown: dict[str, Any] = {
        "output": [{"role": "assistant", "content": HOSTILE}],
        "error": error if score is None else None,
    }
    row = {
        "id": f"outputitem_{of[1]}_{item}_{sample}",
        "eval_id": of[0],
        "run_id": of[1],
        "position": 2 * item + sample,
        "status": "error" if score is None else "pass" if score == 1 else "fail",
        "datasource_item": json.dumps({"answer": str(item)}),
        "results": json.dumps(results),
        "sample": json.dumps(shown),
        "usage": "[]",
    }
    columns = ", ".join(row)
    values = ", ".join(f"%({name})s" for name in row)
    execute(
        database,
        f"INSERT INTO eval_output_items (project_id, {columns}) "
        f"SELECT project_id, {values} FROM eval_runs WHERE id = %(run_id)s",
        row,
    )
