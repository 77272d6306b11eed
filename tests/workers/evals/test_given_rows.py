"""Runs that grade the samples of their rows, from files."""

from typing import Any

import pytest

from tests.support.evals.world import World, exact


async def test_rows_of_a_file_are_graded_as_they_are(world: World) -> None:
    file_id = await world.upload(
        [
            {"item": {"answer": "a"}, "sample": {"output_text": "a"}},
            {"item": {"answer": "b"}, "sample": {"choices": [{"message": {"content": "b"}}]}},
            {"item": {"answer": "c"}, "sample": {"output_text": "d"}},
        ]
    )
    last = exact("last", input="{{ sample.choices[1].message.content }}")
    path = await world.make(
        exact(), last, source={"type": "jsonl", "source": {"type": "file_id", "id": file_id}}
    )
    run = await world.finish(path)
    assert run["result_counts"] == {"total": 3, "errored": 0, "failed": 3, "passed": 0}
    results = run["per_testing_criteria_results"]
    assert [(result["passed"], result["failed"]) for result in results] == [(2, 1), (0, 3)]
    assert run["model"] is None
    _, unread = (await world.items(path))[0]["results"]
    assert (unread["score"], unread["sample"]["errors"]) == (0, ["invalid_variable_error"])
    assert unread["sample"]["details"] == "'sample.choices[1].message.content' is not there"


@pytest.mark.parametrize(
    "criterion",
    [exact(operation="ne"), {"type": "length_bounds", "max": 20}],
    ids=["ne", "length_bounds"],
)
async def test_rows_of_a_file_without_an_answer_are_errors(
    world: World, criterion: dict[str, Any]
) -> None:
    file_id = await world.upload(
        [
            {"item": {"answer": "7"}, "sample": {"output_text": "8"}},
            {"item": {"answer": "7"}},
            {"item": {"answer": "7"}, "sample": None},
            {"item": {"answer": "7"}, "sample": {"output": "7"}},
            {"item": {"answer": "7"}, "sampel": {"output_text": "7"}},
            {"item": {"answer": "7"}, "sample": {"output_txt": "7"}},
        ]
    )
    source = {"type": "jsonl", "source": {"type": "file_id", "id": file_id}}
    path = await world.make(criterion, source=source)
    run = await world.finish(path)
    assert run["result_counts"] == {"total": 6, "errored": 5, "failed": 0, "passed": 1}
    faults = [item["sample"]["error"] for item in await world.items(path, status="error")]
    assert {fault["code"] for fault in faults} == {"invalid_item"}
    for fault, words in zip(
        faults,
        ("no 'sample'", "no 'sample'", "no answer", "'sampel'", "mean 'output_text'"),
        strict=True,
    ):
        assert words in fault["message"]
